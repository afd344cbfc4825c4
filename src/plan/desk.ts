/** The plans of one session over any store: which transactions are open, and every way in which one changes. */
import { MidcompactError } from "../errors.js";
import type { Holder, PlanLock } from "./lock.js";
import { type Change, digestOf, PlanHistory } from "./plan.js";
import type { AnchorFacts, CommittedBlock, JournalEntry, Mode, PlanStore } from "./store.js";
import type { Committed, PlanDesk, Transaction } from "./transaction.js";

type StartEntry = Extract<JournalEntry, { type: "start" }>;
type CommitEntry = Extract<JournalEntry, { type: "commit" }>;

/** What a desk stands on. */
export interface DeskParts {
	store: PlanStore;
	lock: PlanLock;
	now(): Date;
	newId(): string;
	/** Whether a file of so many bytes stands at a path: tells how a commit ended that a crash cut off. */
	stands(path: string, bytes: number): Promise<boolean>;
}

/** What all entries together say. */
export interface Ledger {
	open: Transaction[];
	committed: Committed[];
	notices: string[];
}

/** What a commit wrote. */
export interface CommitFacts {
	/** Digest of the plan that was written. */
	digest: string;
	path: string;
	bytes: number;
	session: string | null;
	blocks: CommittedBlock[];
}

export class Desk implements PlanDesk {
	readonly #parts: DeskParts;
	/** Id of the transaction that is worked on; null for none. */
	transaction: string | null;

	constructor(parts: DeskParts, transaction: string | null = null) {
		this.#parts = parts;
		this.transaction = transaction;
	}

	get lock(): PlanLock {
		return this.#parts.lock;
	}

	/** Every transaction of the store. Errors: `state_unavailable`. */
	async ledger(): Promise<Ledger> {
		const { books, notices } = await this.#read();
		const holder = await this.#parts.lock.holder();
		return {
			open: books.filter(({ state }) => state === "open").map((book) => book.transaction(holder, notices)),
			committed: books.flatMap(({ state, commit }) => (state === "committed" && commit ? [committedOf(commit)] : [])),
			notices,
		};
	}

	async current(): Promise<Transaction | null> {
		if (this.transaction === null) return null;
		const { books, notices } = await this.#read();
		return this.#find(books)?.transaction(await this.#parts.lock.holder(), notices) ?? null;
	}

