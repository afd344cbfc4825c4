/** Rows of the table as places that a worker can read, in batches of a bounded number of bytes. */
import type { MessageList } from "../session/branch.js";
import type { RowPlaces } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";

/** Source bytes that one task reads, about; a single record may be more. */
export const BATCH_BYTES = 1 << 20;
const BATCH_ROWS = 4096;

export function placesOf(table: RecordTable, rows: ArrayLike<number>): RowPlaces {
	const n = rows.length;
	const places: RowPlaces = {
		source: new Uint8Array(n),
		start: new Float64Array(n),
		end: new Float64Array(n),
		item: new Uint32Array(n),
	};
	for (let i = 0; i < n; i++) {
		const row = rows[i];
		places.source[i] = table.source.at(row);
		places.start[i] = table.start.at(row);
		places.end[i] = table.end.at(row);
		places.item[i] = table.item.at(row);
	}
	return places;
}

/** Bytes that reading these rows costs; rows of one record that follow each other cost it once. */
export function bytesOf(table: RecordTable, rows: ArrayLike<number>): number {
	let bytes = 0;
	for (let i = 0; i < rows.length; i++) {
		const sameRecord = i > 0 && table.start.at(rows[i]) === table.start.at(rows[i - 1]);
		if (!sameRecord) bytes += table.end.at(rows[i]) - table.start.at(rows[i]);
	}
	return bytes;
}

/** Splits rows into consecutive batches of about {@link BATCH_BYTES}. */
export function* batchesOf(table: RecordTable, rows: Int32Array): Generator<Int32Array> {
	let from = 0;
	let bytes = 0;
	for (let i = 0; i < rows.length; i++) {
		const sameRecord = i > from && table.start.at(rows[i]) === table.start.at(rows[i - 1]);
		if (!sameRecord) bytes += table.end.at(rows[i]) - table.start.at(rows[i]);
		if (bytes >= BATCH_BYTES || i - from + 1 >= BATCH_ROWS || i === rows.length - 1) {
			yield rows.subarray(from, i + 1);
			from = i + 1;
			bytes = 0;
		}
	}
}

/** The content rows of an atom's messages, in order. */
export function rowsOfMessages(messages: MessageList, from: number, to: number): Int32Array {
	return messages.rows.data.subarray(messages.rowStart.at(from), messages.rowStart.at(to));
}
