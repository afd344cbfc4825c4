/** Halves of UTF-16 pairs that stand alone: JSON can hold them, UTF-8 and the model's API cannot (claude-code#56064, #45982, #69927). */
import { jsonText } from "../../json-text.js";
import type { JsonObject, JsonValue } from "../../record.js";

const LONE = /\p{Surrogate}/u;
const EVERY_LONE = /\p{Surrogate}/gu;
/** In JSON text that was just made, `\ud800` … `\udfff` stand for nothing but a lone half. */
const ESCAPE = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

export function hasLoneSurrogate(text: string): boolean {
	return LONE.test(text);
}

export function replaceLoneSurrogates(text: string): string {
	return hasLoneSurrogate(text) ? text.replace(EVERY_LONE, "\ufffd") : text;
}

/** The record with U+FFFD in place of every lone half, in keys too; the same record when it holds none. */
export function wellFormed(record: JsonObject): JsonObject {
	if (stringWithLoneSurrogate(record) === null) return record;
	const text = jsonText(record).replace(ESCAPE, (found, half) => (half === undefined ? found : "\\ufffd"));
	return JSON.parse(text) as JsonObject;
}

/** Some string of a value, key or not, that holds a lone half; null for none. Without recursion: real lines can be nested deeper than the stack. */
export function stringWithLoneSurrogate(value: JsonValue): string | null {
	const open: JsonValue[] = [value];
	for (let one = open.pop(); one !== undefined; one = open.pop()) {
		if (typeof one === "string") {
			if (LONE.test(one)) return one;
		} else if (typeof one === "object" && one !== null) {
			if (!Array.isArray(one)) for (const key in one) open.push(key);
			for (const inner of Object.values(one)) if (inner !== undefined) open.push(inner);
		}
	}
	return null;
}
