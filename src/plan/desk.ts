/** The plans of one session over any store: which transactions are open, and every way in which one changes. */
import { MidcompactError } from "../errors.js";
import { type Book, booksOf, type CommitEntry, committedOf } from "./book.js";
import type { PlanLock } from "./lock.js";
import type { Change } from "./plan.js";
import type { AnchorFacts, CommittedBlock, JournalEntry, Mode, PlanStore } from "./store.js";
import type { Committed, PlanDesk, Transaction } from "./transaction.js";

/** What a desk stands on. */
export interface DeskParts {
	store: PlanStore;
	lock: PlanLock;
	now(): Date;
	newId(): string;
	/** Whether a file of at least so many bytes stands at a path: tells how a commit ended that a crash cut off. */
	stands(path: string, bytes: number): Promise<boolean>;
}

/** What all entries together say. */
export interface Ledger {
	open: Transaction[];
	committed: Committed[];
	/** Ids of all transactions, however they ended. */
	transactions: string[];
	/** What was left out or repaired, in sentences. */
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

interface Books {
	books: Book[];
	/** Those whose last commit a crash cut off; their state says how it ended. */
	cutOff: Book[];
	notices: string[];
}

/**
 * Every change is made inside the lock, on what the store holds then. Objects and processes may share a store: what one does, the next one sees.
 */
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
			transactions: books.map(({ id }) => id),
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
			// What does not fit is refused here, before it is written.
			book.history.apply(change);
			const { revision } = book.history;
			await this.#append({ type: "change", transaction: book.id, at: this.#at(), revision, change });
			return book.transaction(transaction.holder, transaction.notices);
		});
	}

	/** Takes the last change back that still stands. Errors: those of `change`; `empty_plan` when none does. */
	undo(): Promise<Transaction> {
		return this.change(() => ({ kind: "undo" }));
	}

	/**
	 * Starts a transaction and works on it from then on. `sameBranch` says whether the anchor of an open one lies on the branch of the new one. Errors: `transaction_active`,
	 * `locked`, `state_unavailable`, those of `sameBranch`.
	 */
	start(
		{ mode, instructions, anchor }: { mode: Mode; instructions: string; anchor: AnchorFacts },
		sameBranch: (anchor: AnchorFacts) => Promise<boolean>,
	): Promise<Transaction> {
		return this.#parts.lock.exclusively(async () => {
			const { books, notices } = await this.#settled();
			const holder = await this.#parts.lock.holder();
			for (const book of books) {
				if (book.state !== "open") continue;
				const open = book.transaction(holder, notices);
				if (await sameBranch(open.anchor)) throw active(open);
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
	 * open as before. Never one once `publish` is done.
	 */
	async commit(facts: CommitFacts, publish: () => Promise<void>): Promise<Committed> {
		const done: Committed[] = [];
		try {
			return await this.#parts.lock.exclusively(async () => {
				const { id, digest } = (await this.#open()).transaction;
				if (digest !== facts.digest) throw planChanged(facts.digest, digest);
				const entry: CommitEntry = { type: "commit", transaction: id, at: this.#at(), ...facts };
				await this.#append(entry);
				try {
					await publish();
				} catch (thrown) {
					// Where this cannot be written either, no file stands at the path.
					await this.#append({ type: "withdrawn", transaction: id, at: this.#at() }).catch(() => {});
					throw thrown;
				}
				done.push(committedOf(entry));
				await this.#append({ type: "committed", transaction: id, at: this.#at() });
				return done[0];
			});
		} catch (thrown) {
			// The new session is there for good: whatever was refused after that, its file says how the commit ended.
			if (done.length > 0) return done[0];
			throw thrown;
		}
	}

	/** Inside the lock. Errors: `no_transaction`. */
	async #open(): Promise<{ book: Book; transaction: Transaction }> {
		const { books, notices } = await this.#settled();
		const book = this.#find(books);
		if (!book) throw new MidcompactError("no_transaction", "No transaction is open.");
		return { book, transaction: book.transaction(await this.#parts.lock.holder(), notices) };
	}

	#find(books: readonly Book[]): Book | null {
		return books.find(({ id, state }) => id === this.transaction && state === "open") ?? null;
	}

	/** Inside the lock, where no commit is under way: writes down how those ended that a crash cut off, since the new session may grow or go away. */
	async #settled(): Promise<Books> {
		const found = await this.#read();
		for (const { id: transaction, state } of found.cutOff) {
			const type = state === "committed" ? "committed" : "withdrawn";
			await this.#append({ type, transaction, at: this.#at() });
		}
		return found;
	}

	async #read(): Promise<Books> {
		const { entries, notices } = await this.#parts.store.load();
		const found = await booksOf(entries);
		const cutOff: Book[] = [];
		for (const book of found.books) {
			const { state, commit } = book;
			if (state !== "committing" || !commit) continue;
			book.state = (await this.#parts.stands(commit.path, commit.bytes)) ? "committed" : "open";
			cutOff.push(book);
		}
		return { books: found.books, cutOff, notices: [...notices, ...found.notices] };
	}

	#append(entry: JournalEntry): Promise<void> {
		return this.#parts.store.append(entry);
	}

	#at(): string {
		return this.#parts.now().toISOString();
	}
}

function active({ id, startedAt, plan, anchor }: Transaction): MidcompactError {
	const ranges = plan.ranges.length === 1 ? "1 range" : `${plan.ranges.length} ranges`;
	return new MidcompactError(
		"transaction_active",
		`The transaction ${id} is open on this branch since ${startedAt}, with ${ranges}, anchored at ${anchor.entry}.`,
	);
}

/** The plan is not the one that the user reviewed. */
export function planChanged(given: string, now: string): MidcompactError {
	return new MidcompactError("plan_changed", `The plan is no longer the one of digest ${given}: its digest is ${now}.`);
}
