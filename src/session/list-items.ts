/** Where the items of a list inside a record stand, byte for byte: an item can then be copied as it is, and the record is never in memory as a whole. */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./json-bytes.js";

/** Bytes counted from the start of the record: `start … end - 1` is the list with its brackets, `starts[k] … ends[k] - 1` its item k. */
export interface FoundItems {
	start: number;
	end: number;
	starts: number[];
	ends: number[];
}

const COMMA = 0x2c;
const COLON = 0x3a;
/** Bytes of a key that is compared; a longer one is none that anybody looks for. */
const KEY_BOUND = 512;

/**
 * Finds the items of the list that stands at a path of names in one JSON object, whose bytes may come in chunks and are taken to be valid JSON. Of a key that stands twice the
 * last one counts, as in any parser.
 */
export class ItemFinder {
	readonly #path: readonly string[];
	/** Bytes before the current chunk. */
	#base = 0;
	#depth = 0;
	/** Depth of the innermost open object that is on the path. */
	#onPath = 0;
	/** The string that is being read: bytes of a key, or null for any other. */
	#inString = false;
	#escaped = false;
	#key: number[] | null = null;
	/** The key whose value comes next, in the object on the path. */
	#named: string | null = null;
	#awaitsValue = false;
	/** The list that is being read, and whether one of its items is open. */
	#open: FoundItems | null = null;
	#inItem = false;
	/** Behind the last byte that was no white space. */
	#solid = 0;
	#found: FoundItems | null = null;

	constructor(path: readonly string[]) {
		this.#path = path;
	}

	/** The next bytes of the record. */
	add(chunk: Uint8Array): void {
		let at = 0;
		while (at < chunk.length) at = this.#inString ? this.#readString(chunk, at) : this.#readByte(chunk, at);
		this.#base += chunk.length;
	}

	/** Null when no list stands there. */
	finish(): FoundItems | null {
		return this.#found;
	}

	#readString(chunk: Uint8Array, from: number): number {
		let at = from;
		if (this.#escaped) {
			this.#escaped = false;
			this.#keep(chunk, at, at + 1);
			at++;
		}
		let backslash = chunk.indexOf(BACKSLASH, at);
		for (;;) {
			const quote = chunk.indexOf(QUOTE, at);
			if (backslash >= 0 && backslash < at) backslash = chunk.indexOf(BACKSLASH, at);
			if (backslash < 0 || (quote >= 0 && quote < backslash)) {
				const end = quote < 0 ? chunk.length : quote;
				this.#keep(chunk, at, end);
				if (quote < 0) return chunk.length;
				this.#endString(this.#base + quote + 1);
				return quote + 1;
			}
			this.#keep(chunk, at, Math.min(backslash + 2, chunk.length));
			at = backslash + 2;
			if (at > chunk.length) {
				this.#escaped = true;
				return chunk.length;
			}
		}
	}

	#keep(chunk: Uint8Array, from: number, to: number): void {
		if (this.#key === null) return;
		for (let i = from; i < to && this.#key.length <= KEY_BOUND; i++) this.#key.push(chunk[i]);
	}

	#endString(end: number): void {
		this.#inString = false;
		this.#solid = end;
		if (this.#key === null) return;
		this.#named = this.#key.length > KEY_BOUND ? null : keyOf(Buffer.from(this.#key).toString("utf8"));
		this.#key = null;
	}

	#readByte(chunk: Uint8Array, at: number): number {
		const byte = chunk[at];
		if (byte <= 0x20) return at + 1;
		const position = this.#base + at;
		const inObject = this.#open === null && this.#depth > 0 && this.#depth === this.#onPath;
		if (byte === COMMA) {
			if (this.#open && this.#depth === this.#onPath + 1) this.#endItem();
			if (inObject) this.#awaitsValue = false;
		} else if (byte === COLON) this.#awaitsValue = inObject;
		else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close(position);
		else {
			this.#beginItem(position);
			if (byte === QUOTE) {
				this.#inString = true;
				this.#key = inObject && !this.#awaitsValue ? [] : null;
			} else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#enter(byte, position, inObject);
		}
		this.#solid = position + 1;
		return at + 1;
	}

	#enter(byte: number, position: number, inObject: boolean): void {
		const wanted = inObject && this.#awaitsValue && this.#named === this.#path[this.#onPath - 1];
		const isLast = this.#onPath === this.#path.length;
		this.#depth++;
		if (byte === OPEN_OBJECT && (this.#depth === 1 || (wanted && !isLast))) this.#onPath = this.#depth;
		else if (byte === OPEN_LIST && wanted && isLast)
			this.#open = { start: position, end: position, starts: [], ends: [] };
		this.#awaitsValue = false;
	}

	#close(position: number): void {
		if (this.#open && this.#depth === this.#onPath + 1) {
			this.#endItem();
			this.#found = { ...this.#open, end: position + 1 };
			this.#open = null;
		} else if (!this.#open && this.#depth === this.#onPath) this.#onPath--;
		this.#depth--;
	}

	#beginItem(position: number): void {
		if (!this.#open || this.#inItem || this.#depth !== this.#onPath + 1) return;
		this.#open.starts.push(position);
		this.#inItem = true;
	}

	#endItem(): void {
		if (this.#inItem) this.#open?.ends.push(this.#solid);
		this.#inItem = false;
	}
}

function keyOf(raw: string): string | null {
	if (!raw.includes("\\")) return raw;
	try {
		return JSON.parse(`"${raw}"`) as string;
	} catch {
		return null;
	}
}
