/** A rollout's lines played forward: what the host's history holds at the end. */

import type { Scope } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { FLAG } from "../../record.js";
import type { RecordTable } from "../../table.js";
import { replacementItems, turnsOf } from "./checkpoint.js";
import { MARK, ROW } from "./kinds.js";

/** Marks between the rows of a history. A run of the model's items never goes over one. */
const BREAK = -1;
/** The same, where path scope passes a compaction: the usage recorded before it is no longer the host's. */
const COMPACTED = -2;

/** Tokens of user messages that a compaction without replacement history keeps, and bytes of a token as Codex estimates them. */
const KEPT_TOKENS = 20_000;
const BYTES_PER_TOKEN = 4;

export interface History {
	/** Rows in order, usage rows among them; negative numbers are marks. */
	rows: number[];
	/** A compaction without replacement history left user messages out, or cut the oldest one kept. */
	cutUserMessages: boolean;
}

/** The rows to play: those behind the checkpoint (all when it is null), up to `end - 1`. */
export interface Stretch {
	/** The compaction that the history starts with, and the rows of its replacement history. */
	checkpoint: { row: number; items: readonly number[] } | null;
	end: number;
}

/** Plays the rows of a stretch. In path scope compactions change nothing but leave their own summaries out. */
export async function replay(table: RecordTable, { checkpoint, end }: Stretch, scope: Scope): Promise<History> {
	const player = new Player(table, scope);
	if (checkpoint) player.start(checkpoint.items);
	const pause = pacer();
	for (let row = checkpoint ? checkpoint.row + 1 : 0; row < end; row++) {
		if (pause()) await breathe();
		player.play(row);
	}
	return { rows: player.rows, cutUserMessages: player.cutUserMessages };
}

class Player {
	rows: number[] = [];
	cutUserMessages = false;
	readonly #table: RecordTable;
	readonly #path: boolean;
	/** Places in `rows` at which a turn starts. */
	#turns: number[] = [];
	/** A compaction or rollback is newer than any reply: usage that the host repeats now is of the history before it. */
	#stale = false;

	constructor(table: RecordTable, scope: Scope) {
		this.#table = table;
		this.#path = scope === "path";
	}

	start(items: readonly number[]): void {
		for (const row of items) this.#push(row);
		this.rows.push(BREAK);
		this.#stale = true;
	}

	play(row: number): void {
		switch (this.#table.type.at(row)) {
			case ROW.ITEM:
				this.#push(row);
				if (this.#table.roleOf(row) === "assistant") this.#stale = false;
				break;
			case ROW.USAGE:
				if (!this.#stale) this.rows.push(row);
				break;
			case ROW.ROLLBACK:
				this.#rollBack(turnsOf(this.#table, row));
				break;
			case ROW.COMPACTED:
				this.#compact(row);
				break;
			default:
				break;
		}
	}

	#push(row: number): void {
		if (this.#has(row, MARK.TURN)) this.#turns.push(this.rows.length);
		this.rows.push(row);
	}

	#compact(row: number): void {
		if (this.#path) {
			this.#dropSummaryReply(row);
			this.rows.push(COMPACTED);
		} else if (replacementItems(this.#table, row) === null) {
			const kept = this.#keptUserMessages();
			this.rows = [];
			this.#turns = [];
			for (const message of kept) this.#push(message);
			this.#push(row);
			this.rows.push(BREAK);
		} else {
			// A compaction that a rollback undid: the one that counts is where the history started.
			return;
		}
		this.#stale = true;
	}

	/** The reply in which the model wrote the summary, with its reasoning: it stands before the compaction like any other. */
	#dropSummaryReply(row: number): void {
		const written = this.#table.metas.get(row)?.summary;
		let at = this.rows.length - 1;
		while (at >= 0 && this.#isUsage(this.rows[at])) at--;
		if (at < 0 || !this.#isReply(this.rows[at]) || this.#table.chars.at(this.rows[at]) !== written) return;
		let first = at;
		while (first > 0 && this.rows[first - 1] >= 0 && this.#has(this.rows[first - 1], MARK.REASONING)) first--;
		this.rows.splice(first, at - first + 1);
	}

	#isReply(row: number): boolean {
		if (row < 0 || this.#table.roleOf(row) !== "assistant") return false;
		return this.#has(row, FLAG.TEXT) && !this.#has(row, MARK.REASONING) && !this.#has(row, FLAG.CALLS);
	}

	/** The newest user messages within the budget; the oldest of them is sent cut, so it is taken whole here. */
	#keptUserMessages(): number[] {
		const kept: number[] = [];
		let left = KEPT_TOKENS;
		for (let at = this.rows.length - 1; at >= 0; at--) {
			const row = this.rows[at];
			if (row < 0 || this.#table.roleOf(row) !== "user") continue;
			if (!this.#has(row, MARK.TURN) || this.#has(row, MARK.AGENT)) continue;
			if (left <= 0) {
				this.cutUserMessages = true;
				break;
			}
			const tokens = Math.ceil(this.#table.chars.at(row) / BYTES_PER_TOKEN);
			if (tokens > left) this.cutUserMessages = true;
			left -= tokens;
			kept.push(row);
		}
		return kept.reverse();
	}

	/** Drops the newest turns; what stands before the first turn stays. Context written just before a dropped turn goes with it. */
	#rollBack(turns: number): void {
		if (turns === 0 || this.#turns.length === 0) return;
		this.#turns.length = Math.max(this.#turns.length - turns, 0) + 1;
		const [first] = this.#turns;
		let cut = this.#turns.pop() ?? first;
		for (let at = cut - 1; at > first; at--) {
			const row = this.rows[at];
			if (row < 0 || this.#isUsage(row)) continue;
			if (!this.#has(row, MARK.CONTEXTUAL)) break;
			cut = at;
		}
		this.rows.length = cut;
		this.#stale = true;
	}

	#isUsage(row: number): boolean {
		return row >= 0 && this.#table.type.at(row) === ROW.USAGE;
	}

	#has(row: number, mark: number): boolean {
		return (this.#table.flags.at(row) & mark) !== 0;
	}
}

/** Usage row that describes a history; -1 for none, or when a compaction is newer. */
export async function usageRowOf(table: RecordTable, history: History): Promise<number> {
	const pause = pacer();
	for (let at = history.rows.length - 1; at >= 0; at--) {
		if (pause()) await breathe();
		const row = history.rows[at];
		if (row === COMPACTED) return -1;
		if (row >= 0 && table.type.at(row) === ROW.USAGE) return row;
	}
	return -1;
}
