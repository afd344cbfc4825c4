/** Rows in batches of a bounded number of source bytes: one batch is one task. */
import type { RecordTable } from "../session/table.js";

/** Source bytes that one task reads, about; a single record may be more. A request that comes meanwhile waits for one task at most. */
const BATCH_BYTES = 1 << 18;
const BATCH_ROWS = 4096;

/** Splits rows into consecutive batches. Rows of one record that follow each other cost its bytes once and stay together. */
export function* batchesOf(table: RecordTable, rows: Int32Array): Generator<Int32Array> {
	let from = 0;
	let bytes = 0;
	for (let i = 0; i < rows.length; i++) {
		const sameRecord = i > from && table.start.at(rows[i]) === table.start.at(rows[i - 1]);
		if (sameRecord) continue;
		if (bytes >= BATCH_BYTES || i - from >= BATCH_ROWS) {
			yield rows.subarray(from, i);
			from = i;
			bytes = 0;
		}
		bytes += table.end.at(rows[i]) - table.start.at(rows[i]);
	}
	if (from < rows.length) yield rows.subarray(from);
}
