/**
 * Where the elements of a JSON document stand: a bare list, or the list under `messages` in an object, with the fields around it. Looks at bytes
 * only, in bounded memory; what an element says, and whether it says anything, is for whoever parses its range.
 */
import { type Column, float64 } from "./columns.js";
import { DamageLog } from "./damage.js";
import { CLOSE_LIST, CLOSE_OBJECT, JsonBytes, OPEN_LIST, OPEN_OBJECT, QUOTE, startsValue } from "./json-bytes.js";
import { firstNulIn } from "./nul-runs.js";
import { nextElement, openingsOf } from "./resync.js";
import type { ByteReader } from "./source.js";

/** Bytes of the window unless the caller names another size. */
const WINDOW = 256 * 1024;
/** Fields that are listed at most. */
const FIELDS_KEPT = 10_000;
/** Searches for a next element at most: each may read to the end of the source. */
const RESYNCS = 64;
const LIST_KEY = "messages";

const COMMA = 0x2c;
const COLON = 0x3a;

/** A key and its value; `start` is the key's opening quote, `end` the byte behind the value. */
export interface DocumentField {
	key: string;
	start: number;
	end: number;
}

export interface DocumentScan {
	/** Which list the elements are of: the document itself, its `messages`, or null when there is neither. */
	list: "root" | "messages" | null;
	/** Byte behind the bracket that opens the list, and byte of the one that closes it; -1 for none. */
	open: number;
	close: number;
	/** Per element the offsets of its first byte and of the byte behind its last. */
	elements: { start: Float64Array; end: Float64Array };
	/** The fields of the object around the list, without the list; of a key that comes twice, the last. */
	fields: DocumentField[];
	/** Findings between the elements (RULINGS 20). `line` is the number of the element, from 1; `record` is -1. */
	damage: DamageLog;
}

/**
 * Scans a whole document; the ranges do not depend on `bufferSize` (bytes). Reads block: for workers. Never throws on bad bytes.
 * A range whose brackets do not close as they opened, or that holds a NUL, is given as an element all the same, up to where the next one
 * opens: it does not parse, so the one who parses reports it, with its number. Reported here: an unclosed document (`torn_tail` at the
 * unfinished element, whose range is not given), NUL runs, and bytes between elements that do not belong there (`invalid_json`, once per gap).
 */
export function scanDocument(reader: ByteReader, options: { bufferSize?: number } = {}): DocumentScan {
	const scan = new Scan(reader, options.bufferSize ?? WINDOW);
	scan.run();
	return {
		list: scan.list,
		open: scan.open,
		close: scan.close,
		elements: { start: scan.start.take(), end: scan.end.take() },
		fields: [...scan.fields].map(([key, range]) => ({ key, ...range })),
		damage: scan.damage,
	};
}

class Scan {
	list: DocumentScan["list"] = null;
	open = -1;
	close = -1;
	start: Column<Float64Array> = float64();
	end: Column<Float64Array> = float64();
	readonly fields = new Map<string, { start: number; end: number }>();
	readonly damage = new DamageLog();
	readonly #reader: ByteReader;
	readonly #bytes: JsonBytes;
	/** Searches for a next element that are left. */
	#resyncs = RESYNCS;
	/** An element was found by its opening alone: the list it is in may turn out to be an inner one. */
	#unsure = false;
	/** One finding per gap. */
	#complained = false;

	constructor(reader: ByteReader, bufferSize: number) {
		this.#reader = reader;
		this.#bytes = new JsonBytes(reader, bufferSize);
	}

	run(): void {
		const bytes = this.#bytes;
		bytes.byteOrderMark();
		const first = this.#space();
		if (first < 0) return;
		if (first !== OPEN_LIST && first !== OPEN_OBJECT) {
			this.#complain(bytes.offset);
			return;
		}
		bytes.step();
		if (first === OPEN_LIST) {
			this.list = "root";
			this.open = bytes.offset;
		}
		let closed = first === OPEN_LIST ? this.#elements() : this.#pairs();
		while (closed && this.#space() >= 0) {
			// What looked like the end of the document was the end of an inner list of a broken element.
			const next = this.#unsure || this.#lastHoldsNul() ? this.#next(bytes.offset) : -1;
			if (next < 0) {
				this.#complain(bytes.offset);
				return;
			}
			bytes.seek(next);
			closed = this.#elements();
			if (closed && this.list === "messages") closed = this.#pairs(true);
		}
	}

	/** Reads elements up to the end of their list, whose opening is behind the cursor; false when the source ended first. */
	#elements(): boolean {
		const bytes = this.#bytes;
		const commas = new Commas();
		this.close = -1;
		for (;;) {
			const b = this.#space();
			const at = bytes.offset;
			if (b < 0) return this.#torn(at);
			if (b === CLOSE_LIST) {
				this.close = at;
				if (commas.trailing) this.#complain(commas.at);
				this.#complained = false;
				bytes.step();
				return true;
			}
			if (b === COMMA) {
				if (!commas.comma(at)) this.#complain(at);
				bytes.step();
			} else if (startsValue(b)) {
				if (!commas.value()) this.#complain(at);
				this.#complained = false;
				if (!this.#element(at, commas)) return false;
			} else {
				this.#complain(at);
				const next = this.#next(at);
				if (next < 0) bytes.step();
				else {
					bytes.seek(next);
					commas.restart();
				}
			}
		}
	}