	change(decide: (transaction: Transaction) => Change | Promise<Change>): Promise<Transaction> {
		return this.#parts.lock.exclusively(async () => {
			const { book, transaction } = await this.#open();
			const change = await decide(transaction);
			const revision = transaction.plan.revision + 1;
			// What does not fit is refused here, before it is written.
			book.history.apply(change);
			await this.#append({ type: "change", transaction: book.id, at: this.#at(), revision, change });
			return (await this.#open()).transaction;
		});
	}

	/** Takes the last change back that still stands. Errors: those of `change`; `empty_plan` when none does. */
	undo(): Promise<Transaction> {
		return this.change(() => ({ kind: "undo" }));
	}

	/**
	 * Starts a transaction and works on it from then on. `sameBranch` says whether the anchor of an open one lies on the branch of the new one. Errors: `transaction_active`,
	 * `locked`, `state_unavailable`.
	 */
	start(
		{ mode, instructions, anchor }: { mode: Mode; instructions: string; anchor: AnchorFacts },
		sameBranch: (anchor: AnchorFacts) => Promise<boolean>,
	): Promise<Transaction> {
		return this.#parts.lock.exclusively(async () => {
			for (const open of (await this.ledger()).open) {
				if (await sameBranch(open.anchor)) {
					throw new MidcompactError(
						"transaction_active",
						`A transaction is open on this branch since ${open.startedAt}, with ${open.plan.ranges.length} range(s), anchored at ${open.anchor.entry}.`,
					);
				}
			}
			const transaction = this.#parts.newId();
			await this.#append({ type: "start", version: 1, transaction, at: this.#at(), mode, instructions, anchor });
			this.transaction = transaction;
			return (await this.#open()).transaction;
		});
	}

	/** Gives the transaction up; returns it as it was. Errors: `no_transaction`, `locked`, `state_unavailable`. */
	abort(): Promise<Transaction> {
		return this.#parts.lock.exclusively(async () => {
			const { transaction } = await this.#open();
			await this.#append({ type: "abort", transaction: transaction.id, at: this.#at() });
			return transaction;
		});
	}

	/**
	 * Ends the transaction with a new session, which `publish` gives its name: the intent is written first, so that a crash at any point leaves either an open transaction or
	 * a committed one. Errors: `no_transaction`, `plan_changed` when the plan is another by now, `locked`, `state_unavailable`, those of `publish`; then the transaction is
	 * open as before.
	 */
	commit(facts: CommitFacts, publish: () => Promise<void>): Promise<Committed> {
		return this.#parts.lock.exclusively(async () => {
			const { id, digest } = (await this.#open()).transaction;
			if (digest !== facts.digest) throw planChanged(facts.digest, digest);
			const entry: CommitEntry = { type: "commit", transaction: id, at: this.#at(), ...facts };
			await this.#append(entry);
			try {
				await publish();
			} catch (thrown) {
				await this.#append({ type: "withdrawn", transaction: id, at: this.#at() });
				throw thrown;
			}
			await this.#append({ type: "committed", transaction: id, at: this.#at() });
			return committedOf(entry);
		});
	}

	/** Errors: `no_transaction`. */
	async #open(): Promise<{ book: Book; transaction: Transaction }> {
		const { books, notices } = await this.#read();
		const book = this.#find(books);
		if (!book) throw new MidcompactError("no_transaction", "No transaction is open.");
		return { book, transaction: book.transaction(await this.#parts.lock.holder(), notices) };
	}

	#find(books: readonly Book[]): Book | null {
		return books.find(({ id, state }) => id === this.transaction && state === "open") ?? null;
	}

	async #read(): Promise<{ books: Book[]; notices: string[] }> {
		const { entries, notices } = await this.#parts.store.load();
		const books = new Map<string, Book>();
		for (const entry of entries) {
			const book = books.get(entry.transaction);
			if (entry.type === "start" && !book) books.set(entry.transaction, new Book(entry));
			else if (entry.type === "start" || !book?.enter(entry)) {
				notices.push(
					`The journal's entry "${entry.type}" of ${entry.at} does not fit what stands before it and was left out.`,
				);
			}
		}
		for (const book of books.values()) {
			const { state, commit } = book;
			if (state === "committing" && commit)
				book.state = (await this.#parts.stands(commit.path, commit.bytes)) ? "committed" : "open";
		}
		return { books: [...books.values()], notices };
	}

	#append(entry: JournalEntry): Promise<void> {
		return this.#parts.store.append(entry);
	}

	#at(): string {
		return this.#parts.now().toISOString();
	}
}

/** One transaction as its entries tell it. */
class Book {
	readonly history = new PlanHistory();
	/** `committing`: a commit was begun, and nothing says how it ended. */
	state: "open" | "committing" | "committed" | "aborted" = "open";
	/** The last commit that was begun. */
	commit: CommitEntry | null = null;
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

	/** Two changes of one revision come from a writer that had lost its lock: the first one counts. */
	#change({ revision, change }: Extract<JournalEntry, { type: "change" }>): boolean {
		if (revision !== this.history.plan.revision + 1) return false;
		try {
			this.history.apply(change);
		} catch {
			return false;
		}
		this.state = "open";
		return true;
	}

	transaction(holder: Holder | null, notices: readonly string[]): Transaction {
		const { transaction: id, at: startedAt, mode, instructions, anchor } = this.#start;
		const { plan } = this.history;
		return { id, startedAt, mode, instructions, anchor, plan, digest: digestOf(anchor, plan.ranges), holder, notices };
	}
}

function committedOf({ transaction, at, path, session, blocks }: CommitEntry): Committed {
	return { transaction, at, path, session, blocks };
}

/** Errors are made here so that commit and its callers say the same. */
export function planChanged(given: string, now: string): MidcompactError {
	return new MidcompactError("plan_changed", `The plan is no longer the one of digest ${given}: its digest is ${now}.`);
}
