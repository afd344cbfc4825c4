/** Stepping over JSON values byte by byte, without decoding them: a window that slides over the source, whatever its size. */
import type { ByteReader } from "./source.js";

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;

const VALUE_STARTS = Buffer.from('{["-0123456789tfn');

/** Whether a JSON value can start with this byte. */
export function startsValue(byte: number): boolean {
	return VALUE_STARTS.includes(byte);
}

/** Bytes of a string that are looked at one by one before the search for its end goes native: most strings are shorter than a call is dear. */
const NEAR = 12;
/** Nesting below this depth is counted, but no longer checked for the right kind of bracket. */
const CHECKED_DEPTH = 1 << 16;
/** Bytes of a key that are kept; a longer key is none that anybody looks for. */
const KEY_MAX = 1024;

/** `whole`: stepped over; `torn`: the source ended inside; `broken`: these bytes are no JSON value, the cursor stands at the first that cannot be. */
export type Verdict = "whole" | "torn" | "broken";

export class JsonBytes {
	readonly #reader: ByteReader;
	readonly #buffer: Buffer;
	readonly #brackets = new Uint8Array(CHECKED_DEPTH);
	/** Offset of the window's first byte in the source. */
	#base = 0;
	#length = 0;
	/** Next byte, counted in the window. */
	#at = 0;

	constructor(reader: ByteReader, bufferSize: number) {
		this.#reader = reader;
		this.#buffer = Buffer.allocUnsafe(Math.max(1, bufferSize));
	}

	/** Offset of the next byte in the source. */
	get offset(): number {
		return this.#base + this.#at;
	}

	seek(offset: number): void {
		const at = offset - this.#base;
		if (at >= 0 && at <= this.#length) {
			this.#at = at;
			return;
		}
		this.#base = offset;
		this.#at = 0;
		this.#length = 0;
	}

	/** The next byte, not yet stepped over; -1 at the end of the source. */
	peek(): number {
		return this.#at < this.#length || this.#refill() ? this.#buffer[this.#at] : -1;
	}

	step(): void {
		this.#at++;
	}

	/** Steps over the mark that some writers put in front of UTF-8. */
	byteOrderMark(): void {
		const start = this.offset;
		for (const b of [0xef, 0xbb, 0xbf]) {
			if (this.peek() !== b) {
				this.seek(start);
				return;
			}
			this.step();
		}
	}

	/** Steps over white space; the first byte behind it, -1 at the end. `onNul` is told the offset of the first byte of a run of NULs, which is stepped over too. */
	space(onNul: (offset: number) => void): number {
		let inRun = false;
		for (;;) {
			const b = this.peek();
			if (b === 0) {
				if (!inRun) onNul(this.offset);
				inRun = true;
			} else if (b === 0x20 || b === 0x0a || b === 0x0d || b === 0x09) inRun = false;
			else return b;
			this.#at++;
		}
	}

	/** Steps over the value that starts here: a container, a string, or a bare word such as a number. */
	value(): Verdict {
		const b = this.peek();
		if (b === OPEN_OBJECT || b === OPEN_LIST) return this.#container();
		if (b !== QUOTE) return this.#word();
		this.#at++;
		return this.#string() ? "whole" : "torn";
	}

	/** Steps over a string; its text, or null when it is longer than any key of interest. `undefined`: the source ended inside. */
	key(): string | null | undefined {
		const start = this.offset;
		this.#at++;
		if (!this.#string()) return undefined;
		const end = this.offset;
		if (end - start > KEY_MAX) return null;
		const bytes = Buffer.alloc(end - start);
		this.#reader.read(bytes, start);
		const text = bytes.toString("utf8");
		try {
			return String(JSON.parse(text));
		} catch {
			return text.slice(1, -1);
		}
	}

	#refill(): boolean {
		this.#base += this.#length;
		this.#at -= this.#length;
		this.#length = this.#reader.read(this.#buffer, this.#base);
		return this.#at < this.#length;
	}

	#container(): Verdict {
		const buffer = this.#buffer;
		const brackets = this.#brackets;
		let depth = 0;
		for (;;) {
			if (this.#at >= this.#length && !this.#refill()) return "torn";
			let length = this.#length;
			let at = this.#at;
			while (at < length) {
				const b = buffer[at++];
				if (b > QUOTE && b < OPEN_LIST) continue;
				if (b === QUOTE) {
					this.#at = at;
					if (!this.#string()) return "torn";
					at = this.#at;
					length = this.#length;
				} else if (b === OPEN_OBJECT || b === OPEN_LIST) {
					if (depth < CHECKED_DEPTH) brackets[depth] = b;
					depth++;
				} else if (b === CLOSE_OBJECT || b === CLOSE_LIST) {
					// In ASCII both closing brackets stand two behind their opening ones.
					if (depth <= CHECKED_DEPTH && brackets[depth - 1] !== b - 2) {
						this.#at = at - 1;
						return "broken";
					}
					if (--depth === 0) {
						this.#at = at;
						return "whole";
					}
				} else if (b === 0) {
					this.#at = at - 1;
					return "broken";
				}
			}
			this.#at = at;
		}
	}

	/** Steps behind the closing quote of a string whose opening one is behind the cursor; false when the source ends first. */
	#string(): boolean {
		const buffer = this.#buffer;
		let escaped = false;
		for (;;) {
			if (this.#at >= this.#length && !this.#refill()) return false;
			const length = this.#length;
			let at = this.#at;
			if (escaped) at++;
			escaped = false;
			while (at < length) {
				const near = Math.min(length, at + NEAR);
				while (at < near) {
					const b = buffer[at++];
					if (b === QUOTE) {
						this.#at = at;
						return true;
					}
					if (b === BACKSLASH) at++;
				}
				if (at >= length) break;
				const found = buffer.indexOf(QUOTE, at);
				const quote = found < 0 || found > length ? length : found;
				const odd = endsEscaped(buffer, at, quote);
				if (quote === length) {
					escaped = odd;
					break;
				}
				at = quote + 1;
				if (!odd) {
					this.#at = at;
					return true;
				}
			}
			// One past the end: the last byte was a backslash, and what it escapes comes with the next window.
			if (at > length) escaped = true;
			this.#at = length;
		}
	}

	#word(): Verdict {
		for (;;) {
			const b = this.peek();
			if (b < 0) return "torn";
			if (b <= 0x20 || DELIMITERS.includes(b)) return "whole";
			this.#at++;
		}
	}
}

const DELIMITERS = Buffer.from('",:[]{}');

/** Whether an odd run of backslashes stands before `end`, where the byte at `from` is not escaped. */
function endsEscaped(buffer: Buffer, from: number, end: number): boolean {
	let at = end;
	while (at > from && buffer[at - 1] === BACKSLASH) at--;
	return (end - at) % 2 === 1;
}
