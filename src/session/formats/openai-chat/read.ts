/** Elements of an OpenAI chat completions array to facts; the choices are explained in NOTES.md. */
import { imageFromUrl, imagePart } from "../../image.js";
import { argumentsText } from "../../json-text.js";
import {
	emptyFacts,
	isObject,
	type JsonObject,
	type JsonValue,
	type Part,
	type RecordFacts,
	type Role,
	stringOrNull,
} from "../../record.js";
import { ARRAY_TYPE, arrayField, messageTime, usageOf } from "../array-fields.js";
import type { FormatReader } from "../format.js";
import { recogniseOpenaiChat } from "./recognise.js";

export const openaiChatReader: FormatReader = {
	name: "openai-chat",
	recognise: recogniseOpenaiChat,
	isWhole: (record) => recogniseOpenaiChat(record) > 0,
	read,
	field: arrayField,
};

type From = "own" | "result";

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
	["system", "system"],
	["developer", "system"],
	["user", "user"],
	["assistant", "assistant"],
	["tool", "tool_result"],
	["function", "tool_result"],
]);

/** Fields in which servers hand out a model's reasoning beside its content. */
const REASONING_KEYS = ["reasoning_content", "reasoning"] as const;

function read(record: JsonObject): RecordFacts {
	const role = (typeof record.role === "string" && ROLES.get(record.role)) || "other";
	const facts = { ...emptyFacts(ARRAY_TYPE.MESSAGE), role, time: messageTime(record) };
	if (role === "tool_result") facts.parts.push(resultPart(record));
	if (role === "assistant") {
		addReasoning(facts.parts, record);
		facts.usage = usageOf(record.usage);
	}
	addContent(facts.parts, record.content, role === "tool_result" ? "result" : "own");
	if (role === "assistant") {
		addText(facts.parts, record.refusal, "own");
		if (isObject(record.audio)) facts.parts.push({ type: "opaque", what: "audio" });
		addCalls(facts.parts, record);
	}
	return facts;
}

/** Role `function` has no id: its result answers the call before it by name (RULINGS 12). */
function resultPart(record: JsonObject): Part {
	const name = stringOrNull(record.name);
	if (record.role === "function") return { type: "tool_result", id: null, name, byName: true };
	return { type: "tool_result", id: stringOrNull(record.tool_call_id), name, byName: false };
}

function addContent(parts: Part[], content: JsonValue | undefined, from: From): void {
	if (!Array.isArray(content)) addText(parts, content, from);
	else for (const part of content) addPart(parts, part, from);
}

function addPart(parts: Part[], part: JsonValue, from: From): void {
	if (!isObject(part)) {
		addText(parts, part, from);
		return;
	}
	switch (part.type) {
		case "text":
		case "input_text":
		case "output_text":
			addText(parts, part.text, from);
			break;
		case "refusal":
			addText(parts, part.refusal, from);
			break;
		case "image_url":
		case "input_image": {
			const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
			parts.push(imageFromUrl(typeof url === "string" ? url : null, from));
			break;
		}
		case "image":
			parts.push(imageBlock(part, from));
			break;
		case "thinking":
		case "reasoning":
			addThinking(parts, part.thinking ?? part.text);
			break;
		default:
			parts.push({ type: "opaque", what: typeof part.type === "string" ? part.type : "unknown" });
	}
}

/** Not in OpenAI's own API, but gateways let it through: Anthropic's form, or a bare payload. */
function imageBlock(part: JsonObject, from: From): Part {
	const source = isObject(part.source) ? part.source : part;
	if (typeof source.url === "string") return imageFromUrl(source.url, from);
	const mime = stringOrNull(source.media_type) ?? stringOrNull(source.mimeType);
	return imagePart(mime, typeof source.data === "string" ? source.data : null, from);
}

function addText(parts: Part[], text: JsonValue | undefined, from: From): void {
	if (typeof text === "string" && text !== "") parts.push({ type: "text", text, from });
}

function addThinking(parts: Part[], text: JsonValue | undefined): void {
	if (typeof text === "string" && text !== "") parts.push({ type: "thinking", text });
}

/** The two fields are copies of each other where a server sends both. */
function addReasoning(parts: Part[], record: JsonObject): void {
	addThinking(
		parts,
		REASONING_KEYS.map((key) => record[key]).find((text) => typeof text === "string" && text !== ""),
	);
}

/** Clients that write both forms repeat the one call: `function_call` counts only without `tool_calls`. */
function addCalls(parts: Part[], record: JsonObject): void {
	const calls = Array.isArray(record.tool_calls) ? record.tool_calls.filter(isObject) : [];
	for (const call of calls) {
		const custom = isObject(call.custom) ? call.custom : null;
		const called = isObject(call.function) ? call.function : (custom ?? call);
		parts.push({
			type: "tool_call",
			id: stringOrNull(call.id),
			name: typeof called.name === "string" ? called.name : "",
			arguments: argumentsText(called === custom ? called.input : called.arguments),
			answer: "result",
		});
	}
	if (calls.length > 0 || !isObject(record.function_call)) return;
	const { name, arguments: args } = record.function_call;
	parts.push({
		type: "tool_call",
		id: null,
		name: typeof name === "string" ? name : "",
		arguments: argumentsText(args),
		answer: "by_name",
	});
}
