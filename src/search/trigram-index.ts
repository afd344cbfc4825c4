/** Which pages may hold a pattern: a FlexSearch index whose terms are the trigrams of each page. */
import { Index } from "flexsearch";
import { TrigramCollector } from "./trigrams.js";

/** Memory that the index of a session may take, in bytes. */
export const INDEX_BUDGET = 256 * 1024 * 1024;

/** Heap bytes of one posting (a page in the list of a term) and of one term, the room that lists grow into included (`bench/search.mjs`). */
export const POSTING_BYTES = 10;
const TERM_BYTES = 320;
/** The tables of the collector. */
const BASE_BYTES = 12 * 1024 * 1024;
/** FlexSearch wants some content; what it encodes is handed over beside it. */
const CONTENT = "page";
/** FlexSearch returns 100 results unless told otherwise. */
const ALL = 1e9;

/**
 * Trigram index over pages. Its answers are a superset of the pages that match. When its estimated size passes the budget it is `full`: pages
 * that come later are not taken and must always be looked at.
 */
export class TrigramIndex {
	readonly #collector = new TrigramCollector();
	/** What FlexSearch's encoder hands back next. */
	#encoded: string[] = [];
	readonly #index = new Index({ tokenize: "strict", resolution: 1, encode: () => this.#encoded });
	readonly #taken = new Set<number>();
	readonly #budget: number;
	#postings = 0;
	#distinct = 0;
	#full = false;

	/** `budget`: bytes. */
	constructor(budget: number = INDEX_BUDGET) {
		this.#budget = budget;
	}

	/** Entries of all term lists. */
	get postings(): number {
		return this.#postings;
	}

	/** Distinct terms of the pages taken. */
	get terms(): number {
		return this.#distinct;
	}

	/** Estimated heap bytes. */
	get bytes(): number {
		return bytesOf(this.#postings, this.#distinct);
	}

	/** Whether the budget is spent: nothing is taken any more. */
	get full(): boolean {
		return this.#full;
	}

	/** Number of pages taken. */
	get pages(): number {
		return this.#taken.size;
	}

	/** Begins a page; then {@link beginAtom} and {@link addText} for its texts, then {@link endPage}. */
	beginPage(): void {
		this.#collector.beginPage();
	}

	beginAtom(): void {
		this.#collector.beginAtom();
	}

	/** A content text as it is; the index lower-cases it. */
	addText(text: string): void {
		this.#collector.addText(text.toLowerCase());
	}

	/** Takes the page under this number; false when the budget does not allow it. */
	endPage(page: number): boolean {
		const terms = this.#collector.pageTerms();
		const postings = this.#postings + terms.length;
		if (this.#full || bytesOf(postings, this.#collector.distinct) > this.#budget) {
			this.#full = true;
			return false;
		}
		if (terms.length > 0) {
			this.#encoded = terms;
			this.#index.add(page, CONTENT);
			this.#encoded = [];
		}
		this.#postings = postings;
		this.#distinct = this.#collector.distinct;
		this.#taken.add(page);
		return true;
	}

	/** Takes a page whose atoms have these content texts. */
	add(page: number, atoms: Iterable<Iterable<string>>): boolean {
		this.beginPage();
		for (const texts of atoms) {
			this.beginAtom();
			for (const text of texts) this.addText(text);
		}
		return this.endPage(page);
	}

	/**
	 * Numbers of the pages among `0 … pages - 1` that may hold the pattern (any case), rising: those the index names and those it never took. Null when the
	 * pattern is too short to tell.
	 */
	candidates(pattern: string, pages: number): Uint32Array | null {
		const terms = this.#collector.patternTerms(pattern.toLowerCase());
		if (terms.length === 0) return null;
		this.#encoded = terms;
		const named = new Set(this.#index.search(CONTENT, { limit: ALL }));
		this.#encoded = [];
		const found: number[] = [];
		for (let page = 0; page < pages; page++) if (named.has(page) || !this.#taken.has(page)) found.push(page);
		return Uint32Array.from(found);
	}
}

function bytesOf(postings: number, terms: number): number {
	return BASE_BYTES + postings * POSTING_BYTES + terms * TERM_BYTES;
}
