/** Bytes in memory as a source, for tests that need no file. */
import { type ByteReader, openReader, type SourceSpec } from "#src/session/source.js";

export function memorySpec(content: string | Uint8Array): SourceSpec {
	const from = typeof content === "string" ? Buffer.from(content) : content;
	const bytes = new SharedArrayBuffer(from.length);
	new Uint8Array(bytes).set(from);
	return { kind: "memory", bytes, size: from.length };
}

export function readerOver(content: string | Uint8Array): ByteReader {
	return openReader(memorySpec(content));
}
