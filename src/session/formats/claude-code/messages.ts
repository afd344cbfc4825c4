/** Lines in sending order to messages (RULINGS 6, 8): which lines make one message, and what hangs on it. */
import { type BranchOptions, MESSAGE, MessageList } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { FLAG, type Role } from "../../record.js";
import { LINE } from "./kinds.js";
import type { Lines } from "./lines.js";

const NONE = -1;

/** The messages of lines in sending order. `snapshot` is the row of the system prompt, -1 for none: it stands first. */
export async function buildMessages(
	lines: Lines,
	order: Int32Array,
	snapshot: number,
	options: BranchOptions,
): Promise<MessageList> {
	const sorter = new MessageSorter(lines, order, options);
	await sorter.sort();
	const list = new MessageList();
	if (snapshot >= 0) list.push("system", [snapshot]);
	await sorter.pushTo(list);
	return list;
}

class MessageSorter {
	readonly #lines: Lines;
	readonly #order: Int32Array;
	readonly #options: BranchOptions;
	/** Message of every line of the order; -1 for a line that is in none. */
	readonly #owner: Int32Array;
	readonly #roles: Role[] = [];
	readonly #marks: number[] = [];

	constructor(lines: Lines, order: Int32Array, options: BranchOptions) {
		this.#lines = lines;
		this.#order = order;
		this.#options = options;
		this.#owner = new Int32Array(order.length).fill(NONE);
	}

	async sort(): Promise<void> {
		const { table } = this.#lines;
		const pause = pacer();
		const ofAnswer = new Int32Array(table.strings.length).fill(NONE);
		/** The sent message that the lines so far ended with, and the first of all. */
		let current = NONE;
		let first = NONE;
		let behindSummary = false;
		const early: number[] = [];
		for (let i = 0; i < this.#order.length; i++) {
			if (pause()) await breathe();
			const row = this.#order[i];
			if (!this.#lines.isOwn(row) || table.type.at(row) === LINE.SNAPSHOT) continue;
			const role = table.roleOf(row);
			if (role === null) {
				if ((table.flags.at(row) & FLAG.ATTACHED) === 0 || behindSummary) continue;
				if (current < 0) early.push(i);
				else this.#owner[i] = current;
				continue;
			}
			behindSummary = role === "summary" && this.#options.scope === "path";
			if (behindSummary) continue;
			const message = this.#messageOf(row, role, ofAnswer);
			this.#owner[i] = message;
			if (this.#marks[message] & MESSAGE.UNSENT) continue;
			current = message;
			if (first < 0) first = message;
		}
		for (const i of early) this.#owner[i] = first;
	}

	/** The message that a line is part of, made when it is its first line. */
	#messageOf(row: number, role: Role, ofAnswer: Int32Array): number {
		const { table } = this.#lines;
		const answer = table.group.at(row);
		const known = answer < 0 ? NONE : ofAnswer[answer];
		const message = known >= 0 ? known : this.#roles.length;
		if (known < 0) {
			this.#roles.push(role);
			this.#marks.push(0);
			if (answer >= 0) ofAnswer[answer] = message;
		}
		if (table.flags.at(row) & FLAG.UNSENT) this.#marks[message] |= MESSAGE.UNSENT;
		if (this.#options.memory && table.id.at(row) < 0) this.#marks[message] |= MESSAGE.MISSING_ENTRY;
		return message;
	}

	/** Gathers the lines of each message; inside a message they stay in sending order. */
	async pushTo(list: MessageList): Promise<void> {
		const pause = pacer();
		const end = new Int32Array(this.#roles.length + 1);
		for (const message of this.#owner) {
			if (pause()) await breathe();
			if (message >= 0) end[message + 1]++;
		}
		for (let m = 0; m < this.#roles.length; m++) {
			if (pause()) await breathe();
			end[m + 1] += end[m];
		}
		const rows = new Int32Array(end[this.#roles.length]);
		const at = end.slice();
		for (let i = 0; i < this.#owner.length; i++) {
			if (pause()) await breathe();
			if (this.#owner[i] >= 0) rows[at[this.#owner[i]]++] = this.#order[i];
		}
		for (let m = 0; m < this.#roles.length; m++) {
			if (pause()) await breathe();
			list.push(this.#roles[m], [...rows.subarray(end[m], end[m + 1])], this.#marks[m]);
		}
	}
}

/** The last `prompt_snapshot` of the conversation in the file: system prompt and tools of a resumed session come from it. -1 without one. */
export async function lastSnapshot(lines: Lines): Promise<number> {
	const pause = pacer();
	for (let row = lines.table.rows - 1; row >= 0; row--) {
		if (pause()) await breathe();
		if (lines.table.type.at(row) === LINE.SNAPSHOT && lines.lost[row] === 0 && lines.isOwn(row)) return row;
	}
	return NONE;
}
