/** The one proposal of a transaction: ranges that do not overlap, and how a change turns one plan into the next. Pure. */

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
}

/** What changes a plan. An `undo` takes back the last change that still stands. */
export type Change =
	| { kind: "add"; range: PlanRange }
	| { kind: "update"; id: string; topic?: string; summary?: string }
	| { kind: "remove"; id: string }
	| { kind: "undo" };
