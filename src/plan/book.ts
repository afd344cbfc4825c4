/** The transactions of a store as their entries tell them. Pure, but for the pauses that long lists are read with. */
import { MidcompactError } from "../errors.js";
import { breathe, pacer } from "../session/breathe.js";
import type { Holder } from "./lock.js";
import { digestOf, PlanHistory } from "./plan.js";
import type { JournalEntry } from "./store.js";
import type { Committed, Transaction } from "./transaction.js";

type StartEntry = Extract<JournalEntry, { type: "start" }>;
export type CommitEntry = Extract<JournalEntry, { type: "commit" }>;

/** One transaction. */
export class Book {
	readonly history = new PlanHistory();
	/** `committing`: a commit was begun, and nothing says how it ended. */
	state: "open" | "committing" | "committed" | "aborted" = "open";
	/** The last commit that was begun. */
	commit: CommitEntry | null = null;
	/** Changes that are missing before the ones that follow them. */
	missing = 0;
	readonly #start: StartEntry;

	constructor(start: StartEntry) {
		this.#start = start;
	}

	get id(): string {
		return this.#start.transaction;
	}

	/** Takes an entry in; false when it does not fit, and then nothing has changed. */
	enter(entry: Exclude<JournalEntry, StartEntry>): boolean {
		if (this.state === "committed" || this.state === "aborted") return false;
		switch (entry.type) {
			case "change":
				return this.#change(entry);
			case "abort":
				this.state = "aborted";
				return true;
			case "commit":
				this.state = "committing";
				this.commit = entry;
				return true;
			default:
				if (this.state !== "committing") return false;
				this.state = entry.type === "committed" ? "committed" : "open";
				return true;
		}
	}

	/** Two changes of one revision come from a writer that had lost its lock: the first one counts. Where one does not read, those behind it still count. */
	#change({ revision, change }: Extract<JournalEntry, { type: "change" }>): boolean {
		const before = this.history.revision;
		try {
			this.history.apply(change, revision);
		} catch (refused) {
			if (!(refused instanceof MidcompactError)) throw refused;
			return false;
		}
		this.missing += revision - before - 1;
		// A change is only written after a commit that was begun was found not to stand.
		this.state = "open";
		return true;
	}

	transaction(holder: Holder | null, notices: readonly string[]): Transaction {
		const { transaction: id, at: startedAt, mode, instructions, anchor } = this.#start;
		const { plan } = this.history;
		return { id, startedAt, mode, instructions, anchor, plan, digest: digestOf(anchor, plan.ranges), holder, notices };
	}
}

/** The transactions in the order in which they were started; `notices`: which entries were left out, and why, in sentences. */
export async function booksOf(entries: readonly JournalEntry[]): Promise<{ books: Book[]; notices: string[] }> {
	const books = new Map<string, Book>();
	const left = new Map<string, { first: JournalEntry; entries: number }>();
	const pause = pacer();
	for (const entry of entries) {
		if (pause()) await breathe();
		const book = books.get(entry.transaction);
		if (entry.type === "start" && !book) books.set(entry.transaction, new Book(entry));
		else if (entry.type === "start" || !book?.enter(entry)) {
			const found = left.get(entry.transaction);
			if (found) found.entries++;
			else left.set(entry.transaction, { first: entry, entries: 1 });
		}
	}
	const all = [...books.values()];
	return { books: all, notices: [...all.flatMap(missingIn), ...[...left].map(([id, found]) => leftOut(id, found))] };
}

function missingIn({ id, missing }: Book): string[] {
	if (missing === 0) return [];
	const changes = missing === 1 ? "A change" : `${missing} changes`;
	return [`${changes} of the transaction ${id} cannot be read any more: look at the plan before it is committed.`];
}

function leftOut(transaction: string, { first, entries }: { first: JournalEntry; entries: number }): string {
	const what =
		entries === 1
			? `An entry ("${first.type}" of ${first.at}) of the transaction ${transaction} does`
			: `${entries} entries (from "${first.type}" of ${first.at} on) of the transaction ${transaction} do`;
	return `${what} not fit what stands before and ${entries === 1 ? "was" : "were"} left out.`;
}

/** How a commit is remembered. */
export function committedOf({ transaction, at, path, session, blocks }: CommitEntry): Committed {
	return { transaction, at, path, session, blocks };
}
