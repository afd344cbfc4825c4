/** Parent links between rows, for formats whose entries name their parent (Pi, Claude Code), with what is wrong about them. */
import { breathe, pacer } from "./breathe.js";
import type { RecordTable } from "./table.js";

/** No parent: the row is a root. */
export const ROOT = -1;
/** The parent id names no row. */
const UNKNOWN_PARENT = -2;
/** Not a row of the chain. */
const NOT_LINKED = -3;

export interface Chain {
	/** For every row: the row of its parent, or one of the three constants above. */
	parent: Int32Array;
	/** Row that an entry id names; -1 for none. Of several rows with one id the last counts, as the hosts do. */
	rowOf(id: string): number;
	/** Rows whose id an earlier row already had. */
	duplicates: number[];
	/** Rows whose parent is unknown. */
	missingParents: number[];
	/** For every cycle, its first row in the file. */
	cycles: number[];
	/** Rows without a parent id, in file order. */
	roots: number[];
}

/** Links the rows for which `inChain` answers true. One pass for ids, one for parents, one for cycles; yields to the event loop. */
export async function linkRows(table: RecordTable, inChain: (row: number) => boolean): Promise<Chain> {
	const pause = pacer();
	const rowOfString = new Int32Array(table.strings.length).fill(-1);
	const chain: Chain = {
		parent: new Int32Array(table.rows).fill(NOT_LINKED),
		rowOf(id) {
			const index = table.lookup(id);
			return index < 0 ? -1 : (rowOfString[index] ?? -1);
		},
		duplicates: [],
		missingParents: [],
		cycles: [],
		roots: [],
	};
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		const id = table.id.at(row);
		if (id < 0 || !inChain(row)) continue;
		if (rowOfString[id] >= 0) chain.duplicates.push(row);
		rowOfString[id] = row;
	}
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (!inChain(row)) continue;
		const parent = table.parent.at(row);
		if (parent < 0) {
			chain.parent[row] = ROOT;
			chain.roots.push(row);
		} else if (rowOfString[parent] >= 0) {
			chain.parent[row] = rowOfString[parent];
		} else {
			chain.parent[row] = UNKNOWN_PARENT;
			chain.missingParents.push(row);
		}
	}
	await findCycles(chain, pause);
	return chain;
}

/** Every row has one parent at most, so a walk that meets its own trail has found a cycle, and each row is walked once. */
async function findCycles(chain: Chain, pause: () => boolean): Promise<void> {
	const trail = new Int32Array(chain.parent.length);
	for (let row = 0; row < chain.parent.length; row++) {
		let at = row;
		while (at >= 0 && trail[at] === 0) {
			if (pause()) await breathe();
			trail[at] = row + 1;
			at = chain.parent[at];
		}
		if (at < 0 || trail[at] !== row + 1) continue;
		let first = at;
		for (let member = chain.parent[at]; member !== at; member = chain.parent[member]) first = Math.min(first, member);
		chain.cycles.push(first);
	}
}
