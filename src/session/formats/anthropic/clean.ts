/** What the Messages API refuses inside one message; the choices are explained in NOTES.md. */
import type { ForkCleaner } from "../../fork.js";
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import { mendedRecord } from "../../well-formed.js";

export const anthropicCleaner: ForkCleaner = {
	clean(record) {
		const said = withoutRefused(record);
		return said && mendedRecord(said);
	},
};

function withoutRefused(record: JsonObject): JsonObject | null {
	const { content } = record;
	if (content === undefined || content === null || isBlank(content)) return null;
	if (!Array.isArray(content)) return record;
	const mended = content.map(withoutEmptyResultTexts);
	const kept = mended.filter((block) => !isBlankText(block) && !isHollowThinking(block));
	if (kept.length === content.length && kept.every((block, i) => block === content[i]))
		return content.length === 0 ? null : record;
	// Thinking that only an empty text followed would end the message, which is refused too.
	if (!isThinking(content.at(-1))) while (isThinking(kept.at(-1))) kept.pop();
	return kept.length === 0 ? null : { ...record, content: kept };
}

/** An empty text inside a result; a result without content is taken. */
function withoutEmptyResultTexts(block: JsonValue): JsonValue {
	if (!isObject(block) || block.type !== "tool_result" || !Array.isArray(block.content)) return block;
	const kept = block.content.filter((inner) => !isEmptyText(inner));
	return kept.length === block.content.length ? block : { ...block, content: kept };
}

/** A text block in which no more than white space stands, as the API counts it (claude-code#41729, #23440). */
export function isBlankText(block: JsonValue): boolean {
	return isText(block) && isBlank(block.text);
}

/** A text block without any text. */
export function isEmptyText(block: JsonValue): boolean {
	return isText(block) && block.text === "";
}

/** A thinking block without its text (claude-code#63147). */
export function isHollowThinking(block: JsonValue): boolean {
	return isObject(block) && block.type === "thinking" && (typeof block.thinking !== "string" || block.thinking === "");
}

export function isThinking(block: JsonValue | undefined): boolean {
	return isObject(block) && (block.type === "thinking" || block.type === "redacted_thinking");
}

export function isBlank(value: JsonValue | undefined): boolean {
	return typeof value === "string" && value.trim() === "";
}

function isText(block: JsonValue): block is JsonObject {
	return isObject(block) && block.type === "text";
}
