/** Rows of the table as places that a worker can read. */
import type { RowPlaces } from "./rows.js";
import type { RecordTable } from "./table.js";

/** The places of the given rows, in the order given. */
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
