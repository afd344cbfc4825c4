/** One response item to facts: what stands on a `response_item` line and in `replacement_history`. */

import { imageFromUrl, imagePart } from "../../image.js";
import { argumentsText, jsonText } from "../../json-text.js";
import {
	type Answer,
	emptyFacts,
	FLAG,
	isObject,
	type JsonObject,
	type JsonValue,
	type Part,
	type RecordFacts,
	type Role,
	stringOrNull,
} from "../../record.js";
import {
	isContextFragment,
	isDeveloperContext,
	isHostKind,
	isHostText,
	isSummaryText,
	userShellCommand,
} from "./host-text.js";
import { MARK, ROW } from "./kinds.js";

/** Where a content item stands, which is whose words it holds. */
type From = "own" | "result";

/** Names under which the calls without a name of their own are known. */
const LOCAL_SHELL = "local_shell";
const TOOL_SEARCH = "tool_search";
const WEB_SEARCH = "web_search";
const IMAGE_GENERATION = "image_generation";

/** Facts of an item; null for one that Codex keeps for itself and never sends. */
export function itemFacts(item: JsonObject): RecordFacts | null {
	const facts = readItem(item);
	const created = passthroughOf(item)?.create_time;
	if (facts && typeof created === "number") facts.time = created * 1000;
	return facts;
}

function readItem(item: JsonObject): RecordFacts | null {
	switch (item.type) {
		case "message":
			return messageFacts(item);
		case "reasoning":
			return withMarks(assistant(reasoningParts(item)), MARK.REASONING);
		case "function_call":
			return call(stringOrNull(item.call_id), nameOf(item), argumentsText(item.arguments), "result");
		case "custom_tool_call":
			return call(stringOrNull(item.call_id), nameOf(item), argumentsText(item.input), "result");
		case "local_shell_call":
			return call(
				stringOrNull(item.call_id) ?? stringOrNull(item.id),
				LOCAL_SHELL,
				argumentsText(item.action),
				"result",
			);
		case "tool_search_call":
			return call(
				stringOrNull(item.call_id),
				TOOL_SEARCH,
				argumentsText(item.arguments),
				isServerSide(item) ? "none" : "result",
			);
		case "web_search_call":
			return call(null, WEB_SEARCH, argumentsText(item.action), "none");
		case "image_generation_call":
			return imageGeneration(item);
		case "tool_call":
			return composedCall(item);
		case "function_call_output":
		case "custom_tool_call_output":
			return result(stringOrNull(item.call_id), null, outputParts(item.output));
		case "tool_search_output":
			return toolSearchOutput(item);
		case "tool_result":
			return composedResult(item);
		case "agent_message":
			return agentMessage(item.content);
		case "compaction":
		case "compaction_summary":
		case "context_compaction":
			return message("summary", [{ type: "opaque", what: "encrypted compaction" }]);
		case "additional_tools":
			return message("system", [text(jsonText(item.tools ?? []))]);
		case "ghost_snapshot":
		case "compaction_trigger":
		case "configuration_update":
			return null;
		default:
			return unknownItem(item);
	}
}

/** Another agent's message: the model is told, no person typed it. */
export function agentMessage(content: JsonValue | undefined): RecordFacts {
	return withMarks(message("user", contentParts(content, "own")), FLAG.HOST | MARK.TURN | MARK.AGENT);
}

function messageFacts(item: JsonObject): RecordFacts | null {
	const parts = contentParts(item.content, "own");
	switch (item.role) {
		case "user":
			return userMessage(item, parts);
		case "assistant":
			return assistant(parts);
		case "developer":
			return withMarks(message("system", parts), ownTexts(parts).some(isDeveloperContext) ? MARK.CONTEXTUAL : 0);
		case "system":
			return message("system", parts);
		default:
			return message("other", parts);
	}
}

function userMessage(item: JsonObject, parts: Part[]): RecordFacts {
	const kinds = passthroughOf(item)?.content_item_kinds;
	const kindOf = (index: number) => (Array.isArray(kinds) ? kinds[index] : undefined);
	const texts = ownTexts(parts);
	if (kindOf(0) === "compaction.summary" || (texts.length > 0 && isSummaryText(texts[0])))
		return withMarks(message("summary", parts), MARK.TURN);
	const marks = texts.some(isContextFragment) ? MARK.CONTEXTUAL : MARK.TURN;
	const shell = parts.length === 1 && texts.length === 1 ? userShellCommand(texts[0]) : null;
	if (shell) {
		const command: Part = { type: "text", text: shell.command, from: "command" };
		return withMarks(message("bash", [command, { type: "text", text: shell.output, from: "output" }]), marks);
	}
	const host =
		parts.length > 0 &&
		parts.every((part, i) => isHostKind(kindOf(i)) ?? (part.type === "text" && isHostText(part.text)));
	return withMarks(message("user", parts), marks | (host ? FLAG.HOST : 0));
}

