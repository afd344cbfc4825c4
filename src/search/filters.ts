/** The filters of a search that the columns alone decide. */
import type { AtomTable, Source } from "../atoms/table.js";
import type { RecordTable } from "../session/table.js";
import type { AtomRows } from "./places.js";

export interface ColumnFilter {
	/** Exact name of a tool that the atom calls, in any case; null for any. */
	toolName: string | null;
	source: Source | null;
}

/** Whether an atom passes the filter; null when the filter lets all pass. Building it looks at every call of the table once. */
export function columnFilter(
	table: RecordTable,
	atoms: AtomTable,
	rows: AtomRows,
	{ toolName, source }: ColumnFilter,
): ((atom: number) => boolean) | null {
	const calls = toolName === null ? null : rowsThatCall(table, toolName);
	if (calls === null && source === null) return null;
	return (atom) => {
		if (source !== null && !atoms.holds(atom, source)) return false;
		if (calls === null) return true;
		for (let i = rows.start[atom]; i < rows.start[atom + 1]; i++) if (calls[rows.rows[i]] === 1) return true;
		return false;
	};
}

/** 1 for every row that calls the tool. */
function rowsThatCall(table: RecordTable, toolName: string): Uint8Array {
	const wanted = toolName.toLowerCase();
	const isWanted = new Map<number, boolean>();
	const marked = new Uint8Array(table.rows);
	for (let call = 0; call < table.callRow.length; call++) {
		const name = table.callName.at(call);
		let match = isWanted.get(name);
		if (match === undefined) {
			match = table.string(name)?.toLowerCase() === wanted;
			isWanted.set(name, match);
		}
		if (match) marked[table.callRow.at(call)] = 1;
	}
	return marked;
}
