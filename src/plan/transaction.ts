/** One transaction: a frozen anchor and its plan, over any store. */
import type { Holder } from "./lock.js";
import type { Change, Plan } from "./plan.js";
import type { AnchorFacts, CommittedBlock, Mode } from "./store.js";

export interface Transaction {
	id: string;
	/** ISO date. */
	startedAt: string;
	mode: Mode;
	instructions: string;
	anchor: AnchorFacts;
	plan: Plan;
	/** Short hash (12 hex digits) of anchor and ranges: equal digests are equal plans. */
	digest: string;
	holder: Holder | null;
	/** What loading left out or repaired. */
	notices: readonly string[];
}

/** How a transaction ended with a new session. */
export interface Committed {
	transaction: string;
	at: string;
	path: string;
	session: string | null;
	blocks: readonly CommittedBlock[];
}

/** The plan of one anchor as the facade works on it. */
export interface PlanDesk {
	/** The open transaction with its plan as it stands now, changes of other processes included; null for none. Errors: `state_unavailable`. */
	current(): Promise<Transaction | null>;
	/**
	 * Makes one change, alone among all processes: `decide` sees the plan as it stands and says what to change, or throws to refuse. Resolves when the change outlives
	 * a crash. Errors: `no_transaction`, `locked`, `state_unavailable`, those of `decide`.
	 */
	change(decide: (transaction: Transaction) => Change | Promise<Change>): Promise<Transaction>;
}
