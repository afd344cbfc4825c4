/** Worker task: content hashes of rows. */
import { createHash } from "node:crypto";
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { readerOf } from "../src/session/formats/readers.js";
import { GIANT_RECORD } from "../src/session/giant.js";
import { jsonText } from "../src/session/json-text.js";
import type { JsonObject, RecordFacts } from "../src/session/record.js";
import { RecordReader, type RowPlaces, type RowSource } from "../src/session/rows.js";
import type { ByteReader } from "../src/session/source.js";

export interface HashTask {
	from: RowSource;
	places: RowPlaces;
}

/** SHA-256 has 32 bytes: those of place i start at `i * 32`. */
export const HASH_BYTES = 32;
/** Bytes of one read of a record that is not parsed. */
const READ = 1 << 20;

/**
 * The hash of every place, in order: of what makes the record the same one to its format, else of its bytes. An item inside a record is hashed by what is read of it. Errors:
 * `unreadable` when the session changed.
 */
export default async function hash(task: HashTask): Promise<Uint8Array> {
	try {
		return await hashRows(task);
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

async function hashRows({ from, places }: HashTask): Promise<Uint8Array> {
	const format = readerOf(from.format);
	const reader = new RecordReader(from);
	const hashes = new Uint8Array(places.start.length * HASH_BYTES);
	let expanded = null as { value: JsonObject; items: RecordFacts[] } | null;
	try {
		for (let i = 0; i < places.start.length; i++) {
			const giant = places.end[i] - places.start[i] > GIANT_RECORD;
			let hash: Uint8Array;
			if (places.item[i] > 0) {
				const { value } = await reader.at(places, i);
				if (expanded?.value !== value) expanded = { value, items: format.items?.(value) ?? [] };
				hash = digest(JSON.stringify(expanded.items[places.item[i] - 1]?.parts ?? null));
			} else if (format.identity && !giant) {
				hash = digest(jsonText(format.identity((await reader.at(places, i)).value)));
			} else hash = digestOfBytes(reader.bytesOf(places.source[i]), places.start[i], places.end[i]);
			hashes.set(hash, i * HASH_BYTES);
		}
	} finally {
		reader.close();
	}
	return hashes;
}

function digest(text: string): Uint8Array {
	return createHash("sha256").update(text).digest();
}

function digestOfBytes(reader: ByteReader, start: number, end: number): Uint8Array {
	const sum = createHash("sha256");
	const bytes = Buffer.allocUnsafe(Math.min(READ, end - start));
	for (let at = start; at < end; at += READ) {
		const part = bytes.subarray(0, Math.min(READ, end - at));
		sum.update(part.subarray(0, reader.read(part, at)));
	}
	return sum.digest();
}
