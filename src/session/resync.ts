/**
 * Finding the next element of a damaged JSON list. The mark is how the list's own elements open: `{`, white space and the first key with its
 * quotes. Inside a string those quotes would be escaped, so the mark never matches in a text; the white space of a pretty-printed document also
 * tells its elements from objects nested in them.
 */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./json-bytes.js";
import type { ByteReader } from "./source.js";

/** Bytes of an opening that are compared. */
const OPENING_MAX = 256;
/** Elements whose openings are taken as marks. */
const SAMPLES = 8;
/** Bytes in front of a mark that are looked at. */
const BEFORE = 256;
const STEP = 1 << 18;
/** Brackets open at once that are followed. */
const DEPTH_MAX = 1 << 16;
const OPENING = /^\{\s*"[^"\\]+"/;
/** What stands before an object that is the value of a key or the first of an inner list: it belongs to the element around it. */
const NESTED = /[:[]\s*$/;

/** Openings of the elements that start at the given offsets. */
export function openingsOf(reader: ByteReader, starts: Iterable<number>): Buffer[] {
	const found = new Set<string>();
	let samples = 0;
	for (const start of starts) {
		if (samples++ === SAMPLES) break;
		const opening = OPENING.exec(textAt(reader, start, OPENING_MAX));
		if (opening) found.add(opening[0]);
	}
	return [...found].map((text) => Buffer.from(text, "latin1"));
}

/**
 * Offset of the first element behind `start` that opens like one of `openings`; -1 when there is none. `start` is where the damaged element
 * begins: an object that stands in an inner list of it, as far as its brackets and strings can be followed, is part of it and no element.
 */
export function nextElement(reader: ByteReader, openings: readonly Buffer[], start: number): number {
	if (openings.length === 0) return -1;
	const nesting = new Nesting(reader, start);
	const buffer = Buffer.allocUnsafe(STEP + OPENING_MAX);
	for (let base = start + 1; base < reader.size; base += STEP) {
		const window = buffer.subarray(0, reader.read(buffer, base));
		for (let at = firstOf(window, openings, 0); at >= 0 && at < STEP; at = firstOf(window, openings, at + 1)) {
			const before = Math.min(BEFORE, base + at);
			if (NESTED.test(textAt(reader, base + at - before, before))) continue;
			if (nesting.allowsElement(base + at)) return base + at;
		}
	}
	return -1;
}

/** Follows brackets and strings from the start of a damaged element on. */
class Nesting {
	readonly #reader: ByteReader;
	readonly #buffer = Buffer.allocUnsafe(STEP);
	readonly #open: number[] = [];
	#at: number;
	#inString = false;
	#escaped = false;
	/** Brackets that do not match, or a NUL: from here on nothing can be followed. */
	#lost = false;

	constructor(reader: ByteReader, start: number) {
		this.#reader = reader;
		this.#at = start;
	}

	/**
	 * Whether the opening brace at `offset` cannot belong to the element: it stands in what would be a string (whose end is missing, as an opening holds bare quotes), or where an
	 * object wants a key.
	 */
	allowsElement(offset: number): boolean {
		while (this.#at < offset && !this.#lost) {
			const length = Math.min(STEP, offset - this.#at);
			const n = this.#reader.read(this.#buffer.subarray(0, length), this.#at);
			if (n === 0) break;
			for (let i = 0; i < n && !this.#lost; i++) this.#step(this.#buffer[i]);
			this.#at += n;
		}
		return this.#lost || this.#inString || this.#open.at(-1) !== OPEN_LIST;
	}

	#step(b: number): void {
		if (b === 0) this.#lost = true;
		else if (this.#escaped) this.#escaped = false;
		else if (this.#inString) {
			if (b === BACKSLASH) this.#escaped = true;
			else if (b === QUOTE) this.#inString = false;
		} else if (b === QUOTE) this.#inString = true;
		else if (b === OPEN_OBJECT || b === OPEN_LIST) this.#lost = this.#open.push(b) > DEPTH_MAX;
		// In ASCII both closing brackets stand two behind their opening ones.
		else if (b === CLOSE_OBJECT || b === CLOSE_LIST) this.#lost = this.#open.pop() !== b - 2;
	}
}

function firstOf(window: Buffer, openings: readonly Buffer[], from: number): number {
	let first = -1;
	for (const opening of openings) {
		const at = window.indexOf(opening, from);
		if (at >= 0 && (first < 0 || at < first)) first = at;
	}
	return first;
}

/** Bytes as text of one unit each, so that lengths agree. */
function textAt(reader: ByteReader, start: number, length: number): string {
	const bytes = Buffer.allocUnsafe(length);
	return bytes.toString("latin1", 0, reader.read(bytes, start));
}
