/** Lines of a byte range of a JSONL source, in bounded memory. A range owns the lines that start in it, so ranges need not be aligned. */
import { GIANT_RECORD } from "./giant.js";
import type { ByteReader } from "./source.js";

const NEWLINE = 10;
const RETURN = 13;
/** Bytes read at a time: as many as the range has, within these bounds. */
const LEAST_READ = 1 << 16;
const MOST_READ = 1 << 20;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** One line without its line end. `bytes` is valid until the next line is asked for; null when the line is above {@link GIANT_RECORD}. */
export interface Line {
	start: number;
	end: number;
	/** Number from 1 within the range, blank lines counted. */
	number: number;
	bytes: Buffer | null;
	/** The source ends here without a line end. */
	unterminated: boolean;
}

/**
 * Yields every line that starts in `from … to - 1`, however long, blank ones included. Splits only at `\n`; drops a `\r` in front of it and a byte order
 * mark at the start of the source (nodejs#62785: U+2028 and a bare `\r` are text).
 */
export function* scanLines(
	reader: ByteReader,
	from: number,
	to: number,
	readSize = Math.min(Math.max(to - from, LEAST_READ), MOST_READ),
): Generator<Line> {
	const window = new Window(reader, readSize);
	/** Where the line starts; its text starts behind a mark. */
	let owned = from;
	if (from > 0) {
		const before = window.findNewline(from - 1, to - 1);
		if (before < 0) return;
		owned = before + 1;
	}
	let start = owned === 0 && startsWithMark(reader) ? BOM.length : owned;
	let number = 0;
	while (owned < to && start < reader.size) {
		const newline = window.findNewline(start, reader.size);
		const lineEnd = newline < 0 ? reader.size : newline;
		const line: Line = { start, end: lineEnd, number: ++number, bytes: null, unterminated: newline < 0 };
		if (lineEnd - start <= GIANT_RECORD) {
			line.bytes = window.slice(start, lineEnd);
			trim(line, line.bytes);
		}
		yield line;
		owned = lineEnd + 1;
		start = owned;
	}
}

function trim(line: Line, bytes: Buffer): void {
	const last = bytes.length - 1;
	if (line.unterminated || bytes[last] !== RETURN) return;
	line.end--;
	line.bytes = bytes.subarray(0, last);
}

function startsWithMark(reader: ByteReader): boolean {
	const first = Buffer.alloc(BOM.length);
	reader.read(first, 0);
	return first.equals(BOM);
}

/** A stretch of the source in one reused buffer, which grows only as far as the longest line that is handed out. */
class Window {
	#buffer: Buffer;
	#start = 0;
	#length = 0;
	readonly #reader: ByteReader;
	readonly #readSize: number;

	constructor(reader: ByteReader, readSize: number) {
		this.#reader = reader;
		this.#readSize = readSize;
		this.#buffer = Buffer.allocUnsafe(readSize);
	}

	/** Position of the first `\n` in `from … limit - 1`, or -1. Keeps the bytes from `from` on in the buffer while they fit a record. */
	findNewline(from: number, limit: number): number {
		if (from < this.#start || from > this.#start + this.#length) {
			this.#start = from;
			this.#length = 0;
		}
		let searched = from;
		for (;;) {
			const at = this.#buffer.subarray(0, this.#length).indexOf(NEWLINE, searched - this.#start);
			if (at >= 0) return this.#start + at < limit ? this.#start + at : -1;
			searched = this.#start + this.#length;
			if (searched >= limit || !this.#readMore(from)) return -1;
		}
	}

	/** The bytes of a line just found. */
	slice(from: number, to: number): Buffer {
		return this.#buffer.subarray(from - this.#start, to - this.#start);
	}

	/** Reads the next stretch, keeping `keepFrom` on unless that is more than a record may be. False at the end of the source. */
	#readMore(keepFrom: number): boolean {
		const next = this.#start + this.#length;
		// The bytes of a giant line are not handed out, so they need not stay.
		const kept = next - keepFrom > GIANT_RECORD ? 0 : next - keepFrom;
		const from = this.#length - kept;
		const room = this.#buffer.length - this.#length;
		if (kept + this.#readSize > this.#buffer.length) {
			// Doubling keeps the assembly of a long line linear (claude-code#24118, codesesh PR#191).
			const larger = Buffer.allocUnsafe(Math.max(kept + this.#readSize, this.#buffer.length * 2));
			this.#buffer.copy(larger, 0, from, from + kept);
			this.#buffer = larger;
			this.#start = next - kept;
			this.#length = kept;
		} else if (room < this.#readSize) {
			this.#buffer.copyWithin(0, from, from + kept);
			this.#start = next - kept;
			this.#length = kept;
		}
		return this.#fill(next);
	}

	#fill(position: number): boolean {
		const target = this.#buffer.subarray(this.#length, this.#length + this.#readSize);
		const n = this.#reader.read(target, position);
		this.#length += n;
		return n > 0;
	}
}
