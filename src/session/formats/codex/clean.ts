/** What of a rollout's line may stand in a fork. Pure functions of one record. */
import type { ForkCleaner } from "../../fork.js";
import { jsonText } from "../../json-text.js";
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import { mendedRecord } from "../../well-formed.js";
import { itemFacts } from "./items.js";
import { HEADER_DEFAULTS } from "./kinds.js";
import { isBare, isFlatMeta } from "./read.js";

export const codexCleaner: ForkCleaner = { clean, carry };

/** Events that are not carried: usage that the fork no longer has, marks of turns (they go by their own rows), and the traces of compactions. */
const LEFT_OUT = new Set([
	"token_count",
	"thread_rolled_back",
	"task_started",
	"turn_started",
	"task_complete",
	"turn_complete",
	"turn_aborted",
	"context_compacted",
]);

/**
 * A line, or a bare response item. Codex sends empty texts as they are, but the models' APIs refuse them (claude-code#41729): they are taken out, and the item with them
 * when nothing is left.
 */
function clean(record: JsonObject): JsonObject | null {
	const sound = mendedRecord(record);
	if (isBare(sound)) return cleanItem(sound);
	const { payload } = sound;
	if (!isObject(payload)) return sound;
	const cleaned =
		sound.type === "response_item"
			? cleanItem(payload)
			: sound.type === "session_meta"
				? wholeHeader(payload)
				: payload;
	if (cleaned === null) return null;
	return cleaned === payload ? sound : { ...sound, payload: cleaned };
}

/**
 * Three kinds of lines: events, which are copies for the screen; lines of old versions, which get the envelope that Codex reads today; and a compaction without replacement
 * history, whose summary becomes the user message that Codex makes of it.
 */
function carry(record: JsonObject): { record: JsonObject; edits: [] } | null {
	const carried = carriedLine(mendedRecord(record));
	return carried && { record: carried, edits: [] };
}

function carriedLine(record: JsonObject): JsonObject | null {
	if (isFlatMeta(record)) return envelope(record, "session_meta", wholeHeader(record));
	if (isBare(record)) {
		// What no version ever sends has no row, and may stand between two lines.
		const item = itemFacts(record) && cleanItem(record);
		return item && envelope(record, "response_item", item);
	}
	const { payload } = record;
	if (!isObject(payload)) return null;
	if (record.type === "compacted") return envelope(record, "response_item", summaryItem(payload));
	return record.type === "event_msg" && isShown(payload) ? record : null;
}

function isShown(event: JsonObject): boolean {
	const isCompaction = isObject(event.item) && event.item.type === "ContextCompaction";
	return typeof event.type === "string" && !LEFT_OUT.has(event.type) && !isCompaction;
}

function envelope(line: JsonObject, type: string, payload: JsonObject): JsonObject {
	return { ...(typeof line.timestamp === "string" ? { timestamp: line.timestamp } : {}), type, payload };
}

function summaryItem({ message }: JsonObject): JsonObject {
	const text = typeof message === "string" && message !== "" ? message : "(no summary available)";
	return {
		type: "message",
		role: "user",
		content: [{ type: "input_text", text }],
		internal_chat_message_metadata_passthrough: { content_item_kinds: ["compaction.summary"] },
	};
}

function wholeHeader(payload: JsonObject): JsonObject {
	const missing = Object.entries(HEADER_DEFAULTS).filter(([key]) => typeof payload[key] !== "string");
	return missing.length === 0 ? payload : { ...payload, ...Object.fromEntries(missing) };
}

function cleanItem(item: JsonObject): JsonObject | null {
	switch (item.type) {
		case "message":
			return cleanMessage(item);
		case "reasoning":
			return isHollow(item) ? null : item;
		case "function_call_output":
		case "custom_tool_call_output":
			return isObject(item.output) ? { ...item, output: outputOf(item.output) } : item;
		default:
			return item;
	}
}

function cleanMessage(item: JsonObject): JsonObject | null {
	const { content } = item;
	// Codex drops the line of a message whose content is a string.
	if (typeof content === "string") {
		const type = item.role === "assistant" ? "output_text" : "input_text";
		return content === "" ? null : { ...item, content: [{ type, text: content }] };
	}
	if (!Array.isArray(content)) return item;
	const kept = content.map((entry) => !(isObject(entry) && entry.text === ""));
	if (!kept.includes(true)) return null;
	if (!kept.includes(false)) return item;
	const left = (list: readonly JsonValue[]) => list.filter((_entry, i) => kept[i]);
	const cleaned: JsonObject = { ...item, content: left(content) };
	// What Codex keeps beside the content is in the same order.
	const beside = item.internal_chat_message_metadata_passthrough;
	if (isObject(beside)) {
		cleaned.internal_chat_message_metadata_passthrough = Object.fromEntries(
			Object.entries(beside).map(([key, value]) => [
				key,
				Array.isArray(value) && key.startsWith("content_item_") ? left(value) : value,
			]),
		);
	}
	return cleaned;
}

/** Reasoning of which nothing is there, neither readable nor encrypted. */
function isHollow(item: JsonObject): boolean {
	const texts = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? list : []));
	const encrypted = item.encrypted_content;
	const isEmpty = (text: JsonValue) => !isObject(text) || text.text === undefined || text.text === "";
	return (typeof encrypted !== "string" || encrypted === "") && texts.every(isEmpty);
}

/** Codex drops the line of an output that is an object, as older and composed files have it. */
function outputOf(output: JsonObject): JsonValue {
	const inner = output.content_items ?? output.content;
	if (Array.isArray(inner) || typeof inner === "string") return inner;
	if (typeof output.text === "string") return output.text;
	return output.type === "input_image" ? [output] : jsonText(output);
}
