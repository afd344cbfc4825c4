/** What a line of a session holds: usually one record; after a crash less, more, or a mixture (RULINGS 20). */
import { isUtf8 } from "node:buffer";
import type { DamageLog } from "./damage.js";
import { GIANT_RECORD, parseGiantRecord } from "./giant.js";
import { BACKSLASH, CLOSE_OBJECT, OPEN_OBJECT, QUOTE, startsValue } from "./json-bytes.js";
import { firstNulIn, stretchesWithoutNul } from "./nul-runs.js";
import { isObject, type JsonObject, type JsonValue } from "./record.js";
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
/** Stretches between NUL runs that are looked at in one line above 64 MiB: more are no session with holes in it, but something else. */
const GIANT_PIECES = 100_000;

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
		const effort = new Effort(line.end - line.start);
		const { bytes } = line;
		return bytes === null ? this.#readGiant(line, recordNumber, effort) : this.#read(line, bytes, recordNumber, effort);
	}

	#read(line: Line, bytes: Buffer, recordNumber: number, effort: Effort): FoundRecord[] {
		const first = bytes.findIndex((byte) => !isSpace(byte));
		if (first < 0) return [];
		// A failed parse costs as much as many a whole line, and the lines of another program's text would all fail.
		const value = startsValue(bytes[first]) ? tryParse(bytes) : undefined;
		if (value !== undefined) {
			if (!isObject(value)) {
				this.#damage.add("not_an_object", line.start, line.number, -1);
				return [];
			}
			if (!isUtf8(bytes)) this.#damage.add("invalid_utf8", line.start, line.number, recordNumber);
			return [{ value, start: line.start, end: line.end }];
		}
		const nul = bytes.indexOf(NUL);
		if (nul < 0) return this.#salvage(line, bytes, recordNumber, effort);
		this.#damage.add("nul_run", line.start + nul, line.number, -1);
		return this.#betweenNuls(line, bytes, recordNumber, effort);
	}

	/** Zeros that a crash left behind (claude-code#49876) separate what was written before and after. */
	#betweenNuls(line: Line, bytes: Buffer, recordNumber: number, effort: Effort): FoundRecord[] {
		const found: FoundRecord[] = [];
		for (let at = bytes.indexOf(OPEN_OBJECT); at >= 0; ) {
			const nul = bytes.indexOf(NUL, at);
			const end = nul < 0 ? bytes.length : nul;
			const piece = bytes.subarray(at, end);
			const whole = this.#wholeRecords(piece, line.start + at, line, recordNumber + found.length, effort);
			for (const record of whole.found) found.push(record);
			at = nul < 0 || effort.spent ? -1 : bytes.indexOf(OPEN_OBJECT, end);
		}
		return found;
	}

	#salvage(line: Line, bytes: Buffer, recordNumber: number, effort: Effort): FoundRecord[] {
		const base = line.start;
		const { found, unread } = this.#wholeRecords(bytes, base, line, recordNumber, effort);
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
		effort: Effort,
	): { found: FoundRecord[]; unread: number } {
		const found: FoundRecord[] = [];
		let unread = -1;
		let at = 0;
		/** The last thing read was a whole record, so that another one right behind it is glued to it. */
		let behindRecord = false;
		while (at < bytes.length) {
			if (isSpace(bytes[at])) {
				at++;
				continue;
			}
			const opens = bytes[at] === OPEN_OBJECT;
			const end = opens ? endOfObject(bytes, at) : -1;
			if (opens) effort.spend((end < 0 ? bytes.length : end) - at);
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
			if (next < 0 || effort.spent) break;
			at = next;
		}
		return { found, unread };
	}

	/** A line above the limit: NUL stretches are cut out first (a sparse hole has no end of line), the rest is parsed as a stream. */
	async #readGiant(line: Line, recordNumber: number, effort: Effort): Promise<FoundRecord[]> {
		const nul = firstNulIn(this.#reader, line.start, line.end);
		if (nul >= 0) this.#damage.add("nul_run", nul, line.number, -1);
		const found: FoundRecord[] = [];
		let pieces = 0;
		for (const { start, end } of stretchesWithoutNul(this.#reader, line.start, line.end)) {
			if (++pieces > GIANT_PIECES) {
				this.#damage.add("invalid_json", start, line.number, -1);
				break;
			}
			const unterminated = line.unterminated && end === line.end;
			const piece = { start, end, number: line.number, bytes: null, unterminated };
			for (const record of await this.#readPiece(piece, recordNumber + found.length, effort)) found.push(record);
		}
		return found;
	}

	/** A stretch of a giant line that holds no NUL, as a line of its own. */
	async #readPiece(piece: Line, recordNumber: number, effort: Effort): Promise<FoundRecord[]> {
		const { start, end, number, unterminated } = piece;
		if (end - start <= GIANT_RECORD) {
			const bytes = Buffer.allocUnsafe(end - start);
			this.#reader.read(bytes, start);
			return this.#read(piece, bytes, recordNumber, effort);
		}
		const value = await tryParseGiant(this.#reader, start, end);
		if (isObject(value)) return [{ value, start, end }];
		if (value !== undefined) this.#damage.add("not_an_object", start, number, -1);
		else this.#damage.add(unterminated ? "torn_tail" : "invalid_json", start, number, -1);
		return [];
	}
}

/** What the search of one damaged line may still cost. */
class Effort {
	#left: number;

	constructor(bytes: number) {
		this.#left = SALVAGE_LEAST + SALVAGE_EFFORT * bytes;
	}

	spend(bytes: number): void {
		this.#left -= bytes;
	}

	get spent(): boolean {
		return this.#left < 0;
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
	} catch (thrown) {
		if (!(thrown instanceof SyntaxError)) throw thrown;
		return undefined;
	}
}

function isSpace(byte: number): boolean {
	return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;
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
