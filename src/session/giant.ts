/**
 * Records too large to be held: their bytes go through stream-json's tokenizer in small chunks, and the value is put together by hand, texts cut
 * where a bound is reached. What a cut text lost is told by the mark of `cut-text.ts`.
 */
import { jsonParser, type Token } from "stream-json/core/parser.js";
import { CUT_HEAD } from "./cut-text.js";
import { GiantValue } from "./giant-value.js";
import { QUOTE } from "./json-bytes.js";
import { isObject, type JsonObject, type JsonValue } from "./record.js";
import type { ByteReader } from "./source.js";

/** Records above this many bytes are never held as a whole. */
export const GIANT_RECORD = 64 * 1024 * 1024;

/** Bytes fed at once; stream-json is slower with larger chunks. */
const CHUNK = 64 * 1024;
const PIECES = /[^\n]{1,256}\n?|\n/g;
/** Containers open at once at most: the tokenizer's own stack grows with them. */
const DEPTH_MAX = 100_000;

/**
 * The value of the record in bytes `start … end - 1`. Texts keep their first {@link CUT_HEAD} UTF-16 units with a mark behind them, and less once
 * 32 MiB are kept; from 64 MiB on nothing more is kept (see `giant-value.ts`). A range that starts with a quote is a field of a document, `"key": value`,
 * and gives `{key: value}`. Errors: SyntaxError when the bytes are no JSON, or nested deeper than 100,000 levels. Reads block.
 */
export async function parseGiantRecord(reader: ByteReader, start: number, end: number): Promise<JsonValue> {
	const value = new GiantValue(CUT_HEAD);
	const field = byteAt(reader, start) === QUOTE;
	const feed = feeder(value);
	if (field) feed("{");
	for (const text of textChunks(reader, start, end)) feed(text);
	feed(field ? "}\n" : "\n");
	if (!value.complete) throw new SyntaxError("The record ends before its JSON does.");
	return value.root;
}

/**
 * The top-level object that starts at `start`, with what its first `maxBytes` bytes hold of it, the last text or container unfinished where they
 * end. Null when no object starts there. For detection: what stands in a cut text or behind the bound is not marked. Never throws on bad bytes.
 */
export async function parseRecordHead(reader: ByteReader, start: number, maxBytes: number): Promise<JsonObject | null> {
	const value = new GiantValue(CUT_HEAD);
	const feed = feeder(value);
	try {
		for (const text of textChunks(reader, start, Math.min(start + maxBytes, reader.size))) {
			// The tokenizer loses what it found in a text that ends badly, so it gets little at once, and no line together with the next.
			for (const piece of text.replace(/^\ufeff/, "").match(PIECES) ?? []) {
				feed(piece);
				if (value.complete) return isObject(value.root) ? value.root : null;
			}
		}
	} catch (thrown) {
		if (!(thrown instanceof SyntaxError)) throw thrown;
	}
	const root = value.unfinished();
	return isObject(root) ? root : null;
}

/** Gives text to the tokenizer and its tokens to `value`. */
function feeder(value: GiantValue): (text: string) => void {
	const tokenize = jsonParser({ packValues: false, streamValues: true });
	return (text) => {
		let found: ReturnType<typeof tokenize>;
		try {
			found = tokenize(text);
		} catch (cause) {
			throw new SyntaxError("The record is no JSON.", { cause });
		}
		if (typeof found === "symbol") return;
		for (const token of (found as { values: Token[] }).values) value.add(token);
		if (value.depth > DEPTH_MAX) throw new SyntaxError(`The record is nested deeper than ${DEPTH_MAX} levels.`);
	};
}

/** The bytes as text; a character that lies across two chunks comes with the second. */
function* textChunks(reader: ByteReader, start: number, end: number): Generator<string> {
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
	const buffer = Buffer.allocUnsafe(CHUNK);
	for (let at = start; at < end; ) {
		const n = reader.read(buffer.subarray(0, Math.min(CHUNK, end - at)), at);
		if (n === 0) return;
		at += n;
		yield decoder.decode(buffer.subarray(0, n), { stream: at < end });
	}
}

function byteAt(reader: ByteReader, offset: number): number {
	const byte = new Uint8Array(1);
	reader.read(byte, offset);
	return byte[0];
}
