/** How a record of a Pi session is told from those of other agents. */
import { isObject, type JsonObject, type JsonValue } from "../../record.js";

/** Kinds of entries that no other agent here writes in this form. */
const ENTRY_TYPES = new Set([
	"message",
	"model_change",
	"thinking_level_change",
	"compaction",
	"branch_summary",
	"custom",
	"custom_message",
	"label",
	"session_info",
	"usage",
	"context_edit",
]);

/** Those of version 1, whose entries have neither id nor parent. */
const FIRST_TYPES = new Set(["model_change", "thinking_level_change", "compaction"]);

/** See `FormatReader.recognise`. A header without a version is of version 1; Pi dates all it writes, other writers of its form may not. */
export function recognisePi(record: JsonObject): number {
	if (typeof record.type !== "string") return recogniseBare(record);
	const dated = typeof record.timestamp === "string";
	const named = typeof record.id === "string";
	if (record.type === "session") {
		const versioned = typeof record.version === "number";
		if (named && (versioned || dated)) return 3;
		return versioned || ((named || dated) && typeof record.cwd === "string") ? 2 : 0;
	}
	if (!ENTRY_TYPES.has(record.type)) return 0;
	if (record.type === "message") {
		if (!isObject(record.message) || typeof record.message.role !== "string") return 0;
		return dated ? 3 : 2;
	}
	if (hasLinks(record)) return dated ? 3 : 2;
	if (!dated) return 0;
	return named ? 2 : FIRST_TYPES.has(record.type) ? 1 : 0;
}

/** A message without an entry: Pi's names for fields that other arrays do not have. */
function recogniseBare(record: JsonObject): number {
	switch (record.role) {
		case "toolResult":
			return typeof record.toolCallId === "string" ? 3 : 1;
		case "bashExecution":
			return typeof record.command === "string" ? 3 : 1;
		case "custom":
		case "hookMessage":
			return typeof record.customType === "string" ? 3 : 0;
		case "branchSummary":
		case "compactionSummary":
			return typeof record.summary === "string" ? 3 : 0;
		case "assistant":
			return typeof record.stopReason === "string" || hasCall(record.content) ? 3 : 0;
		case "system":
			return isObject(record.sections) || Array.isArray(record.toolsAdded) ? 3 : 0;
		case "user":
			return typeof record.timestamp === "number" ? 2 : 0;
		default:
			return 0;
	}
}

function hasCall(content: JsonValue | undefined): boolean {
	return Array.isArray(content) && content.some((part) => isObject(part) && part.type === "toolCall");
}

function hasLinks(record: JsonObject): boolean {
	return typeof record.id === "string" && (record.parentId === null || typeof record.parentId === "string");
}

/**
 * A record in a damaged line is whole when it is a header, an entry with its links, or an entry of version 1. What lies nested in an entry (its
 * message, parts, calls) has neither a date as text nor a parent beside a type.
 */
export function isWholePi(record: JsonObject): boolean {
	if (typeof record.type !== "string") return false;
	if (typeof record.timestamp === "string") return hasLinks(record) || recognisePi(record) > 0;
	return record.type === "session" ? recognisePi(record) > 0 : ENTRY_TYPES.has(record.type) && hasLinks(record);
}
