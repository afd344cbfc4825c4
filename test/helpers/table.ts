/** A record table straight from records, without files and workers: for tests of a format's reader and context alone. */
import { measureParts } from "#src/measure/parts.js";
import type { FormatReader } from "#src/session/formats/format.js";
import type { JsonObject } from "#src/session/record.js";
import { RecordTable } from "#src/session/table.js";

/** Byte places are made up (100 bytes a record) but grow, as in a file. */
export function tableOf(reader: FormatReader, records: readonly JsonObject[]): RecordTable {
	const table = new RecordTable();
	records.forEach((value, record) => {
		const facts = reader.read(value);
		if (facts)
			table.add(
				facts,
				{ start: record * 100, end: record * 100 + 99, record, line: record + 1, item: 0 },
				measureParts(facts),
			);
	});
	table.records = records.length;
	table.lines = records.length;
	return table;
}

/** Adds the items of the given rows' records, as the engine does for `expand`. */
export function expandRows(
	table: RecordTable,
	reader: FormatReader,
	records: readonly JsonObject[],
	rows: readonly number[],
): void {
	for (const row of rows) {
		const record = table.record.at(row);
		(reader.items?.(records[record]) ?? []).forEach((facts, k) => {
			const place = {
				start: table.start.at(row),
				end: table.end.at(row),
				record,
				line: table.line.at(row),
				item: k + 1,
			};
			table.add(facts, place, measureParts(facts));
		});
	}
}