function reasoningParts(item: JsonObject): Part[] {
	const parts: Part[] = [];
	for (const list of [item.summary, item.content]) {
		if (!Array.isArray(list)) continue;
		for (const entry of list)
			if (isObject(entry) && typeof entry.text === "string") parts.push({ type: "thinking", text: entry.text });
	}
	if (stringOrNull(item.encrypted_content) !== null) parts.push({ type: "opaque", what: "encrypted reasoning" });
	return parts;
}

function imageGeneration(item: JsonObject): RecordFacts {
	const facts = call(null, IMAGE_GENERATION, stringOrNull(item.revised_prompt), "none");
	const data = stringOrNull(item.result);
	const format = stringOrNull(item.output_format);
	if (data !== null) facts.parts.push(imagePart(format === null ? null : `image/${format}`, data, "result"));
	return facts;
}

/** The calls of files that other tools composed: no id, so that the next result of that name answers. */
function composedCall(item: JsonObject): RecordFacts {
	const id = stringOrNull(item.call_id) ?? stringOrNull(item.id);
	const named = isObject(item.function) ? item.function : item;
	const given = item.arguments ?? named.arguments;
	return call(id, nameOf(named), argumentsText(given), id === null ? "by_name" : "result");
}

function composedResult(item: JsonObject): RecordFacts {
	const id = stringOrNull(item.call_id) ?? stringOrNull(item.id);
	const name = stringOrNull(item.name);
	return result(id, name, outputParts(item.result ?? item.output), id === null);
}

/** A search that the server ran has neither ids nor a result apart: both items are the model's side of the talk. */
function isServerSide(item: JsonObject): boolean {
	return stringOrNull(item.call_id) === null && item.execution === "server";
}

function toolSearchOutput(item: JsonObject): RecordFacts {
	const found: Part[] = [{ type: "text", text: jsonText(item.tools ?? []), from: "result" }];
	return isServerSide(item) ? assistant(found) : result(stringOrNull(item.call_id), null, found);
}

function unknownItem(item: JsonObject): RecordFacts {
	const facts = emptyFacts(ROW.UNKNOWN_ITEM);
	facts.meta = { kind: typeof item.type === "string" ? item.type.slice(0, 64) : "unnamed" };
	return facts;
}

/** What a tool gave back: a string, a list of content items, or an object of an older or a composed file. */
function outputParts(output: JsonValue | undefined): Part[] {
	if (!isObject(output)) return contentParts(output, "result");
	const inner = output.content_items ?? output.content;
	if (Array.isArray(inner) || typeof inner === "string") return contentParts(inner, "result");
	return [contentPart(output, "result") ?? text(jsonText(output), "result")];
}

function contentParts(content: JsonValue | undefined, from: From): Part[] {
	if (typeof content === "string") return [text(content, from)];
	if (!Array.isArray(content)) return [];
	return content.map((entry) => {
		if (typeof entry === "string") return text(entry, from);
		return (isObject(entry) ? contentPart(entry, from) : null) ?? { type: "opaque", what: "content item" };
	});
}

/** Null for a content item of an unknown form. */
function contentPart(entry: JsonObject, from: From): Part | null {
	if (entry.type === "input_image" || entry.type === "image") {
		const url = isObject(entry.image_url) ? entry.image_url.url : entry.image_url;
		return imageFromUrl(stringOrNull(url), from);
	}
	if (typeof entry.text === "string") return text(entry.text, from);
	if (typeof entry.refusal === "string") return text(entry.refusal, from);
	return typeof entry.type === "string" ? { type: "opaque", what: entry.type.slice(0, 64) } : null;
}

function call(id: string | null, name: string, args: string | null, answer: Answer): RecordFacts {
	return assistant([{ type: "tool_call", id, name, arguments: args, answer }]);
}

function result(id: string | null, name: string | null, content: Part[], byName = false): RecordFacts {
	return message("tool_result", [{ type: "tool_result", id, name, byName }, ...content]);
}

function assistant(parts: Part[]): RecordFacts {
	return message("assistant", parts);
}

function message(role: Role, parts: Part[]): RecordFacts {
	const facts = emptyFacts(ROW.ITEM);
	facts.role = role;
	facts.parts = parts;
	return facts;
}

function withMarks(facts: RecordFacts, marks: number): RecordFacts {
	facts.flags |= marks;
	return facts;
}

function text(value: string, from: From = "own"): Part {
	return { type: "text", text: value, from };
}

function ownTexts(parts: readonly Part[]): string[] {
	return parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

function nameOf(item: JsonObject): string {
	return stringOrNull(item.name) ?? "unnamed";
}

function passthroughOf(item: JsonObject): JsonObject | null {
	const kept = item.internal_chat_message_metadata_passthrough;
	return isObject(kept) ? kept : null;
}
