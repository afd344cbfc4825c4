/**
 * The content of an archive: the header as a line of JSON, a line with the header's hash, then for every record a line `{"bytes":n}` and its n bytes as they stood in the session, and for every row
 * of the range a line `{"atom":k,"item":i}`, the row being that item of the record above it (0: the record itself). For workers: everything blocks.
 */
import { createHash } from "node:crypto";
import type { AtomPlaces } from "../search/places.js";
import type { FormatReader } from "../session/formats/format.js";
import { readerOf } from "../session/formats/readers.js";
import { emptyFacts, isObject, type JsonObject, type JsonValue, type RecordFacts } from "../session/record.js";
import { type Parsed, parseAgain, RecordReader, type RowSource, readField } from "../session/rows.js";
import type { ByteReader } from "../session/source.js";
import { type ArchiveHeader, archiveDamaged, asHeader } from "./archive-file.js";
import type { MemberWriter } from "./archive-members.js";

/** Bytes that are copied at once. */
const COPY = 1 << 20;
/** Bytes of a header that are read, most of them its summary. */
const HEADER_MAX = 64 << 20;
/** Bytes of any other line. */
const LINE_MAX = 256;
const NEWLINE = 10;

/** Writes the whole content. `pause` is called between pieces of at most 1 MiB, and may throw. Errors: `unreadable` when the session changed. */
export function writeContent(
	out: MemberWriter,
	header: ArchiveHeader,
	from: RowSource,
	{ places, atomStart }: AtomPlaces,
	pause: () => void,
): void {
	const first = line(header);
	out.put(first);
	out.put(line({ header_sha256: hashOf(first) }));
	const sources = new RecordReader(from);
	try {
		let atom = 0;
		for (let i = 0; i < places.start.length; i++) {
			while (i >= atomStart[atom + 1]) atom++;
			const again = i > 0 && places.start[i] === places.start[i - 1] && places.source[i] === places.source[i - 1];
			if (!again) putRecord(out, sources.bytesOf(places.source[i]), places.start[i], places.end[i], pause);
			out.put(line({ atom, item: places.item[i] }));
		}
	} finally {
		sources.close();
	}
}

function putRecord(out: MemberWriter, reader: ByteReader, start: number, end: number, pause: () => void): void {
	out.put(line({ bytes: end - start }));
	const buffer = Buffer.allocUnsafe(Math.min(COPY, end - start));
	for (let at = start; at < end; at += COPY) {
		pause();
		const part = buffer.subarray(0, Math.min(COPY, end - at));
		out.put(part.subarray(0, reader.read(part, at)));
	}
	out.put(Buffer.of(NEWLINE));
}

/** The header, checked by its own hash, and where the records start. Errors: `archive_damaged`. */
export function readHeader(reader: ByteReader, block: string): { header: ArchiveHeader; end: number } {
	const first = lineAt(reader, 0, HEADER_MAX);
	const second = first && lineAt(reader, first.end, LINE_MAX);
	if (!first || !second || second.value?.header_sha256 !== hashOf(first.bytes))
		throw archiveDamaged(block, "its header is not what was written");
	const header = asHeader(first.value);
	if (header?.block !== block) throw archiveDamaged(block, "its header is none that this version knows");
	return { header, end: second.end };
}

/**
 * Facts of every row of the wanted atoms, in order, as the format reads them; one record is in memory at a time, and those of other atoms are passed over. Errors:
 * `archive_damaged`.
 */
export async function* archivedRows(
	reader: ByteReader,
	{ header, end }: ReturnType<typeof readHeader>,
	wanted: (atom: number) => boolean,
): AsyncGenerator<{ atom: number; facts: RecordFacts }> {
	const format = readerOf(header.format);
	const { size } = reader;
	let record: ArchivedRecord | null = null;
	for (let at = end; at < size; ) {
		const found = lineAt(reader, at, LINE_MAX);
		if (!found?.value) throw archiveDamaged(header.block, "its records are not what was written");
		const { bytes, atom, item } = found.value;
		at = found.end;
		if (typeof bytes === "number") {
			record = new ArchivedRecord(reader, format, at, at + bytes);
			at += bytes + 1;
		} else if (record && typeof atom === "number" && typeof item === "number") {
			if (wanted(atom)) yield { atom, facts: await record.factsOf(item, header.block) };
		} else throw archiveDamaged(header.block, "its records are not what was written");
	}
}

/** A record that is parsed when the first of its rows is asked for. */
class ArchivedRecord {
	readonly #reader: ByteReader;
	readonly #format: FormatReader;
	readonly #start: number;
	readonly #end: number;
	#parsed: (Parsed & { value: JsonObject }) | null = null;
	#items: RecordFacts[] | null = null;

	constructor(reader: ByteReader, format: FormatReader, start: number, end: number) {
		this.#reader = reader;
		this.#format = format;
		this.#start = start;
		this.#end = end;
	}

	async factsOf(item: number, block: string): Promise<RecordFacts> {
		this.#parsed ??= await parseAgain(this.#reader, this.#start, this.#end).catch((cause: unknown) => {
			throw archiveDamaged(block, "a record in it does not read as one", cause);
		});
		const { value, field } = this.#parsed;
		if (item === 0) return (field ? readField(this.#format, value) : this.#format.read(value)) ?? emptyFacts(0);
		this.#items ??= this.#format.items?.(value) ?? [];
		return this.#items[item - 1] ?? emptyFacts(0);
	}
}

function line(value: object): Buffer {
	return Buffer.from(`${JSON.stringify(value)}\n`);
}

function hashOf(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** The line at a position, its line end included; null when it is longer than `most` bytes or has no end. `value` is null for one that is no object. */
function lineAt(
	reader: ByteReader,
	position: number,
	most: number,
): { bytes: Buffer; value: JsonObject | null; end: number } | null {
	for (let length = Math.min(LINE_MAX, most); ; length = Math.min(length * 4, most)) {
		const buffer = Buffer.allocUnsafe(length);
		const bytes = buffer.subarray(0, reader.read(buffer, position));
		const newline = bytes.indexOf(NEWLINE);
		if (newline >= 0) {
			const found = bytes.subarray(0, newline + 1);
			return { bytes: found, value: objectIn(found), end: position + found.length };
		}
		if (bytes.length < length || length === most) return null;
	}
}

function objectIn(bytes: Buffer): JsonObject | null {
	try {
		const value = JSON.parse(bytes.toString("utf8")) as JsonValue;
		return isObject(value) ? value : null;
	} catch {
		return null;
	}
}
