/** From atoms to the rows that hold their content, and from those to what a worker needs to read them back. */
import type { AtomTable } from "../atoms/table.js";
import type { MessageList } from "../session/branch.js";
import { placesOf } from "../session/places.js";
import type { RecordFacts } from "../session/record.js";
import { type RowPlaces, type RowSource, readRows } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";

/** Content rows of all atoms: atom i has `rows[start[i]] … rows[start[i + 1] - 1]`, in the order of its content. */
export interface AtomRows {
	rows: Int32Array;
	start: Uint32Array;
}

/** Content rows of an anchor's atoms. `messages`: the list that the atoms refer to. Nothing is copied but the starts. */
export function atomRowsOf(atoms: AtomTable, messages: MessageList): AtomRows {
	const start = Uint32Array.from(atoms.messageStart.view(), (message) => messages.rowStart.at(message));
	return { rows: messages.rows.view(), start };
}

/** Places of some atoms' rows: atom k of the selection has the places `atomStart[k] … atomStart[k + 1] - 1`. */
export interface AtomPlaces {
	places: RowPlaces;
	atomStart: Uint32Array;
}

/** The places of the given atoms, in the order given. */
export function atomPlaces(table: RecordTable, { rows, start }: AtomRows, atoms: ArrayLike<number>): AtomPlaces {
	const atomStart = new Uint32Array(atoms.length + 1);
	for (let k = 0; k < atoms.length; k++) atomStart[k + 1] = atomStart[k] + start[atoms[k] + 1] - start[atoms[k]];
	const chosen = new Int32Array(atomStart[atoms.length]);
	for (let k = 0; k < atoms.length; k++) chosen.set(rows.subarray(start[atoms[k]], start[atoms[k] + 1]), atomStart[k]);
	const places = placesOf(table, chosen);
	return { places, atomStart };
}

/**
 * Bytes that must be read to see each atom. A record that follows itself, item after item, is counted at its first row: it is parsed once
 * (codex#28866).
 */
export function atomBytes(table: RecordTable, { rows, start }: AtomRows): Float64Array {
	const bytes = new Float64Array(start.length - 1);
	let last = -1;
	for (let atom = 0; atom < bytes.length; atom++) {
		for (let i = start[atom]; i < start[atom + 1]; i++) {
			const row = rows[i];
			const same =
				last >= 0 && table.start.at(last) === table.start.at(row) && table.source.at(last) === table.source.at(row);
			if (!same) bytes[atom] += table.end.at(row) - table.start.at(row);
			last = row;
		}
	}
	return bytes;
}

/** Reads atoms back in a worker: yields every row with the number of its atom in the selection, rising. */
export async function* readAtoms(
	from: RowSource,
	{ places, atomStart }: AtomPlaces,
): AsyncGenerator<{ atom: number; facts: RecordFacts }> {
	let atom = 0;
	for await (const { index, facts } of readRows(from, places)) {
		while (index >= atomStart[atom + 1]) atom++;
		yield { atom, facts };
	}
}
