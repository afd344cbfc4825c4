/** The planning lock: who may change a plan. */

export type Owner = "agent" | "ui";

/** Who holds the lock. */
export interface Holder {
	owner: Owner;
	pid: number;
	host: string;
	/** ISO date. */
	since: string;
}

export interface PlanLock {
	/** The living holder; null for none. */
	holder(): Promise<Holder | null>;
	/**
	 * Runs `work` while nobody else changes the plan, in this process or another. Errors: `locked`, naming the holder, when somebody else holds the planning lock;
	 * there is no queue for it.
	 */
	exclusively<T>(work: () => Promise<T>): Promise<T>;
	/** Takes the planning lock until `release`. A dead holder's is taken over; the notice says so. Errors: `locked`. */
	acquire(owner: Owner): Promise<{ notice: string | null }>;
	/** Gives up a lock that this object holds; nothing otherwise. */
	release(): Promise<void>;
}
