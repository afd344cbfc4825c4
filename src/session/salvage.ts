/** What a line of a session holds: usually one record; after a crash less, more, or a mixture (RULINGS 20). */
import { isUtf8 } from "node:buffer";
import type { DamageLog } from "./damage.js";
import { parseGiantRecord } from "./giant.js";
import { BACKSLASH, CLOSE_OBJECT, OPEN_OBJECT, QUOTE } from "./json-bytes.js";
import { isObject, type JsonObject, type JsonValue } from "./record.js";
import { GIANT_RECORD } from "./rows.js";
import type { Line } from "./scan.js";
import type { ByteReader } from "./source.js";

/** A readable record and its bytes. */
export interface FoundRecord {
	value: JsonObject;
	start: number;
	end: number;
}

const NUL = 0;
/** Bytes looked at while a damaged line is searched for whole records, as a multiple of its length: enough for real splices, bounded on hostile ones. */
const SALVAGE_EFFORT = 8;
const SALVAGE_LEAST = 1 << 16;

/** Reads the records of one line and reports what is wrong with it. `recordNumber` is the number that its first record will have. */
export class LineReader {
	readonly #reader: ByteReader;
	readonly #isWhole: (value: JsonObject) => boolean;
	readonly #damage: DamageLog;

	constructor(reader: ByteReader, isWhole: (value: JsonObject) => boolean, damage: DamageLog) {
		this.#reader = reader;
		this.#isWhole = isWhole;
		this.#damage = damage;
	}

	/** The records of a line, in order. Giant lines are parsed as a stream, hence the promise; all others answer at once. */
	read(line: Line, recordNumber: number): FoundRecord[] | Promise<FoundRecord[]> {
		if (line.bytes === null) return this.#readGiant(line, recordNumber);
		const { bytes } = line;
		if (isBlank(bytes)) return [];
		const value = tryParse(bytes);
		if (value !== undefined) {
			if (!isObject(value)) {
				this.#damage.add("not_an_object", line.start, line.number, -1);
				return [];
			}
			if (!isUtf8(bytes)) this.#damage.add("invalid_utf8", line.start, line.number, recordNumber);
			return [{ value, start: line.start, end: line.end }];
		}
		const nul = bytes.indexOf(NUL);
		if (nul < 0) return this.#salvage(bytes, line.start, line, recordNumber);
		this.#damage.add("nul_run", line.start + nul, line.number, -1);
		return this.#betweenNuls(bytes, line, recordNumber);
	}

	/** Zeros that a crash left behind (claude-code#49876) separate what was written before and after. */
	#betweenNuls(bytes: Buffer, line: Line, recordNumber: number): FoundRecord[] {
		const found: FoundRecord[] = [];
		for (let at = 0; at < bytes.length; ) {
			if (bytes[at] === NUL) {
				at++;
				continue;
			}
			const nul = bytes.indexOf(NUL, at);
			const end = nul < 0 ? bytes.length : nul;
			const piece = bytes.subarray(at, end);
			const value = tryParse(piece);
			if (isObject(value)) found.push({ value, start: line.start + at, end: line.start + end });
			else if (!isBlank(piece))
				found.push(...this.#wholeRecords(piece, line.start + at, line, recordNumber + found.length).found);
			at = end;
		}
		return found;
	}

