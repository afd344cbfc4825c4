/** Lone surrogates: halves of a character that no UTF-8 text can hold, and that APIs refuse (claude-code#56064). */
import { jsonText } from "./json-text.js";
import type { JsonObject, JsonValue } from "./record.js";

const LONE = /\p{Surrogate}/u;
const EACH_LONE = /\p{Surrogate}/gu;
/** An escape in a JSON text; one of a surrogate stands there for a lone one only. */
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;
const LONE_ESCAPE = /^\\ud[89a-f]/;
const REPLACEMENT = "\ufffd";

/** The text with U+FFFD in place of every lone surrogate. */
export function mendedText(text: string): string {
	return text.replace(EACH_LONE, REPLACEMENT);
}

/** Whether a text holds one. */
export function isBroken(text: string): boolean {
	return LONE.test(text);
}

/** Index of the first lone surrogate of a text; -1 for none. */
export function loneSurrogateAt(text: string): number {
	return text.search(LONE);
}

/** The first string of a value, keys too, that holds a lone surrogate; null for none. However deep the value is. */
export function brokenStringIn(whole: JsonValue): string | null {
	const stack: JsonValue[] = [whole];
	for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
		if (typeof value === "string") {
			if (LONE.test(value)) return value;
		} else if (Array.isArray(value)) {
			for (let i = value.length - 1; i >= 0; i--) stack.push(value[i]);
		} else if (value !== null && typeof value === "object") {
			for (const key of Object.keys(value).reverse()) {
				const member = value[key];
				if (member !== undefined) stack.push(member);
				stack.push(key);
			}
		}
	}
	return null;
}

/** The record with U+FFFD in place of every lone surrogate; the same object when there is none. */
export function mendedRecord(record: JsonObject): JsonObject {
	if (brokenStringIn(record) === null) return record;
	const text = jsonText(record).replace(ESCAPE, (one) => (LONE_ESCAPE.test(one) ? REPLACEMENT : one));
	return JSON.parse(text) as JsonObject;
}
