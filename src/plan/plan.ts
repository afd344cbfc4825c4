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

/** What changes a plan. An `undo` takes back the last change that still stands. */
export type Change =
	| { kind: "add"; range: PlanRange }
	| { kind: "update"; id: string; topic?: string; summary?: string }
	| { kind: "remove"; id: string }
	| { kind: "undo" };

const ID = /^d(\d{1,9})$/;

/** A plan with what its changes left behind: enough to go on, forwards and backwards. */
export class PlanHistory {
	#revision = 0;
	#lastId = 0;
	/** The ranges before every change that stands. */
	readonly #before: (readonly PlanRange[])[] = [];
	#ranges: readonly PlanRange[] = [];

	get plan(): Plan {
		return { revision: this.#revision, ranges: this.#ranges, nextRange: `d${this.#lastId + 1}` };
	}

	/** Whether an undo has something to take back. */
	get undoable(): boolean {
		return this.#before.length > 0;
	}

	/** Makes one change. Errors: `unknown_range` for a range that is not there; `empty_plan` for an undo when nothing stands. Then nothing has changed. */
	apply(change: Change): void {
		if (change.kind === "undo") {
			const before = this.#before.pop();
			if (!before) {
				throw new MidcompactError(
					"empty_plan",
					"There is no change to take back.",
					"The plan is as it was when the transaction was started.",
				);
			}
			this.#ranges = before;
		} else {
			const after = changed(this.#ranges, change);
			this.#before.push(this.#ranges);
			this.#ranges = after;
			if (change.kind === "add") this.#lastId = Math.max(this.#lastId, Number(ID.exec(change.range.id)?.[1] ?? 0));
		}
		this.#revision++;
	}
}

function changed(ranges: readonly PlanRange[], change: Exclude<Change, { kind: "undo" }>): readonly PlanRange[] {
	if (change.kind === "add") {
		const at = ranges.findIndex(({ start }) => start > change.range.start);
		return at < 0 ? [...ranges, change.range] : [...ranges.slice(0, at), change.range, ...ranges.slice(at)];
	}
	const range = rangeOf(ranges, change.id);
	if (change.kind === "remove") return ranges.filter((other) => other !== range);
	const { topic = range.topic, summary = range.summary } = change;
	return ranges.map((other) => (other === range ? { ...range, topic, summary } : other));
}

/** The range of an id. Errors: `unknown_range`. */
export function rangeOf(ranges: readonly PlanRange[], id: string): PlanRange {
	const range = ranges.find((other) => other.id === id);
	if (range) return range;
	const known = ranges.length === 0 ? "it has none" : `it has ${ranges.length}, from ${ranges[0].id} on`;
	throw new MidcompactError("unknown_range", `The plan has no range ${JSON.stringify(id.slice(0, 80))} (${known}).`);
}

/** Short hash (12 hex digits) of what would be committed: equal for equal plans on the same anchor, whatever led to them. */
export function digestOf(anchor: { entry: string; scope: string; hash: string }, ranges: readonly PlanRange[]): string {
	const listed = ranges.map(({ id, start, end, topic, summary, hash }) => [id, start, end, topic, summary, hash]);
	const text = JSON.stringify([anchor.entry, anchor.scope, anchor.hash, listed]);
	return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
