/** Elements of an Anthropic messages array to facts; the choices are explained in NOTES.md. */
import {
	emptyFacts,
	isObject,
	type JsonObject,
	type JsonValue,
	type Part,
	type RecordFacts,
	type Role,
} from "../../record.js";
import { ARRAY_FLAG, ARRAY_TYPE, arrayField, messageTime, usageOf } from "../array-fields.js";
import { contentParts } from "../claude-code/content.js";
import type { FormatReader } from "../format.js";
import { recogniseAnthropic } from "./recognise.js";

export const anthropicReader: FormatReader = {
	name: "anthropic",
	recognise: recogniseAnthropic,
	isWhole: (record) => recogniseAnthropic(record) > 0,
	read,
	field: arrayField,
};

const ROLES: ReadonlySet<string> = new Set<Role>(["system", "user", "assistant"]);

function read(record: JsonObject): RecordFacts {
	const role = typeof record.role === "string" && ROLES.has(record.role) ? (record.role as Role) : "other";
	const parts = blockParts(record.content);
	const facts: RecordFacts = { ...emptyFacts(ARRAY_TYPE.MESSAGE), role, time: messageTime(record), parts };
	if (role === "user" && parts.some((part) => part.type === "tool_result")) facts.role = "tool_result";
	if (role === "assistant") {
		awaitMissingAnswers(parts);
		facts.usage = usageOf(record.usage);
		facts.flags |= thinkingFlags(record.content);
	}
	if (hasCompaction(record.content)) facts.flags |= ARRAY_FLAG.COMPACTION;
	return facts;
}

function blockParts(content: JsonValue | undefined): Part[] {
	if (!Array.isArray(content)) return contentParts(content);
	return content.flatMap((block) => {
		// The summary that the API wrote in place of what stands before it.
		if (isCompaction(block)) return contentParts(typeof block.content === "string" ? block.content : []);
		return contentParts([block]);
	});
}

/** A server call whose result is not in the same message (a paused turn) still waits for one (RULINGS 12). */
function awaitMissingAnswers(parts: Part[]): void {
	const answered = new Set<string>();
	for (const part of parts) if (part.type === "tool_result" && part.id !== null) answered.add(part.id);
	for (const part of parts) {
		if (part.type !== "tool_call" || part.answer !== "none") continue;
		if (part.id === null || !answered.has(part.id)) part.answer = "result";
	}
}

function hasCompaction(content: JsonValue | undefined): boolean {
	return Array.isArray(content) && content.some(isCompaction);
}

function thinkingFlags(content: JsonValue | undefined): number {
	if (!Array.isArray(content) || !isThinking(content.at(-1))) return 0;
	return ARRAY_FLAG.ENDS_IN_THINKING | (content.every(isThinking) ? ARRAY_FLAG.ONLY_THINKING : 0);
}

function isThinking(block: JsonValue | undefined): boolean {
	return isObject(block) && (block.type === "thinking" || block.type === "redacted_thinking");
}

function isCompaction(block: JsonValue): block is JsonObject {
	return isObject(block) && block.type === "compaction";
}
