/** What of a rollout goes into a fork: the fate of every row, its turn, and the row in whose place each block stands. */
import type { BlockMessage, ForkRequest } from "../../fork.js";
import type { RecordTable } from "../../table.js";
import { checkpointOf, NO_CHECKPOINT } from "./checkpoint.js";
import { lineRows, ownMeta } from "./context.js";
import { ROW } from "./kinds.js";

export const FATE = {
	/** Not in the history: dropped by a rollback or a compaction, or no item at all. */
	GONE: 0,
	KEPT: 1,
	REPLACED: 2,
} as const;

export interface ForkLines {
	/** {@link FATE} of every row. */
	fates: Uint8Array;
	/** Number of the turn of every line: a turn begins at the event that starts it, or behind the one that ended the turn before. */
	turns: Uint32Array;
	/** Blocks by the row in whose place they stand. */
	blocks: ReadonlyMap<number, BlockMessage>;
	/** Row of the session's own header; -1 for none. */
	meta: number;
	/** Lines up to `end - 1` are read. */
	end: number;
	/** Row of the compaction whose replacement history the session's history starts with; -1 for none. */
	checkpoint: number;
	/** Row of a later compaction without replacement history, which kept user messages and its summary; -1 for none. */
	summary: number;
}

export function forkLines({ table, branch, system, scope, replacements }: ForkRequest): ForkLines {
	const fates = new Uint8Array(table.rows);
	const { messages } = branch;
	const mark = (message: number, fate: number) => {
		for (const row of messages.rowsOf(message)) fates[row] = fate;
	};
	for (let message = 0; message < messages.length; message++) mark(message, FATE.KEPT);
	for (const row of system) if (table.type.at(row) !== ROW.META) fates[row] = FATE.KEPT;
	for (const { from, to } of replacements)
		for (let message = from; message < to; message++) mark(message, FATE.REPLACED);
	const turns = turnsOfLines(table);
	const blocks = new Map<number, BlockMessage>();
	for (const { from, to, message } of replacements) {
		const rows: number[] = [];
		for (let m = from; m < to; m++) rows.push(...messages.rowsOf(m));
		blocks.set(placeOf(table, turns, rows), message);
	}
	const end = lastWalked(table, branch.walked) + 1;
	const checkpoint = scope === "path" ? NO_CHECKPOINT : checkpointOf(table, end);
	const summary = scope === "path" ? -1 : lastSummary(table, fates, end);
	return { fates, turns, blocks, meta: ownMeta(table), end, checkpoint, summary };
}

/**
 * A block stands where its range starts. Of a range over several turns it is put into the last one, which a rollback or the next turn then finds as it was, with its prompt and
 * its context; no other message stands between the two places.
 */
function placeOf(table: RecordTable, turns: Uint32Array, rows: readonly number[]): number {
	const last = rows[rows.length - 1];
	if (table.item.at(last) > 0) return rows[0];
	return rows.find((row) => table.item.at(row) === 0 && turns[row] === turns[last]) ?? last;
}

function turnsOfLines(table: RecordTable): Uint32Array {
	const end = lineRows(table);
	const turns = new Uint32Array(end);
	const types = table.type.view();
	let turn = 0;
	for (let row = 0; row < end; row++) {
		if (types[row] === ROW.TURN_START && row > 0 && !endsTurn(types[row - 1])) turn++;
		turns[row] = turn;
		if (endsTurn(types[row])) turn++;
	}
	return turns;
}

function endsTurn(type: number): boolean {
	return type === ROW.TURN_END || type === ROW.TURN_ABORTED;
}

/** The last line that the branch was read from; its header is always among them and says nothing. */
function lastWalked(table: RecordTable, walked: Uint8Array): number {
	for (let row = lineRows(table) - 1; row >= 0; row--) if (walked[row] && table.type.at(row) !== ROW.META) return row;
	return -1;
}

/** The last compaction without replacement history whose summary is in the branch. */
function lastSummary(table: RecordTable, fates: Uint8Array, end: number): number {
	for (let row = end - 1; row >= 0; row--) if (table.type.at(row) === ROW.COMPACTED && fates[row]) return row;
	return -1;
}
