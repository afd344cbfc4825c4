/** Reading rows back: a list of places in, the facts of each out, one record in memory at a time. Runs in workers. */
import { MidcompactError } from "../errors.js";
import type { FormatReader } from "./formats/format.js";
import { readerOf } from "./formats/readers.js";
import { GIANT_RECORD, parseGiantRecord } from "./giant.js";
import { QUOTE } from "./json-bytes.js";
import { emptyFacts, type FormatName, isObject, type JsonObject, type JsonValue, type RecordFacts } from "./record.js";
import { type ByteReader, openReader, type SourceSpec } from "./source.js";

/** Places of rows as columns that cross thread borders; `item` as in the table. */
export interface RowPlaces {
	source: Uint8Array;
	start: Float64Array;
	end: Float64Array;
	item: Uint32Array;
}

/** What a worker needs to read rows of a session. */
export interface RowSource {
	sources: SourceSpec[];
	format: FormatName;
}

/** A parsed record; `field`: the bytes were a field of a document, `"key": value`, and the value is `{key: value}`. */
export interface Parsed {
	value: JsonValue;
	field: boolean;
}

interface ParsedObject extends Parsed {
	value: JsonObject;
}

/** The record read last, kept because the items of one record follow each other. */
interface LoadedRecord {
	source: number;
	start: number;
	parsed: ParsedObject;
}

/** Reads records of a session again, one in memory at a time. Close it: it holds files open. */
export class RecordReader {
	readonly #from: RowSource;
	readonly #readers = new Map<number, ByteReader>();
	#last: LoadedRecord | null = null;

	constructor(from: RowSource) {
		this.#from = from;
	}

	/** The bytes of a source. Errors: `unreadable` when it went away, was replaced or became shorter. */
	bytesOf(source: number): ByteReader {
		let reader = this.#readers.get(source);
		if (!reader) {
			reader = openReader(this.#from.sources[source]);
			this.#readers.set(source, reader);
		}
		return reader;
	}

	/** The record at a place; the same object as before where it is the same one. Errors: `unreadable` when it no longer reads as an object. */
	async at(places: RowPlaces, index: number): Promise<ParsedObject> {
		const source = places.source[index];
		const start = places.start[index];
		if (this.#last?.source !== source || this.#last.start !== start) {
			const parsed = await parseAgain(this.bytesOf(source), start, places.end[index]);
			this.#last = { source, start, parsed };
		}
		return this.#last.parsed;
	}

	close(): void {
		for (const reader of this.#readers.values()) reader.close();
		this.#readers.clear();
	}
}

/** Parses the bytes of one value, or of one field, which starts with the quote of its key. Errors: SyntaxError. Reads block. */
export async function parseRecord(reader: ByteReader, start: number, end: number): Promise<Parsed> {
	if (end - start > GIANT_RECORD) {
		const first = Buffer.alloc(1);
		reader.read(first, start);
		return { value: await parseGiantRecord(reader, start, end), field: first[0] === QUOTE };
	}
	const bytes = Buffer.allocUnsafe(end - start);
	const n = reader.read(bytes, start);
	const text = bytes.toString("utf8", 0, n);
	if (bytes[0] === QUOTE) {
		try {
			return { value: JSON.parse(`{${text}}`) as JsonValue, field: true };
		} catch {
			// A string, or damage.
		}
	}
	return { value: JSON.parse(text) as JsonValue, field: false };
}

/**
 * Yields the facts of every place, in order. A record whose bytes no longer parse throws `unreadable`: the file changed under the session.
 */
export async function* readRows(
	from: RowSource,
	places: RowPlaces,
): AsyncGenerator<{ index: number; facts: RecordFacts }> {
	const format = readerOf(from.format);
	const reader = new RecordReader(from);
	let expanded = null as { value: JsonObject; items: RecordFacts[] } | null;
	try {
		for (let index = 0; index < places.start.length; index++) {
			const { value, field } = await reader.at(places, index);
			const item = places.item[index];
			if (item > 0) {
				if (expanded?.value !== value) expanded = { value, items: format.items?.(value) ?? [] };
				yield { index, facts: expanded.items[item - 1] ?? emptyFacts(0) };
			} else {
				yield { index, facts: (field ? readField(format, value) : format.read(value)) ?? emptyFacts(0) };
			}
		}
	} finally {
		reader.close();
	}
}

/** Facts of a field of a document, given as `{key: value}`. */
export function readField(format: FormatReader, value: JsonObject): RecordFacts | null {
	const [key] = Object.keys(value);
	return format.field?.(key, value[key] ?? null) ?? null;
}

/** Parses a record that was an object before. Errors: `unreadable` when it is none now. */
export async function parseAgain(reader: ByteReader, start: number, end: number): Promise<ParsedObject> {
	const parsed = await parseRecord(reader, start, end).catch((thrown: unknown) => {
		if (thrown instanceof SyntaxError) return null;
		throw thrown;
	});
	if (parsed && isObject(parsed.value)) return { value: parsed.value, field: parsed.field };
	throw new MidcompactError(
		"unreadable",
		`The session file changed: the record at byte ${start} no longer reads as it did.`,
	);
}
