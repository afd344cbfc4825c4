/** Worker task: writes a stretch of a fork behind what stands in its file already. */
import { isUtf8 } from "node:buffer";
import { closeSync, openSync, writeSync } from "node:fs";
import { asMidcompactError, encodeThreadError, MidcompactError } from "../src/errors.js";
import {
	type FieldEdit,
	type ForkCleaner,
	type ForkItem,
	type ForkPiece,
	type Gap,
	LINES_BEFORE,
} from "../src/session/fork.js";
import { CLEANERS } from "../src/session/formats/cleaners.js";
import { GIANT_RECORD } from "../src/session/giant.js";
import { jsonText } from "../src/session/json-text.js";
import { type FoundItems, ItemFinder } from "../src/session/list-items.js";
import { isObject, type JsonObject, type JsonValue } from "../src/session/record.js";
import type { RowSource } from "../src/session/rows.js";
import { type ByteReader, openReader } from "../src/session/source.js";
import { FieldFinder, type KnownEdit, spliced } from "../src/session/splice.js";

export interface ForkTask {
	from: RowSource;
	/** File that exists, with nothing behind byte `at`. */
	target: string;
	shape: "lines" | "document";
	/** Bytes and records that stand in the file already. */
	at: number;
	lines: number;
	pieces: readonly ForkPiece[];
}

export interface ForkResult {
	at: number;
	lines: number;
	/** Records from which something was taken out, and records of which nothing was left. */
	cleaned: number;
	dropped: number;
}

/** Bytes of one write, and of one read of bytes that are only copied. */
const WRITE = 1 << 20;
const NEWLINE = 10;
const GAPS: Readonly<Record<Gap["separator"], RegExp>> = {
	",": /^[ \t\r\n]*,[ \t\r\n]*$/,
	"\n": /^[ \t\r]*\n[ \t\r\n]*$/,
	"": /^(?:\xef\xbb\xbf)?[ \t\r\n]*$/,
};
/** Bytes between two records that are looked at: more are no white space of a document. */
const GAP = 1 << 12;

