import type { JsonValue } from "./record.js";
import type { ByteReader } from "./source.js";
export async function parseGiantRecord(_reader: ByteReader, _start: number, _end: number): Promise<JsonValue> {
	return null;
}
