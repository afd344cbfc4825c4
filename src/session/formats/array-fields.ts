/** What the two message array formats share in their worker's half: codes, the fields of the document around the array, recorded usage. */

import { jsonText } from "../json-text.js";
import {
	emptyFacts,
	FORMAT_FLAG_SHIFT,
	isObject,
	type JsonObject,
	type JsonValue,
	type RecordFacts,
	timeOf,
	type Usage,
} from "../record.js";

/** Kinds of rows. */
export const ARRAY_TYPE = { MESSAGE: 1, SYSTEM: 2, TOOLS: 3, USAGE: 4 } as const;

export const ARRAY_FLAG = {
	/** Holds a summary in whose favour the API drops what stands before it. */
	COMPACTION: 1 << FORMAT_FLAG_SHIFT,
	/** The last block is thinking, which the API takes at no end of an assistant's turn. */
	ENDS_IN_THINKING: 1 << (FORMAT_FLAG_SHIFT + 1),
	/** There is nothing but thinking in it. */
	ONLY_THINKING: 1 << (FORMAT_FLAG_SHIFT + 2),
} as const;

/** A number below this is a date in seconds (up to the year 5138), above in milliseconds (from 1973 on). */
const SECONDS_BELOW = 1e11;

/** Keys whose value lists tool declarations. */
const TOOL_KEYS: ReadonlySet<string> = new Set(["tools", "functions"]);

/** Keys of usage that the APIs give for one reply: OpenAI's and Anthropic's, cached tokens within the input or beside it. */
const INPUT_KEYS = ["prompt_tokens", "input_tokens"] as const;
const OUTPUT_KEYS = ["completion_tokens", "output_tokens"] as const;
const DETAIL_KEYS = ["prompt_tokens_details", "input_tokens_details"] as const;

/**
 * Facts of a field beside `messages`: `system` (a string or text blocks) and `tools` are system messages, `usage` is what the host recorded. The
 * row's id is the key. Null for any other field, and for one that says nothing.
 */
export function arrayField(key: string, value: JsonValue): RecordFacts | null {
	if (key === "system") {
		const texts = systemTexts(value);
		if (texts.length === 0) return null;
		return { ...emptyFacts(ARRAY_TYPE.SYSTEM), role: "system", id: key, parts: texts.map(ownText) };
	}
	if (TOOL_KEYS.has(key)) {
		if (!Array.isArray(value) || value.length === 0) return null;
		return { ...emptyFacts(ARRAY_TYPE.TOOLS), role: "system", id: key, parts: [ownText(jsonText(value))] };
	}
	if (key !== "usage") return null;
	const usage = usageOf(value);
	return usage && { ...emptyFacts(ARRAY_TYPE.USAGE), id: key, usage };
}

/** Usage as an API reports it; null when there is none or all of it is zero (RULINGS 19). `input` is without the cached tokens. */
export function usageOf(value: JsonValue | undefined): Usage | null {
	if (!isObject(value)) return null;
	const input = countIn(value, INPUT_KEYS);
	const details = DETAIL_KEYS.map((key) => value[key]).find(isObject);
	const cached = details ? countIn(details, ["cached_tokens"]) : 0;
	const cacheRead = countIn(value, ["cache_read_input_tokens"]);
	const usage: Usage = {
		input: Math.max(input - cached, 0),
		output: countIn(value, OUTPUT_KEYS),
		cacheRead: cacheRead > 0 ? cacheRead : Math.min(cached, input),
		cacheWrite: countIn(value, ["cache_creation_input_tokens"]),
		window: null,
	};
	return usage.input + usage.output + usage.cacheRead + usage.cacheWrite > 0 ? usage : null;
}

/** When a message was made, for arrays that say it: an ISO date, seconds or milliseconds; NaN for none. */
export function messageTime(record: JsonObject): number {
	const time = timeOf(record.timestamp);
	return typeof record.timestamp === "number" && time < SECONDS_BELOW ? time * 1000 : time;
}

function systemTexts(value: JsonValue): string[] {
	const items = Array.isArray(value) ? value : [value];
	const texts = items.map((item) => (isObject(item) ? item.text : item));
	return texts.filter((text) => typeof text === "string" && text !== "") as string[];
}

function ownText(text: string): RecordFacts["parts"][number] {
	return { type: "text", text, from: "own" };
}

/** The first of the keys that holds a count; 0 for none. */
function countIn(object: JsonObject, keys: readonly string[]): number {
	for (const key of keys) {
		const n = object[key];
		if (typeof n === "number" && Number.isFinite(n) && n >= 0) return n;
	}
	return 0;
}
