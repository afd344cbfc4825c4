/** What of one entry goes into a fork. An entry is never left out: the next one names it, and one without content Pi keeps and does not send. */
import type { ForkCleaner } from "../../fork.js";
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import { mendedRecord } from "../../well-formed.js";

export const piCleaner: ForkCleaner = {
	clean(record) {
		if (typeof record.type !== "string" && typeof record.role === "string")
			return mendedRecord({ type: "message", message: cleanMessage(record) });
		return mendedRecord(cleanEntry(record));
	},
};

function cleanEntry(record: JsonObject): JsonObject {
	const { message, replacement } = record;
	switch (record.type) {
		case "message":
			return isObject(message) ? replaced(record, "message", cleanMessage(message)) : record;
		case "custom_message":
			return replaced(record, "content", words(record.content));
		case "context_edit":
			return isObject(replacement)
				? replaced(record, "replacement", replaced(replacement, "content", words(replacement.content)))
				: record;
		default:
			return record;
	}
}

function cleanMessage(message: JsonObject): JsonObject {
	const { content } = message;
	switch (message.role) {
		case "user":
		case "custom":
		case "hookMessage":
			return replaced(message, "content", words(content));
		case "assistant":
			return replaced(message, "content", without(listed(content), isHollow));
		case "toolResult":
			return replaced(message, "content", hasImage(content) ? without(content, isEmptyText) : listed(content));
		default:
			return message;
	}
}

/** The same object where the value is the same. */
function replaced(record: JsonObject, key: string, value: JsonValue | undefined): JsonObject {
	return record[key] === value ? record : { ...record, [key]: value };
}

function words(content: JsonValue | undefined): JsonValue | undefined {
	return content === "" ? [] : without(content, isEmptyText);
}

/** Pi itself cannot send a reply or a result whose content is a string. */
function listed(content: JsonValue | undefined): JsonValue | undefined {
	if (typeof content !== "string") return content;
	return content === "" ? [] : [{ type: "text", text: content }];
}

function without(content: JsonValue | undefined, goes: (part: JsonValue) => boolean): JsonValue | undefined {
	return Array.isArray(content) && content.some(goes) ? content.filter((part) => !goes(part)) : content;
}

/** A part that says nothing and that Pi does not send. */
function isHollow(part: JsonValue): boolean {
	return isEmptyText(part) || isHollowThinking(part);
}

/** A text part without any text (claude-code#41729). */
export function isEmptyText(part: JsonValue): boolean {
	return isObject(part) && part.type === "text" && part.text === "";
}

/** Thinking without text (claude-code#63147); with a signature it holds what the provider encrypted, and Pi gives it back as it is. */
export function isHollowThinking(part: JsonValue): boolean {
	if (!isObject(part) || part.type !== "thinking" || part.redacted === true) return false;
	return part.thinking === "" && (part.thinkingSignature ?? "") === "";
}

/** The texts of a result are joined when they are sent, but those beside an image are sent one by one. */
export function hasImage(content: JsonValue | undefined): boolean {
	return Array.isArray(content) && content.some((part) => isObject(part) && part.type === "image");
}
