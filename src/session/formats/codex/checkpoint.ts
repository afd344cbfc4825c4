/** Which compaction a rollout stands on, when rollbacks may have undone some of them. */
import type { RecordTable } from "../../table.js";
import { MARK, ROW } from "./kinds.js";

/** No compaction with a replacement history counts. */
export const NO_CHECKPOINT = -1;

/** A turn while the file is read backwards: from its end to the event that started it. */
interface Segment {
	/** String index of the turn's id; -1 while no line of it named one. */
	turn: number;
	/** Holds a prompt, so that a rollback counts it. */
	user: boolean;
	/** Newest compaction in it; -1 for none. */
	checkpoint: number;
}

/** Number of items of a compaction's replacement history; null when it has none. */
export function replacementItems(table: RecordTable, row: number): number | null {
	const items = table.metas.get(row)?.items;
	return typeof items === "number" ? items : null;
}

/**
 * Row of the newest compaction with a replacement history that no rollback before `end` undid; {@link NO_CHECKPOINT} for none. A rollback of n turns
 * undoes the newest n turns that hold a prompt, and every turn after them, with the compactions inside: Codex reads the file backwards
 * turn by turn in the same way.
 */
export function checkpointOf(table: RecordTable, end: number): number {
	let undone = 0;
	let segment: Segment | null = null;
	const started = (): Segment => ({ turn: -1, user: false, checkpoint: NO_CHECKPOINT });
	/** The checkpoint of a turn that nothing undid; closes the turn. */
	const close = (turn: Segment): number => {
		if (undone === 0) return turn.checkpoint;
		if (turn.user) undone--;
		return NO_CHECKPOINT;
	};
	// Plain arrays, because this cannot pause.
	const types = table.type.view();
	const groups = table.group.view();
	for (let row = end - 1; row >= 0; row--) {
		const turn = groups[row];
		switch (types[row]) {
			case ROW.COMPACTED:
				segment ??= started();
				if (segment.checkpoint === NO_CHECKPOINT && replacementItems(table, row) !== null) segment.checkpoint = row;
				break;
			case ROW.ROLLBACK:
				undone += turnsOf(table, row);
				break;
			case ROW.TURN_END:
			case ROW.TURN_CONTEXT:
				segment ??= started();
				if (segment.turn < 0) segment.turn = turn;
				break;
			case ROW.TURN_ABORTED:
				if (turn < 0) break;
				segment ??= started();
				if (segment.turn < 0) segment.turn = turn;
				break;
			case ROW.USER_EVENT:
				segment ??= started();
				segment.user = true;
				break;
			case ROW.ITEM:
				segment ??= started();
				if (table.flags.at(row) & MARK.TURN) segment.user = true;
				break;
			case ROW.TURN_START:
				if (segment && (segment.turn < 0 || turn < 0 || segment.turn === turn)) {
					const found = close(segment);
					if (found !== NO_CHECKPOINT) return found;
					segment = null;
				}
				break;
			default:
				break;
		}
	}
	return segment ? close(segment) : NO_CHECKPOINT;
}

/** Turns that a rollback takes back. */
export function turnsOf(table: RecordTable, row: number): number {
	const turns = table.metas.get(row)?.turns;
	return typeof turns === "number" && turns > 0 ? Math.floor(turns) : 0;
}