	#salvage(bytes: Buffer, base: number, line: Line, recordNumber: number): FoundRecord[] {
		const { found, unread } = this.#wholeRecords(bytes, base, line, recordNumber);
		if (unread >= 0) {
			const tornAtEnd = line.unterminated && (found.length === 0 || unread > found[found.length - 1].start);
			if (tornAtEnd) this.#damage.add("torn_tail", base + unread, line.number, -1);
			else if (found.length > 0) this.#damage.add("spliced", base + unread, line.number, -1);
			else this.#damage.add("invalid_json", base + unread, line.number, -1);
		}
		return found;
	}

	/** Whole records inside bytes that are not one; `unread` is the first byte that belongs to none, -1 for none. */
	#wholeRecords(
		bytes: Buffer,
		base: number,
		line: Line,
		recordNumber: number,
	): { found: FoundRecord[]; unread: number } {
		const found: FoundRecord[] = [];
		let unread = -1;
		let at = 0;
		/** The last thing read was a whole record, so that another one right behind it is glued to it. */
		let behindRecord = false;
		let effort = SALVAGE_LEAST + SALVAGE_EFFORT * bytes.length;
		while (at < bytes.length) {
			if (isSpace(bytes[at])) {
				at++;
				continue;
			}
			const end = bytes[at] === OPEN_OBJECT ? endOfObject(bytes, at) : -1;
			effort -= (end < 0 ? bytes.length : end) - at;
			const value = end < 0 ? undefined : tryParse(bytes.subarray(at, end));
			// At the start of the line, or right behind a whole record, an object is a record; behind unreadable bytes it must prove it.
			if (isObject(value) && (unread < 0 || this.#isWhole(value))) {
				if (!isUtf8(bytes.subarray(at, end)))
					this.#damage.add("invalid_utf8", base + at, line.number, recordNumber + found.length);
				if (behindRecord) this.#damage.add("glued", base + at, line.number, recordNumber + found.length);
				found.push({ value, start: base + at, end: base + end });
				behindRecord = true;
				at = end;
				continue;
			}
			if (unread < 0) unread = at;
			behindRecord = false;
			// An object that was readable but no record hides none inside: go on behind it.
			const next = bytes.indexOf('{"', isObject(value) ? end : at + 1);
			if (next < 0 || effort < 0) break;
			at = next;
		}
		return { found, unread };
	}

	/** A line above the limit: NUL stretches are cut out first (a sparse hole has no end of line), the rest is parsed as a stream. */
	async #readGiant(line: Line, recordNumber: number): Promise<FoundRecord[]> {
		const pieces = stretchesWithoutNul(this.#reader, line.start, line.end);
		if (pieces.firstNul >= 0) this.#damage.add("nul_run", pieces.firstNul, line.number, -1);
		const found: FoundRecord[] = [];
		for (const { start, end } of pieces.stretches) {
			if (end - start <= GIANT_RECORD) {
				const bytes = Buffer.allocUnsafe(end - start);
				this.#reader.read(bytes, start);
				const part: Line = {
					start,
					end,
					number: line.number,
					bytes,
					unterminated: line.unterminated && end === line.end,
				};
				found.push(...(await this.read(part, recordNumber + found.length)));
				continue;
			}
			const value = await tryParseGiant(this.#reader, start, end);
			if (isObject(value)) found.push({ value, start, end });
			else if (value !== undefined) this.#damage.add("not_an_object", start, line.number, -1);
			else this.#damage.add(line.unterminated ? "torn_tail" : "invalid_json", start, line.number, -1);
		}
		return found;
	}
}

function tryParse(bytes: Buffer): JsonValue | undefined {
	try {
		return JSON.parse(bytes.toString("utf8")) as JsonValue;
	} catch {
		return undefined;
	}
}

async function tryParseGiant(reader: ByteReader, start: number, end: number): Promise<JsonValue | undefined> {
	try {
		return await parseGiantRecord(reader, start, end);
	} catch {
		return undefined;
	}
}

function isSpace(byte: number): boolean {
	return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;
}

function isBlank(bytes: Buffer): boolean {
	for (const byte of bytes) if (!isSpace(byte)) return false;
	return true;
}

/** Byte after the object that starts at `from`, found by counting braces outside of strings; -1 when it does not end. */
function endOfObject(bytes: Buffer, from: number): number {
	let depth = 0;
	for (let at = from; at < bytes.length; at++) {
		const byte = bytes[at];
		if (byte === QUOTE) {
			at = endOfString(bytes, at);
			if (at < 0) return -1;
		} else if (byte === OPEN_OBJECT) {
			depth++;
		} else if (byte === CLOSE_OBJECT && --depth === 0) {
			return at + 1;
		}
	}
	return -1;
}

/** Position of the quote that closes the string opened at `open`; -1 for none. */
function endOfString(bytes: Buffer, open: number): number {
	for (let quote = bytes.indexOf(QUOTE, open + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
		let slashes = 0;
		while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
		if (slashes % 2 === 0) return quote;
	}
	return -1;
}

/** Stretches of a range that hold no NUL byte, and where the first NUL is (-1 for none). Bounded memory whatever the length. */
function stretchesWithoutNul(
	reader: ByteReader,
	from: number,
	to: number,
): { stretches: { start: number; end: number }[]; firstNul: number } {
	const stretches: { start: number; end: number }[] = [];
	const buffer = Buffer.allocUnsafe(1 << 20);
	let firstNul = -1;
	let open = -1;
	for (let position = from; position < to; ) {
		const n = reader.read(buffer.subarray(0, Math.min(buffer.length, to - position)), position);
		if (n === 0) break;
		const bytes = buffer.subarray(0, n);
		let at = 0;
		while (at < n) {
			if (open < 0) {
				while (at < n && bytes[at] === NUL) at++;
				if (at > 0 && firstNul < 0 && bytes[at - 1] === NUL) firstNul = position;
				if (at < n) open = position + at;
			}
			const nul = open < 0 ? -1 : bytes.indexOf(NUL, at);
			if (nul < 0) break;
			if (firstNul < 0) firstNul = position + nul;
			stretches.push({ start: open, end: position + nul });
			open = -1;
			at = nul;
		}
		position += n;
	}
	if (open >= 0) stretches.push({ start: open, end: to });
	return { stretches, firstNul };
}