/** Errors: `unreadable` when the session changed; a failing write is thrown as the system gives it. */
export default async function fork(task: ForkTask): Promise<ForkResult> {
	try {
		const writer = new ForkFile(task);
		try {
			for (const piece of task.pieces) writer.write(piece);
			return writer.end();
		} finally {
			writer.close();
		}
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

class ForkFile {
	readonly #task: ForkTask;
	readonly #cleaner: ForkCleaner;
	readonly #fd: number;
	readonly #readers = new Map<number, ByteReader>();
	#waiting: Buffer[] = [];
	#waitingBytes = 0;
	#at: number;
	#lines: number;
	#cleaned = 0;
	#dropped = 0;

	constructor(task: ForkTask) {
		this.#task = task;
		this.#cleaner = CLEANERS[task.from.format];
		this.#at = task.at;
		this.#lines = task.lines;
		this.#fd = openSync(task.target, "r+");
	}

	write(piece: ForkPiece): void {
		if (piece.kind === "raw") this.#copy(piece.source, piece.start, piece.end);
		else if (piece.kind === "gap") this.#putGap(piece);
		else if (piece.kind === "left_out") this.#dropped++;
		else if (piece.kind === "text") this.#put(Buffer.from(piece.text));
		else if (piece.kind === "record") this.#writeRecord(piece);
		else if (piece.kind === "between") this.#writeBetween(piece);
		else if (piece.kind === "list") this.#writeList(piece);
		else this.#putRecord(spliced(Buffer.from(piece.json), this.#known(piece.edits ?? [])), piece.before);
	}

	end(): ForkResult {
		this.#flush();
		return { at: this.#at, lines: this.#lines, cleaned: this.#cleaned, dropped: this.#dropped };
	}

	close(): void {
		for (const reader of this.#readers.values()) reader.close();
		closeSync(this.#fd);
	}

	#writeRecord(piece: Extract<ForkPiece, { kind: "record" }>): void {
		const known = this.#known(piece.edits);
		if (piece.end - piece.start > GIANT_RECORD) this.#writeGiant(piece, known);
		else this.#writeCleaned(piece, known);
	}

	#writeCleaned({ source, start, end, before }: Extract<ForkPiece, { kind: "record" }>, known: KnownEdit[]): void {
		const bytes = this.#cleanedBytes(source, start, end);
		if (bytes) this.#putRecord(spliced(bytes, known), before);
	}

	/** A record, or an item of one, as it may stand in a fork; null when nothing is left of it. */
	#cleanedBytes(source: number, start: number, end: number): Buffer | null {
		const raw = this.#read(source, start, end);
		const text = raw.toString("utf8");
		const value = parsedAgain(text, start);
		const cleaned = isObject(value) ? this.#cleaner.clean(value) : value;
		if (cleaned === null) {
			this.#dropped++;
			return null;
		}
		// Bytes that are no UTF-8 are written as they are read: a host may refuse them.
		if (cleaned === value) return isUtf8(raw) ? raw : Buffer.from(text);
		this.#cleaned++;
		return Buffer.from(jsonText(cleaned));
	}

	/** A record that is not held in memory as a whole: its fields are changed, nothing is cleaned. */
	#writeGiant({ source, start, end, before }: Extract<ForkPiece, { kind: "record" }>, edits: KnownEdit[]): void {
		const finder = new FieldFinder(edits);
		for (let at = start; at < end; at += WRITE) finder.add(this.#read(source, at, Math.min(at + WRITE, end)));
		this.#putBefore(before);
		let at = start;
		for (const cut of finder.finish()) {
			this.#copy(source, at, start + cut.start);
			this.#put(Buffer.from(cut.text));
			at = start + cut.end;
		}
		this.#copy(source, at, end);
		this.#endRecord();
	}

	/** Item by item: no more than one of them is in memory. */
	#writeList({ source, start, end, list, items, edits }: Extract<ForkPiece, { kind: "list" }>): void {
		const fields = new FieldFinder(this.#known(edits));
		const finder = new ItemFinder(list);
		for (let at = start; at < end; at += WRITE) {
			const chunk = this.#read(source, at, Math.min(at + WRITE, end));
			fields.add(chunk);
			finder.add(chunk);
		}
		const found = finder.finish();
		const cuts = [
			...fields.finish().map((cut) => ({ ...cut, isList: false })),
			...(found ? [{ start: found.start, end: found.end, text: "", isList: true }] : []),
		].sort((a, b) => a.start - b.start || a.end - b.end);
		let at = start;
		for (const cut of cuts) {
			this.#copy(source, at, start + cut.start);
			if (cut.isList && found) this.#putItems(source, start, found, items);
			else this.#put(Buffer.from(cut.text));
			at = start + cut.end;
		}
		this.#copy(source, at, end);
		this.#endRecord();
	}

	#putItems(source: number, base: number, { starts, ends }: FoundItems, items: readonly ForkItem[]): void {
		let before = "[";
		const put = (bytes: Buffer | null) => {
			if (bytes === null) return;
			this.#put(Buffer.from(before));
			this.#put(bytes);
			before = ",";
		};
		for (const item of items) {
			if ("json" in item) put(Buffer.from(item.json));
			else for (let k = item.from; k < item.to; k++) put(this.#cleanedBytes(source, base + starts[k], base + ends[k]));
		}
		this.#put(Buffer.from(before === "[" ? "[]" : "]"));
	}

	#writeBetween({ source, start, end, edits = [] }: Extract<ForkPiece, { kind: "between" }>): void {
		for (const record of this.#linesOf(source, start, end)) {
			const carried = this.#cleaner.carry?.(record) ?? null;
			if (carried === null) continue;
			const bytes = Buffer.from(jsonText(carried.record));
			this.#putRecord(spliced(bytes, this.#known([...carried.edits, ...edits])));
		}
	}

	/** The lines in a range of bytes that are objects; what is damaged or larger than any line that is carried is passed over. */
	*#linesOf(source: number, start: number, end: number): Generator<JsonObject> {
		let line: Buffer[] = [];
		let bytes = 0;
		for (let at = start; at < end; at += WRITE) {
			const chunk = this.#read(source, at, Math.min(at + WRITE, end));
			let from = 0;
			for (;;) {
				const newline = chunk.indexOf(NEWLINE, from);
				const part = chunk.subarray(from, newline < 0 ? chunk.length : newline);
				bytes += part.length;
				if (bytes <= GIANT_RECORD) line.push(part);
				if (newline < 0) break;
				const record = bytes <= GIANT_RECORD ? objectIn(line) : null;
				if (record) yield record;
				line = [];
				bytes = 0;
				from = newline + 1;
			}
		}
		const record = bytes > 0 && bytes <= GIANT_RECORD ? objectIn(line) : null;
		if (record) yield record;
	}

	#known(edits: readonly FieldEdit[]): KnownEdit[] {
		// The sentinel has crossed a thread: it is an object of its form, no longer the same one.
		return edits.map(({ path, value, add }) => {
			const isLines = typeof value === "object" && value !== null && value.linesBefore === LINES_BEFORE.linesBefore;
			return { path, value: isLines ? String(this.#lines) : (value as string | null), add };
		});
	}

	#putRecord(bytes: Buffer, before?: string | Gap): void {
		this.#putBefore(before);
		this.#put(bytes);
		this.#endRecord();
	}

	/** What stands between two elements does not stand in front of the first. */
	#putBefore(before?: string | Gap): void {
		if (before === undefined || this.#lines === 0) return;
		if (typeof before === "string") this.#put(Buffer.from(before));
		else this.#putGap(before);
	}

	#putGap({ source, start, end, separator }: Gap): void {
		const bytes = end - start > GAP ? null : this.#read(source, start, end);
		this.#put(bytes && GAPS[separator].test(bytes.toString("latin1")) ? bytes : Buffer.from(separator));
	}

	#endRecord(): void {
		if (this.#task.shape === "lines") this.#put(Buffer.from("\n"));
		this.#lines++;
	}

	#copy(source: number, start: number, end: number): void {
		for (let at = start; at < end; at += WRITE) this.#put(this.#read(source, at, Math.min(at + WRITE, end)));
	}

	#read(source: number, start: number, end: number): Buffer {
		let reader = this.#readers.get(source);
		if (!reader) {
			reader = openReader(this.#task.from.sources[source]);
			this.#readers.set(source, reader);
		}
		const bytes = Buffer.allocUnsafe(end - start);
		return bytes.subarray(0, reader.read(bytes, start));
	}

	#put(bytes: Buffer): void {
		this.#waiting.push(bytes);
		this.#waitingBytes += bytes.length;
		if (this.#waitingBytes >= WRITE) this.#flush();
	}

	#flush(): void {
		const bytes = this.#waiting.length === 1 ? this.#waiting[0] : Buffer.concat(this.#waiting);
		this.#waiting = [];
		this.#waitingBytes = 0;
		for (let done = 0; done < bytes.length; ) {
			const n = writeSync(this.#fd, bytes, done, bytes.length - done, this.#at);
			done += n;
			this.#at += n;
		}
	}
}

function parsedAgain(text: string, start: number): JsonValue {
	try {
		return JSON.parse(text) as JsonValue;
	} catch {
		throw new MidcompactError(
			"unreadable",
			`The session file changed: the record at byte ${start} no longer reads as it did.`,
		);
	}
}

function objectIn(parts: readonly Buffer[]): JsonObject | null {
	try {
		const value = JSON.parse(Buffer.concat(parts).toString("utf8")) as JsonValue;
		return isObject(value) ? value : null;
	} catch {
		return null;
	}
}
