/** What stands around the elements of a JSON document, for whoever writes another document of the same form. */
import type { DocumentScan } from "./document.js";
import { GIANT_RECORD } from "./giant.js";
import type { ByteReader } from "./source.js";

export interface DocumentFrame {
	/** Which list the elements are of: the document itself, or its `messages`. */
	list: "root" | "messages";
	/** Byte behind the bracket that opens the list. */
	open: number;
	/** Byte of the bracket that closes it; -1 where the document ends before. */
	close: number;
	/**
	 * Null: what stands around the elements is sound. Where it does not read as JSON (damage), the fields in it that do, with their keys.
	 */
	salvaged: { start: Float64Array; end: Float64Array } | null;
}

const BYTE_ORDER_MARK = "\ufeff";

/** The frame of a scanned document; null where it has no list. Reads block. A frame above 64 MiB is taken to be sound. */
export function frameOf(reader: ByteReader, { list, open, close, fields }: DocumentScan): DocumentFrame | null {
	if (list === null) return null;
	const frame: DocumentFrame = { list, open, close, salvaged: null };
	const tail = close < 0 ? 0 : reader.size - close;
	if (open + tail > GIANT_RECORD || isJson(frameText(reader, frame))) return frame;
	const whole = fields.filter(
		({ start, end }) => end - start > GIANT_RECORD || isJson(`{${textAt(reader, start, end)}}`),
	);
	frame.salvaged = {
		start: Float64Array.from(whole, ({ start }) => start),
		end: Float64Array.from(whole, ({ end }) => end),
	};
	return frame;
}

/** The document without its elements. */
function frameText(reader: ByteReader, { open, close, list }: DocumentFrame): string {
	const head = textAt(reader, 0, open);
	const tail = close < 0 ? endOfDocument(list) : textAt(reader, close, reader.size);
	return `${head.startsWith(BYTE_ORDER_MARK) ? head.slice(1) : head}${tail}`;
}

/** What closes a document behind its last element. */
export function endOfDocument(list: DocumentFrame["list"]): string {
	return list === "root" ? "]" : "]}";
}

function textAt(reader: ByteReader, start: number, end: number): string {
	const bytes = Buffer.allocUnsafe(end - start);
	return bytes.toString("utf8", 0, reader.read(bytes, start));
}

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}
