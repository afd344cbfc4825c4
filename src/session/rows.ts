/** Reading rows back: a list of places in, the facts of each out, one record in memory at a time. Runs in workers. */
import { MidcompactError } from "../errors.js";
import { readerOf } from "./formats/readers.js";
import { parseGiantRecord } from "./giant.js";
import { emptyFacts, type FormatName, isObject, type JsonValue, type RecordFacts } from "./record.js";
import { type ByteReader, openReader, type SourceSpec } from "./source.js";

/** Records above this many bytes are never held as a whole: see `giant.ts`. */
export const GIANT_RECORD = 64 * 1024 * 1024;

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

/** The record read last, kept because the items of one record follow each other. */
interface LoadedRecord {
	source: number;
	start: number;
	value: JsonValue;
	items: RecordFacts[] | null;
}

/** Parses the bytes of one record; null when they are no JSON object. */
export async function parseRecord(reader: ByteReader, start: number, end: number): Promise<JsonValue> {
	if (end - start > GIANT_RECORD) return parseGiantRecord(reader, start, end);
	const bytes = Buffer.allocUnsafe(end - start);
	const n = reader.read(bytes, start);
	let text = bytes.toString("utf8", 0, n);
	// A field of a document is stored as the range of `"key": value`.
	if (text.startsWith('"')) text = `{${text}}`;
	return JSON.parse(text) as JsonValue;
}

/**
 * Yields the facts of every place, in order. A record whose bytes no longer parse throws `unreadable`: the file changed under the session.
 */
export async function* readRows(
	from: RowSource,
	places: RowPlaces,
): AsyncGenerator<{ index: number; facts: RecordFacts }> {
	const format = readerOf(from.format);
	const readers = new Map<number, ByteReader>();
	let last: LoadedRecord | null = null;
	try {
		for (let index = 0; index < places.start.length; index++) {
			const source = places.source[index];
			const start = places.start[index];
			const end = places.end[index];
			let reader = readers.get(source);
			if (!reader) {
				reader = openReader(from.sources[source]);
				readers.set(source, reader);
			}
			const loaded: LoadedRecord =
				last?.source === source && last.start === start
					? last
					: { source, start, value: await parseOrComplain(reader, start, end), items: null };
			last = loaded;
			const { value } = loaded;
			if (!isObject(value)) throw changed(start);
			const item = places.item[index];
			if (item > 0) {
				loaded.items ??= format.items?.(value) ?? [];
				yield { index, facts: loaded.items[item - 1] ?? emptyFacts(0) };
			} else {
				yield { index, facts: readValue(from.format, value) ?? emptyFacts(0) };
			}
		}
	} finally {
		for (const reader of readers.values()) reader.close();
	}
}

/** Facts of a parsed record, or of a `{key: value}` made from a field of a document. */
function readValue(name: FormatName, value: { [key: string]: JsonValue | undefined }): RecordFacts | null {
	const format = readerOf(name);
	const keys = Object.keys(value);
	if (keys.length === 1 && format.field) {
		const field = format.field(keys[0], value[keys[0]] ?? null);
		if (field) return field;
	}
	return format.read(value);
}

async function parseOrComplain(reader: ByteReader, start: number, end: number): Promise<JsonValue> {
	try {
		return await parseRecord(reader, start, end);
	} catch (cause) {
		if (cause instanceof MidcompactError) throw cause;
		throw changed(start);
	}
}

function changed(start: number): MidcompactError {
	return new MidcompactError(
		"unreadable",
		`The session file changed: the record at byte ${start} no longer reads as it did.`,
	);
}
