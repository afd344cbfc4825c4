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
const VOTERS = 64;
/** Bytes of a first record larger than the head that are looked at. */
const GIANT_HEAD = 8 << 20;

export type Shape = "lines" | "document";

/** `lines`: JSONL; `document`: one JSON array, or an object that holds `messages`. Errors: `not_a_session` when nothing in the head is JSON. */
export async function detectShape(reader: ByteReader): Promise<Shape> {
	const head = headText(reader);
	const first = head.trimStart();
	if (first.startsWith("[")) return "document";
	if (!first.startsWith("{")) return "lines";
	const newline = first.indexOf("\n");
	const line = newline < 0 ? first : first.slice(0, newline);
	try {
		const value: unknown = JSON.parse(line);
		return isObject(value) && Array.isArray(value.messages) ? "document" : "lines";
	} catch {
		if (newline < 0 && reader.size > HEAD) {
			const object = await parseRecordHead(reader, 0, GIANT_HEAD);
			return object && "messages" in object ? "document" : "lines";
		}
		// A pretty-printed object opens with a line that is no record, and goes on with an indented key.
		return /^\{\s*(\n|$)\s*"/.test(first) ? "document" : "lines";
	}
}

/** The format of a JSONL source. Errors: `not_a_session`, `unknown_format`. */
export async function detectLines(reader: ByteReader): Promise<FormatName> {
	const records: JsonObject[] = [];
	const lines = new LineReader(reader, () => true, new DamageLog());
	let limit = Number.POSITIVE_INFINITY;
	for (const line of scanLines(reader, 0, reader.size)) {
		if (line.start > limit) break;
		if (line.end - line.start > GIANT_HEAD) {
			const head = await parseRecordHead(reader, line.start, GIANT_HEAD);
			if (head) records.push(head);
		} else {
			for (const found of await lines.read(line, 0)) records.push(found.value);
		}
		if (records.length >= VOTERS) break;
		// Blank lines, zeros or garbage may stand before the first record, however many.
		if (records.length > 0) limit = Math.min(limit, line.end + HEAD);
	}
	return recogniseFormat(records);
}

/** The format with the most votes. Errors: `not_a_session` without records, `unknown_format` when none recognises any. */
export function recogniseFormat(records: readonly JsonObject[]): FormatName {
	if (records.length === 0) {
		throw new MidcompactError("not_a_session", "The file holds no JSON object on any line.");
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
