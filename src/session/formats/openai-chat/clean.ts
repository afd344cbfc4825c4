/** What the chat completions API refuses inside one message; the choices are explained in NOTES.md. */
import type { ForkCleaner } from "../../fork.js";
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import { mendedRecord } from "../../well-formed.js";

export const openaiChatCleaner: ForkCleaner = {
	clean(record) {
		const said = withContent(withoutEmptyCalls(withoutEmptyTexts(record)));
		return said && mendedRecord(said);
	},
};

const TEXT_TYPES: ReadonlySet<string> = new Set(["text", "input_text", "output_text"]);
/** Fields beside the content in which an assistant says something. */
const SAID_KEYS = ["refusal", "reasoning_content", "reasoning"] as const;

/** A list in which nothing is left becomes an empty string, which the API takes. */
function withoutEmptyTexts(record: JsonObject): JsonObject {
	const { content } = record;
	if (!Array.isArray(content)) return record;
	const kept = content.filter((part) => !isEmptyText(part));
	if (kept.length === content.length) return record;
	return { ...record, content: kept.length === 0 ? "" : kept };
}

function isEmptyText(part: JsonValue): boolean {
	return isObject(part) && typeof part.type === "string" && TEXT_TYPES.has(part.type) && part.text === "";
}

/** The API takes a message without calls, not one with an empty list of them. */
function withoutEmptyCalls(record: JsonObject): JsonObject {
	if (!Array.isArray(record.tool_calls) || record.tool_calls.length > 0) return record;
	const { tool_calls: _none, ...rest } = record;
	return rest;
}

/** Null when the message says nothing at all. A result is never left out: its call waits for it. */
function withContent(record: JsonObject): JsonObject | null {
	if (!lacksContent(record.content)) return record;
	if (record.role === "tool") return { ...record, content: "" };
	if (record.role === "user" || record.role === "system" || record.role === "developer") return null;
	return record.role === "assistant" && !saysSomething(record) ? null : record;
}

/** Whether a content is none that the API takes where it asks for one. */
export function lacksContent(content: JsonValue | undefined): boolean {
	return content === undefined || content === null || (Array.isArray(content) && content.length === 0);
}

/** Whether an assistant message without content says something beside it. */
export function saysSomething(record: JsonObject): boolean {
	if (Array.isArray(record.tool_calls) && record.tool_calls.length > 0) return true;
	if (isObject(record.function_call) || isObject(record.audio)) return true;
	return SAID_KEYS.some((key) => typeof record[key] === "string" && record[key] !== "");
}
