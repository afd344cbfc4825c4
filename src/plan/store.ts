/** Where a plan is kept: an append-only list of entries. Files keep it as a journal; a host may keep it in the session itself. */
import type { Scope } from "../session/branch.js";
import type { FormatName } from "../session/record.js";
import type { Change } from "./plan.js";

export type Mode = "agent" | "manual";

/** What a transaction froze. */
export interface AnchorFacts {
	format: FormatName;
	scope: Scope;
	/** Entry id at which the branch ends. */
	entry: string;
	atoms: number;
	messages: number;
	/** Content hash (hex) of all atoms. */
	hash: string;
}

/** A block as a commit made it. */
export interface CommittedBlock {
	id: string;
	/** Id of the range. */
	range: string;
	topic: string;
	summary: string;
}

export type JournalEntry =
	| {
			type: "start";
			version: 1;
			transaction: string;
			/** ISO date. */
			at: string;
			mode: Mode;
			instructions: string;
			anchor: AnchorFacts;
	  }
	/** `revision` is the plan's after the change. */
	| { type: "change"; transaction: string; at: string; revision: number; change: Change }
	/**
	 * Written before the new session gets its name. It counts when a `committed` follows, or, where a crash came between, when a file of at least that size stands at `path` (its host may have gone on with it); not when
	 * a `withdrawn` follows.
	 */
	| {
			type: "commit";
			transaction: string;
			at: string;
			digest: string;
			path: string;
			/** Bytes of the new session, and its id where the format has one. */
			bytes: number;
			session: string | null;
			blocks: CommittedBlock[];
	  }
	| { type: "committed" | "withdrawn" | "abort"; transaction: string; at: string };

export interface PlanStore {
	/** All entries, in order. `notices`: what was found damaged and left out, in sentences. Errors: `state_unavailable`. */
	load(): Promise<{ entries: JournalEntry[]; notices: string[] }>;
	/** Adds one entry; when it resolves, the entry outlives a crash. Errors: `state_unavailable`, and then nothing was added. */
	append(entry: JournalEntry): Promise<void>;
}
