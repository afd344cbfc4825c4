/** The one proposal of a transaction: ranges that do not overlap, and how changes make one plan out of another. Pure. */
import { createHash } from "node:crypto";
import { MidcompactError } from "../errors.js";

/** A range of whole atoms. Its boundaries never change in place. */
export interface PlanRange {
	/** `d1`, `d2`…; never used again inside the transaction, whatever is removed or undone. */
	id: string;
	/** Index of the first atom, and of the last one. */
	start: number;
	end: number;
	/** Empty: none. */
	topic: string;
	/** Empty: pending. */
	summary: string;
	/** Content hash of the atoms (hex), taken when the range was added. */
	hash: string;
}

export interface Plan {
	/** Grows by one with every change, an undo included. */
	revision: number;
	/** In the order of the anchor. */
	ranges: readonly PlanRange[];
	/** Id of the range that is added next. */
	nextRange: string;
}

/** A change that an undo can take back. */
export type PlainChange =
	| { kind: "add"; range: PlanRange }
	| { kind: "update"; id: string; topic?: string; summary?: string }
	| { kind: "remove"; id: string };

/** What changes a plan. An `undo` takes back the last change that still stands. */
export type Change = PlainChange | { kind: "undo" };

const ID = /^d([1-9]\d{0,14})$/;
/** Ranges that an error names. */
const NAMED = 5;

/** A plan with what its changes left behind: enough to go on, forwards and backwards. */
export class PlanHistory {
	#revision = 0;
	#lastId = 0;
	/** In the order of the anchor, none overlapping. */
	readonly #ranges: PlanRange[] = [];
	readonly #known = new Map<string, PlanRange>();
	/** For every change that stands, what takes it back; a number stands for so many changes that nothing is known of. */
	readonly #back: (PlainChange | number)[] = [];
	#plan: Plan | null = null;

	get revision(): number {
		return this.#revision;
	}

	/** As it stands now; later changes leave it as it is. */
	get plan(): Plan {
		this.#plan ??= { revision: this.#revision, ranges: [...this.#ranges], nextRange: `d${this.#lastId + 1}` };
		return this.#plan;
	}

	/**
	 * Makes one change. `revision`: that of the plan after it, the next one unless changes before it are missing; an undo later passes over those. Errors: `plan_changed` for a
	 * revision that the plan has already; `unknown_range`; for a range that is added `reversed`, `overlap`, `invalid_field` when its id is none or was used before;
	 * `empty_plan` for an undo when nothing stands. Then nothing has changed.
	 */
	apply(change: Change, revision = this.#revision + 1): void {
		const missing = revision - this.#revision - 1;
		if (missing < 0)
			throw new MidcompactError("plan_changed", `The plan is at revision ${this.#revision}, past ${revision}.`);
		if (change.kind === "undo") this.#undo(missing);
		else {
			if (change.kind === "add") this.#checkNew(change.range);
			const back = this.#make(change);
			if (missing > 0) this.#back.push(missing);
			this.#back.push(back);
			if (change.kind === "add") this.#lastId = idNumber(change.range.id);
		}
		this.#revision = revision;
		this.#plan = null;
	}

	#undo(missing: number): void {
		const last = missing > 0 ? missing : this.#back.pop();
		if (last === undefined) {
			throw new MidcompactError(
				"empty_plan",
				"There is no change to take back.",
				"The plan is as it was when the transaction was started.",
			);
		}
		if (typeof last !== "number") this.#make(last);
		else if (last > 1) this.#back.push(last - 1);
	}

	#checkNew({ id, start, end }: PlanRange): void {
		if (idNumber(id) <= this.#lastId) {
			throw new MidcompactError(
				"invalid_field",
				`${shown(id)} cannot name a new range.`,
				`The next range is named d${this.#lastId + 1}.`,
			);
		}
		if (start > end)
			throw new MidcompactError("reversed", `The range ${id} starts at the atom ${start + 1} and ends at ${end + 1}.`);
		const at = this.#place(start);
		const [before, after] = [this.#ranges[at - 1], this.#ranges[at]];
		const other = before && before.end >= start ? before : after && after.start <= end ? after : null;
		if (other) throw new MidcompactError("overlap", `The range ${id} overlaps the range ${other.id}.`);
	}

	/** Does it, and returns what takes it back. */
	#make(change: PlainChange): PlainChange {
		if (change.kind === "add") {
			const range = { ...change.range };
			this.#ranges.splice(this.#place(range.start), 0, range);
			this.#known.set(range.id, range);
			return { kind: "remove", id: range.id };
		}
		const range = this.#known.get(change.id) ?? rangeOf(this.#ranges, change.id);
		const at = this.#place(range.start);
		if (change.kind === "remove") {
			this.#ranges.splice(at, 1);
			this.#known.delete(range.id);
			return { kind: "add", range };
		}
		const { topic = range.topic, summary = range.summary } = change;
		const updated = { ...range, topic, summary };
		this.#ranges[at] = updated;
		this.#known.set(range.id, updated);
		return { kind: "update", id: range.id, topic: range.topic, summary: range.summary };
	}

	/** Index of the first range that starts at the atom or behind it. */
	#place(start: number): number {
		let low = 0;
		let high = this.#ranges.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.#ranges[middle].start < start) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}

/** 0 for what is no range id. */
function idNumber(id: string): number {
	return Number(ID.exec(id)?.[1] ?? 0);
}

/** The range of an id. Errors: `unknown_range`. */
export function rangeOf(ranges: readonly PlanRange[], id: string): PlanRange {
	const range = ranges.find((other) => other.id === id);
	if (range) return range;
	const named = ranges.slice(0, NAMED).map((other) => other.id);
	const more = ranges.length > named.length ? ` and ${ranges.length - named.length} more` : "";
	const has = ranges.length === 0 ? "it has none" : `it has ${named.join(", ")}${more}`;
	throw new MidcompactError("unknown_range", `The plan has no range ${shown(id)}: ${has}.`);
}

function shown(id: string): string {
	return JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
}

/** Short hash (12 hex digits) of what would be committed: equal for equal plans on the same anchor, whatever led to them. */
export function digestOf(anchor: { entry: string; scope: string; hash: string }, ranges: readonly PlanRange[]): string {
	const listed = ranges.map(({ id, start, end, topic, summary, hash }) => [id, start, end, topic, summary, hash]);
	const text = JSON.stringify([anchor.entry, anchor.scope, anchor.hash, listed]);
	return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
