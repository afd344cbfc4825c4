/** How a record of a Pi session is told from those of other agents. */
import { isObject, type JsonObject } from "../../record.js";

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

/** See `FormatReader.recognise`. */
export function recognisePi(record: JsonObject): number {
	if (record.type === "session") return typeof record.id === "string" && typeof record.timestamp === "string" ? 3 : 0;
	if (typeof record.type === "string") {
		if (!ENTRY_TYPES.has(record.type) || typeof record.timestamp !== "string") return 0;
		if (record.type === "message") return isObject(record.message) && typeof record.message.role === "string" ? 3 : 0;
		return hasLinks(record) ? 3 : 1;
	}
	return recogniseBare(record);
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
			return typeof record.stopReason === "string" && typeof record.timestamp === "number" ? 3 : 0;
		case "system":
			return isObject(record.sections) || Array.isArray(record.toolsAdded) ? 3 : 0;
		case "user":
			return typeof record.timestamp === "number" ? 2 : 0;
		default:
			return 0;
	}
}

function hasLinks(record: JsonObject): boolean {
	return typeof record.id === "string" && (record.parentId === null || typeof record.parentId === "string");
}

/**
 * A record in a damaged line is whole when it is a header, an entry with its links, or an entry of version 1. What lies nested in an entry (its
 * message, parts, calls) has no date as text beside a type.
 */
export function isWholePi(record: JsonObject): boolean {
	if (typeof record.type !== "string" || typeof record.timestamp !== "string") return false;
	return hasLinks(record) || recognisePi(record) > 0;
}
