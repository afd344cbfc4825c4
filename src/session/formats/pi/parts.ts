/** Pi's message content to parts (CONTRACT section 6). */
import { imagePart } from "../../image.js";
import { argumentsText, jsonText } from "../../json-text.js";
import { isObject, type JsonObject, type JsonValue, type Part, stringOrNull } from "../../record.js";

/** Parts of a `content`: a string, a list of parts, or nothing. `from` says whose texts and images these are. */
export function contentParts(content: JsonValue | undefined, from: "own" | "result"): Part[] {
	if (typeof content === "string") return [{ type: "text", text: content, from }];
	if (!Array.isArray(content)) return [];
	return content.map((part) => (isObject(part) ? onePart(part, from) : { type: "opaque", what: "part" }));
}

function onePart(part: JsonObject, from: "own" | "result"): Part {
	if (part.type === "text" && typeof part.text === "string") return { type: "text", text: part.text, from };
	if (part.type === "thinking" && typeof part.thinking === "string") return { type: "thinking", text: part.thinking };
	if (part.type === "image") return imagePart(stringOrNull(part.mimeType), stringOrNull(part.data), from);
	if (part.type === "toolCall") {
		return {
			type: "tool_call",
			id: stringOrNull(part.id),
			name: stringOrNull(part.name) ?? "",
			arguments: argumentsText(part.arguments),
			answer: "result",
		};
	}
	return { type: "opaque", what: stringOrNull(part.type) ?? "part" };
}

/** The part that opens a tool result. */
export function resultPart(message: JsonObject): Part {
	return {
		type: "tool_result",
		id: stringOrNull(message.toolCallId),
		name: stringOrNull(message.toolName),
		byName: false,
	};
}

/** Command and output of a `bashExecution`. */
export function bashParts(message: JsonObject): Part[] {
	const parts: Part[] = [];
	if (typeof message.command === "string") parts.push({ type: "text", text: message.command, from: "command" });
	if (typeof message.output === "string") parts.push({ type: "text", text: message.output, from: "output" });
	return parts;
}

/** A summary of a compaction or a branch. */
export function summaryParts(summary: JsonValue | undefined): Part[] {
	return typeof summary === "string" ? [{ type: "text", text: summary, from: "own" }] : [];
}

/** Prompt text, named sections and tool declarations: three places, none a copy of another. */
export function systemParts(message: JsonObject): Part[] {
	const parts = contentParts(message.content, "own");
	if (isObject(message.sections)) {
		for (const section of Object.values(message.sections)) {
			if (typeof section === "string") parts.push({ type: "text", text: section, from: "own" });
		}
	}
	if (Array.isArray(message.toolsAdded) && message.toolsAdded.length > 0) {
		parts.push({ type: "text", text: jsonText(message.toolsAdded), from: "own" });
	}
	return parts;
}
