/** Tasks and results of the workers that serve search and texts (`workers/shard.ts`, `find.ts`, `view.ts`): numbers in, numbers or bounded texts out. */
import type { RowSource } from "../session/rows.js";
import type { Landmark } from "./landmark.js";
import type { AtomPlaces } from "./places.js";

/** Which atoms match a pattern. Result: one byte for each atom, 1 for a match. */
export interface FindTask {
	from: RowSource;
	atoms: AtomPlaces;
	pattern: string;
}
export type FindResult = Uint8Array;

/** How atoms are shown; `budget` in UTF-16 units of each text. An excerpt is centred on the first hit of its pattern. */
export type View =
	| { shape: "content"; budget: number }
	| { shape: "lead"; budget: number }
	| { shape: "excerpt"; pattern: string; budget: number };

/** Texts of atoms, in the order of the places. */
export interface ViewTask {
	from: RowSource;
	atoms: AtomPlaces;
	view: View;
}
export type ViewResult = Landmark[];

/** Consecutive pages from number `first` on: page `first + p` has the atoms `pageStart[p] … pageStart[p + 1] - 1` of `atoms`. */
export interface PagesToAdd {
	first: number;
	pageStart: Uint32Array;
	atoms: AtomPlaces;
}

/**
 * Work of the one thread that remembers the trigram indexes, each under its session's key. `add` makes the index when the key is new, with `budget` in bytes.
 * `candidates` gives {@link ShardCandidates}, the others {@link ShardState}.
 */
export type ShardTask =
	| { op: "add"; key: string; from: RowSource; budget: number; pages: PagesToAdd }
	| { op: "candidates"; key: string; pattern: string; pages: number }
	| { op: "drop"; key: string };

export interface ShardState {
	/** Pages in the index. */
	pages: number;
	postings: number;
	/** Estimated heap bytes. */
	bytes: number;
	/** The budget is spent: later pages are not taken. */
	full: boolean;
}

/** Pages that may hold the pattern, rising, of `0 … pages - 1`; null: every page may. */
export type ShardCandidates = Uint32Array | null;
export type ShardResult = ShardState | ShardCandidates;
