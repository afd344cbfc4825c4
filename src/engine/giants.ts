/** Records too large to be loaded whole: what that means for the answers is said, not hidden. */
import type { AtomRows } from "../search/places.js";
import { GIANT_RECORD } from "../session/giant.js";
import type { RecordTable } from "../session/table.js";

export interface Giants {
	/** Atoms with a record above 64 MiB: only the heads of its texts are searched and counted in tokens. */
	atoms: number;
	notices: string[];
}

/** Finds the giant records of the anchor. Sizes in characters stay exact unless a record holds more than 64 MiB of heads. */
export function findGiants(table: RecordTable, { rows, start }: AtomRows): Giants {
	let records = 0;
	for (let row = 0; row < table.rows; row++) if (isGiant(table, row) && table.item.at(row) === 0) records++;
	if (records === 0) return { atoms: 0, notices: [] };
	let atoms = 0;
	for (let atom = 0; atom + 1 < start.length; atom++) {
		if (rows.subarray(start[atom], start[atom + 1]).some((row) => isGiant(table, row))) atoms++;
	}
	const which = records === 1 ? "One record is" : `${records} records are`;
	const notice = `${which} larger than 64 MiB: of each of the texts only the first 1,048,576 characters (less where there are many texts) are loaded; what is behind is neither searched nor counted in tokens.`;
	return { atoms, notices: [notice] };
}

function isGiant(table: RecordTable, row: number): boolean {
	return table.end.at(row) - table.start.at(row) > GIANT_RECORD;
}