	/** One element; false when it is the unfinished end of the source. */
	#element(at: number, commas: Commas): boolean {
		const bytes = this.#bytes;
		const verdict = bytes.value();
		let end = bytes.offset;
		if (verdict !== "whole") {
			const next = this.#next(at);
			if (next < 0 && verdict === "torn") return this.#torn(at);
			if (next >= 0) {
				end = next;
				bytes.seek(next);
				commas.restart();
			} else this.#complained = true;
		}
		this.start.push(at);
		this.end.push(end);
		return true;
	}

	/** Reads the pairs of the object around the list, whose opening brace is behind the cursor; false when the source ended first. */
	#pairs(afterValue = false): boolean {
		const bytes = this.#bytes;
		const commas = new Commas(afterValue);
		for (;;) {
			const b = this.#space();
			const at = bytes.offset;
			if (b < 0) return this.#torn(at);
			if (b === CLOSE_OBJECT) {
				if (commas.trailing) this.#complain(commas.at);
				this.#complained = false;
				bytes.step();
				return true;
			}
			if (b === COMMA) {
				if (!commas.comma(at)) this.#complain(at);
				bytes.step();
			} else if (b === QUOTE) {
				if (!commas.value()) this.#complain(at);
				this.#complained = false;
				if (!this.#pair(at)) return false;
			} else {
				if (this.#unsure) return true;
				this.#complain(at);
				bytes.step();
			}
		}
	}

	#pair(at: number): boolean {
		const bytes = this.#bytes;
		const key = bytes.key();
		if (key === undefined || this.#space() < 0) return this.#torn(at);
		if (bytes.peek() !== COLON) {
			this.#complain(at);
			return true;
		}
		bytes.step();
		const b = this.#space();
		if (b < 0) return this.#torn(at);
		if (b === OPEN_LIST && key === LIST_KEY) return this.#messages();
		const value = bytes.offset;
		const verdict = bytes.value();
		if (verdict === "torn") return this.#torn(at);
		if (verdict === "broken" || bytes.offset === value) this.#complain(at);
		else if (key === LIST_KEY) this.#forgetElements();
		else if (key !== null && (this.fields.has(key) || this.fields.size < FIELDS_KEPT))
			this.fields.set(key, { start: at, end: bytes.offset });
		return true;
	}

	#messages(): boolean {
		this.#forgetElements();
		this.list = "messages";
		this.#bytes.step();
		this.open = this.#bytes.offset;
		return this.#elements();
	}

	/** Of a key that comes twice the last counts, as everywhere in JSON. */
	#forgetElements(): void {
		this.list = null;
		this.open = -1;
		this.close = -1;
		this.start = float64();
		this.end = float64();
	}

	/** Offset of the next element by its opening, or -1; `start` is where the damaged one, or what stands between, begins. */
	#next(start: number): number {
		if (this.#resyncs === 0 || this.list === null) return -1;
		this.#resyncs--;
		const known = this.start.length > 0 ? this.start.view() : [start];
		const next = nextElement(this.#reader, openingsOf(this.#reader, known), start);
		if (next < 0) this.#resyncs = 0;
		else this.#unsure = true;
		return next;
	}

	/** Bytes of the last element were lost, and its end may have been among them. */
	#lastHoldsNul(): boolean {
		const last = this.start.length - 1;
		return last >= 0 && firstNulIn(this.#reader, this.start.at(last), this.end.at(last)) >= 0;
	}

	#space(): number {
		return this.#bytes.space((offset) => this.#add("nul_run", offset));
	}

	#torn(offset: number): false {
		this.#add("torn_tail", offset);
		const nul = firstNulIn(this.#reader, offset, this.#reader.size);
		if (nul >= 0) this.#add("nul_run", nul);
		return false;
	}

	#complain(offset: number): void {
		if (!this.#complained) this.#add("invalid_json", offset);
		this.#complained = true;
	}

	#add(kind: "torn_tail" | "nul_run" | "invalid_json", offset: number): void {
		this.damage.add(kind, offset, this.start.length + 1, -1);
	}
}

/** Whether a comma or a value may come next. */
class Commas {
	at = -1;
	#afterValue: boolean;
	#afterComma = false;

	constructor(afterValue = false) {
		this.#afterValue = afterValue;
	}

	get trailing(): boolean {
		return this.#afterComma;
	}

	comma(at: number): boolean {
		const allowed = this.#afterValue;
		this.#afterValue = false;
		this.#afterComma = true;
		this.at = at;
		return allowed;
	}

	value(): boolean {
		const allowed = !this.#afterValue;
		this.#afterValue = true;
		this.#afterComma = false;
		return allowed;
	}

	restart(): void {
		this.#afterValue = false;
		this.#afterComma = false;
	}
}
