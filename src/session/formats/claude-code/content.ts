/** Content blocks of a message to parts, in the order in which they are stored. */
import { imageFromUrl, imagePart } from "../../image.js";
import { argumentsText } from "../../json-text.js";
import { isObject, type JsonObject, type JsonValue, type Part, stringOrNull } from "../../record.js";
import { isReminder } from "./host-text.js";

/** Whose content the blocks are. */
export type From = "own" | "result" | "reminder";

/** Calls that the server runs and answers inside the same assistant message (RULINGS 12; claude-code#65098). */
const SERVER_CALLS: ReadonlySet<string> = new Set(["server_tool_use", "mcp_tool_use"]);
/** Levels of content inside content (a document inside a result inside a message is the third). */
const DEPTH = 6;

/** Parts of a `content` value: a string or blocks. A string or block that is a reminder of the host is marked so. */
export function contentParts(content: JsonValue | undefined, from: From = "own"): Part[] {
	const parts: Part[] = [];
	addContent(parts, content, from, 0);
	return parts;
}

function addContent(parts: Part[], content: JsonValue | undefined, from: From, depth: number): void {
	if (typeof content === "string") addText(parts, content, from);
	else if (Array.isArray(content)) for (const block of content) addBlock(parts, block, from, depth);
	else if (isObject(content)) addBlock(parts, content, from, depth);
}

function addText(parts: Part[], text: JsonValue | undefined, from: From): void {
	if (typeof text !== "string" || text === "") return;
	parts.push({ type: "text", text, from: from === "own" && isReminder(text) ? "reminder" : from });
}

function addBlock(parts: Part[], block: JsonValue, from: From, depth: number): void {
	if (typeof block === "string") addText(parts, block, from);
	if (!isObject(block) || depth > DEPTH) return;
	const type = typeof block.type === "string" ? block.type : "unknown";
	if (type === "text") addText(parts, block.text, from);
	else if (type === "thinking") {
		if (typeof block.thinking === "string" && block.thinking !== "")
			parts.push({ type: "thinking", text: block.thinking });
	} else if (type === "tool_use" || SERVER_CALLS.has(type)) parts.push(callPart(block, type));
	else if (type === "tool_result") {
		parts.push(resultPart(block));
		addContent(parts, block.content, "result", depth + 1);
	} else if (type.endsWith("_tool_result")) {
		parts.push(resultPart(block));
		addServerResult(parts, block.content, depth + 1);
	} else if (type === "image") parts.push(imageBlock(block.source, from));
	else if (type === "document") addDocument(parts, block.source, from, depth + 1);
	else if (type === "search_result") {
		addText(parts, block.title, from);
		addContent(parts, block.content, from, depth + 1);
	} else if (type === "tool_reference") addText(parts, block.tool_name, from);
	else parts.push({ type: "opaque", what: type });
}

function callPart(block: JsonObject, type: string): Part {
	const { input } = block;
	return {
		type: "tool_call",
		id: stringOrNull(block.id),
		name: typeof block.name === "string" ? block.name : "",
		arguments: argumentsText(input),
		answer: SERVER_CALLS.has(type) ? "none" : "result",
	};
}

function resultPart(block: JsonObject): Part {
	return { type: "tool_result", id: stringOrNull(block.tool_use_id), name: null, byName: false };
}

function imageBlock(source: JsonValue | undefined, from: From): Part {
	if (!isObject(source)) return imagePart(null, null, from);
	if (source.type === "url") return imageFromUrl(stringOrNull(source.url), from);
	return imagePart(stringOrNull(source.media_type), typeof source.data === "string" ? source.data : null, from);
}

/** A document that is text counts as text; any other is sent as bytes of which nothing can be read here. */
function addDocument(parts: Part[], source: JsonValue | undefined, from: From, depth: number): void {
	if (isObject(source) && source.type === "text") addText(parts, source.data, from);
	else if (isObject(source) && source.type === "content") addContent(parts, source.content, from, depth);
	else parts.push({ type: "opaque", what: "document" });
}

/** What a server tool answered: texts, titles and addresses; encrypted payloads are opaque. */
function addServerResult(parts: Part[], content: JsonValue | undefined, depth: number): void {
	if (depth > DEPTH) return;
	if (typeof content === "string") addText(parts, content, "result");
	if (Array.isArray(content)) for (const item of content) addServerResult(parts, item, depth + 1);
	if (!isObject(content)) return;
	if (content.type === "image" || content.type === "document") {
		addBlock(parts, content, "result", depth + 1);
		return;
	}
	for (const key of ["title", "url", "text", "stdout", "stderr", "tool_name", "error_code"])
		addText(parts, content[key], "result");
	if (content.encrypted_content !== undefined) parts.push({ type: "opaque", what: "encrypted_content" });
	addServerResult(parts, content.content, depth + 1);
	addServerResult(parts, content.tool_references, depth + 1);
}
