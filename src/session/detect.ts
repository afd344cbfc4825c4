/** What a source is: lines or one document, and of which format. Looks at the head only. */
import { MidcompactError } from "../errors.js";
import { DamageLog } from "./damage.js";
import { READERS, readerOf } from "./formats/readers.js";
import { parseRecordHead } from "./giant.js";
import { firstText, firstTextIn } from "./nul-runs.js";
import { FORMATS, type FormatName, isObject, type JsonObject } from "./record.js";
import { LineReader } from "./salvage.js";
import { type Line, scanLines } from "./scan.js";
import type { ByteReader } from "./source.js";

/** Bytes that detection looks at, from the first record on. */
const HEAD = 1 << 20;
/** Records that vote. */
export const VOTERS = 64;
/** Bytes of a large record that are looked at. */
export const HEAD_OF_RECORD = 8 << 20;
/** Bytes of lines without any record after which a file is given up. */
const GARBAGE = 8 << 20;
/** UTF-16 units at the start of a file that tell it from UTF-8; fewer will do behind a byte order mark. */
const UTF16_UNITS = 8;
const UTF16_MARKS = ["fffe", "feff"];
const UTF8_MARK = "efbbbf";

export type Shape = "lines" | "document";

/** `lines`: JSONL; `document`: one JSON array, or an object that holds `messages`. Errors: `not_a_session` for UTF-16. */
export async function detectShape(reader: ByteReader): Promise<Shape> {
	if (isUtf16(bytesAt(reader, 0, (UTF16_UNITS + 1) * 2))) {
		throw new MidcompactError(
			"not_a_session",
			"The file is UTF-16 text, not UTF-8.",
			"Convert the file to UTF-8 first.",
		);
	}
	const mark = bytesAt(reader, 0, 3).toString("hex") === UTF8_MARK ? 3 : 0;
	const first = firstTextIn(reader, mark, reader.size);
	if (first < 0) return "lines";
	const head = bytesAt(reader, first, HEAD).toString("utf8");
	if (head.startsWith("[")) return "document";
	if (!head.startsWith("{")) return "lines";
	const newline = head.indexOf("\n");
	try {
		const value: unknown = JSON.parse(newline < 0 ? head : head.slice(0, newline));
		return isObject(value) && Array.isArray(value.messages) ? "document" : "lines";
	} catch {
		// The first line is no record by itself: the head of a document, an object too large for the window, or damage.
		const object = await parseRecordHead(reader, first, HEAD_OF_RECORD);
		return object && "messages" in object ? "document" : "lines";
	}
}

/** The first records of a JSONL source; none where its start is no session. */
export async function firstOfLines(reader: ByteReader): Promise<JsonObject[]> {
	const records: JsonObject[] = [];
	const lines = new LineReader(reader, () => true, new DamageLog());
	let limit = Number.POSITIVE_INFINITY;
	let garbage = 0;
	for (const line of scanLines(reader, 0, reader.size)) {
		if (line.start > limit || records.length >= VOTERS || garbage > GARBAGE) break;
		const found = await firstRecords(reader, lines, line);
		for (const record of found.slice(0, VOTERS - records.length)) records.push(record);
		if (records.length > 0) limit = Math.min(limit, line.end + HEAD);
		// Blank lines and zeros may stand before the first record, however many; text without any record may not.
		else garbage += textBytes(reader, line);
	}
	return records;
}

/** The records of a line; of one that is too large to be looked at as a whole, the head. */
async function firstRecords(reader: ByteReader, lines: LineReader, line: Line): Promise<JsonObject[]> {
	if (line.end - line.start <= HEAD_OF_RECORD) return (await lines.read(line, 0)).map(({ value }) => value);
	const first = firstTextIn(reader, line.start, line.end);
	const head = first < 0 ? null : await parseRecordHead(reader, first, Math.min(HEAD_OF_RECORD, line.end - first));
	return head ? [head] : [];
}

/** Bytes of a line from its first text on. */
function textBytes(reader: ByteReader, line: Line): number {
	if (line.bytes === null) {
		const first = firstTextIn(reader, line.start, line.end);
		return first < 0 ? 0 : line.end - first;
	}
	const first = firstText(line.bytes);
	return first < 0 ? 0 : line.bytes.length - first;
}

/** The format with the most votes. Errors: `not_a_session` without records, `unknown_format` when none recognises any. */
export function recogniseFormat(records: readonly JsonObject[]): FormatName {
	if (records.length === 0) {
		throw new MidcompactError("not_a_session", "Nothing at the start of the file reads as a JSON object.");
	}
	let best: FormatName | null = null;
	let most = 0;
	for (const format of READERS) {
		const votes = records.reduce((sum, record) => sum + format.recognise(record), 0);
		if (votes > most) {
			most = votes;
			best = format.name;
		}
	}
	if (best === null) {
		throw new MidcompactError(
			"unknown_format",
			`The records are of none of the known session formats (looked for ${FORMATS.join(", ")}).`,
		);
	}
	return best;
}

/** The session id that the first records give; null where the format has none, or they do not say. */
export function sessionIn(records: readonly JsonObject[], format: FormatName): string | null {
	const { session } = readerOf(format);
	if (!session) return null;
	for (const record of records) {
		const id = session(record);
		if (id !== null) return id;
	}
	return null;
}

/** Whether these first bytes are ASCII in UTF-16, as the head of any session would be. */
function isUtf16(head: Buffer): boolean {
	const marked = UTF16_MARKS.includes(head.toString("hex", 0, 2));
	const units = head.subarray(marked ? 2 : 0);
	if (units.length < (marked ? 2 : UTF16_UNITS * 2)) return false;
	const zeros = units[0] === 0 ? 0 : 1;
	return units.every((byte, at) => (byte === 0) === (at % 2 === zeros));
}

function bytesAt(reader: ByteReader, offset: number, most: number): Buffer {
	const bytes = Buffer.allocUnsafe(Math.max(Math.min(reader.size - offset, most), 0));
	return bytes.subarray(0, reader.read(bytes, offset));
}
