/** Pages of consecutive atoms: the unit that the trigram index knows. */
import { POSTING_BYTES } from "./trigram-index.js";

/** What planning needs of the atoms, one entry each. */
export interface AtomSizes {
	/** Code points of content. */
	chars: Float64Array;
	/** Bytes that must be read to see the atom; 0 where they belong to a record that the atom before it already reads. */
	bytes: Float64Array;
}

/** Page p holds the atoms `start[p] … start[p + 1] - 1`. */
export interface PagePlan {
	start: Uint32Array;
	readonly pages: number;
}

/** Smallest page in characters: below it the index grows faster than it saves reading. */
const LEAST_PAGE_CHARS = 16 * 1024;
/** With more pages than this the index takes longer to build than its finer answers save: 9 M characters/s at 16 K a page, 21 at 64 K, 47 at 256 K. */
const ENOUGH_PAGES = 1200;
/** Bytes of a batch of work for a thread, and of a page at least before its bytes close it. */
export const BATCH_BYTES = 1024 * 1024;
/** A page that takes more bytes than this for each character it may hold is closed: images and host copies would be read for nothing. */
const BYTES_PER_CHAR = 8;
/**
 * Distinct trigrams of a page of n characters: about `80 n^0.4`. Seen: 3,700 in 16 K, 6,200 in 64 K, 9,700 in 256 K, 13,400 in 1 M (`bench/search.mjs`), and
 * in real sessions 3,200, 6,300 and 10,800-12,600.
 */
const TRIGRAMS_FACTOR = 80;
const TRIGRAMS_EXPONENT = 0.4;
/** Share of the budget that the plan aims at, the rest is for text with more trigrams than most. */
const AIM = 0.75;

/** Characters of a page for a session of that many, so that the index keeps within `budget` bytes. */
export function pageChars(totalChars: number, budget: number): number {
	// total / n pages of 80 n^0.4 postings each take no more than the aim.
	const bytes = totalChars * TRIGRAMS_FACTOR * POSTING_BYTES;
	const fitting = (bytes / Math.max(1, budget * AIM)) ** (1 / (1 - TRIGRAMS_EXPONENT));
	return Math.ceil(Math.max(LEAST_PAGE_CHARS, totalChars / ENOUGH_PAGES, Math.min(fitting, totalChars)));
}

/** Cuts the atoms into pages whose size grows with the session. `budget`: bytes of the index. */
export function planPages({ chars, bytes }: AtomSizes, budget: number): PagePlan {
	const limit = pageChars(
		chars.reduce((sum, n) => sum + n, 0),
		budget,
	);
	const byteLimit = Math.max(BATCH_BYTES, limit * BYTES_PER_CHAR);
	const start = [0];
	let pageCharsSoFar = 0;
	let pageBytes = 0;
	for (let atom = 0; atom < chars.length; atom++) {
		const tooMuch =
			pageCharsSoFar >= limit || (pageBytes > 0 && pageBytes + bytes[atom] > byteLimit && bytes[atom] > 0);
		if (tooMuch) {
			start.push(atom);
			pageCharsSoFar = 0;
			pageBytes = 0;
		}
		pageCharsSoFar += chars[atom];
		pageBytes += bytes[atom];
	}
	if (chars.length > 0) start.push(chars.length);
	return { start: Uint32Array.from(start), pages: start.length - 1 };
}
