/** What a source is: lines or one document, and of which format. Looks at the head only. */
import { MidcompactError } from "../errors.js";
import { DamageLog } from "./damage.js";
import { READERS } from "./formats/readers.js";
import { parseRecordHead } from "./giant.js";
import { FORMATS, type FormatName, isObject, type JsonObject } from "./record.js";
import { LineReader } from "./salvage.js";
import { scanLines } from "./scan.js";
import type { ByteReader } from "./source.js";

/** Bytes that detection looks at, from the first record on. */
const HEAD = 1 << 20;
/** Records that vote. */
export const VOTERS = 64;
/** Bytes of a large record that are looked at. */
export const HEAD_OF_RECORD = 8 << 20;
/** Bytes of lines without any record after which a file is given up. */
const GARBAGE = 8 << 20;
const SPACE = 0x20;

export type Shape = "lines" | "document";

/** `lines`: JSONL; `document`: one JSON array, or an object that holds `messages`. Errors: `not_a_session` when nothing in the head is JSON. */
export async function detectShape(reader: ByteReader): Promise<Shape> {
	const head = headText(reader);
	if (/^(\ufffd\ufffd|\{\0|\[\0)/.test(head)) {
		throw new MidcompactError(
			"not_a_session",
			"The file is UTF-16 text, not UTF-8.",
			"Convert the file to UTF-8 first.",
		);
	}
	const first = head.trimStart();
	if (first.startsWith("[")) return "document";
	if (!first.startsWith("{")) return "lines";
	const newline = first.indexOf("\n");
	const line = newline < 0 ? first : first.slice(0, newline);
	try {
		const value: unknown = JSON.parse(line);
		return isObject(value) && Array.isArray(value.messages) ? "document" : "lines";
	} catch {
		// The first line is no record by itself: the head of a document, an object too large for the window, or damage.
		const object = await parseRecordHead(reader, 0, HEAD_OF_RECORD);
		return object && "messages" in object ? "document" : "lines";
	}
}

/** The format of a JSONL source. Errors: `not_a_session`, `unknown_format`. */
export async function detectLines(reader: ByteReader): Promise<FormatName> {
	const records: JsonObject[] = [];
	const lines = new LineReader(reader, () => true, new DamageLog());
	let limit = Number.POSITIVE_INFINITY;
	let garbage = 0;
	for (const line of scanLines(reader, 0, reader.size)) {
		if (line.start > limit || records.length >= VOTERS || garbage > GARBAGE) break;
		if (line.end - line.start > HEAD_OF_RECORD) {
			const head = await parseRecordHead(reader, line.start, HEAD_OF_RECORD);
			if (head) records.push(head);
		} else {
			for (const { value } of await lines.read(line, 0)) if (records.push(value) >= VOTERS) break;
		}
		if (records.length > 0) limit = Math.min(limit, line.end + HEAD);
		// Blank lines and zeros may stand before the first record, however many; text without any record may not.
		else if (line.bytes?.some((byte) => byte > SPACE)) garbage += line.end - line.start;
	}
	return recogniseFormat(records);
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

function headText(reader: ByteReader): string {
	const bytes = Buffer.allocUnsafe(Math.min(reader.size, HEAD));
	const n = reader.read(bytes, 0);
	return bytes
		.toString("utf8", 0, n)
		.replace(/^\ufeff/, "")
		.replace(/^\0+/, "");
}
