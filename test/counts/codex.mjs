/** Codex: the response items in file order, with the last compaction and rollbacks honoured; runs of items between outputs are one answer. */
import { argumentsText, emptyContent, isObject } from "./text.mjs";

const ANSWER = new Set([
	"reasoning",
	"function_call",
	"custom_tool_call",
	"local_shell_call",
	"web_search_call",
	"tool_search_call",
	"image_generation_call",
	"tool_call",
]);
const OUTPUT = new Set([
	"function_call_output",
	"custom_tool_call_output",
	"tool_search_output",
	"local_shell_call_output",
	"tool_result",
]);

function addItems(content, value) {
	if (typeof value === "string") content.texts.push(value);
	else if (Array.isArray(value)) for (const part of value) addItems(content, part);
	else if (isObject(value)) {
		if (value.type === "input_image") content.images++;
		else if (typeof value.text === "string") content.texts.push(value.text);
		else if (value.content !== undefined) addItems(content, value.content);
	}
}

/** Adds what one item says to the message it belongs to. */
function addItem(content, item) {
	if (item.type === "reasoning") {
		addItems(content, item.summary);
		addItems(content, item.content);
	} else if (OUTPUT.has(item.type)) {
		content.results++;
		if (item.type === "tool_search_output") content.texts.push(...argumentsText(item.tools));
		else if (item.type === "tool_result") content.texts.push(...argumentsText(item.result));
		else addItems(content, item.output);
	} else if (item.type === "image_generation_call") {
		content.calls++;
		content.texts.push("image_generation", ...argumentsText(item.revised_prompt));
		if (typeof item.result === "string") content.images++;
	} else if (ANSWER.has(item.type)) {
		content.calls++;
		content.texts.push(item.name ?? item.function?.name ?? item.type.replace(/_call$/, ""));
		content.texts.push(...argumentsText(item.arguments ?? item.input ?? item.action));
	} else addItems(content, item.content);
}

const roleOf = (item) => {
	if (item.type === "message") return item.role === "developer" || item.role === "system" ? "system" : item.role;
	if (ANSWER.has(item.type)) return "assistant";
	if (OUTPUT.has(item.type)) return "tool_result";
	if (item.type === "agent_message") return "user";
	if (item.type === "compaction" || item.type === "compaction_summary") return "summary";
	return null;
};

/** Items as the host would send them. A `null` stands where a run ends without an item. */
function contextItems(objects) {
	let items = [];
	for (const { type, payload } of objects) {
		if (!isObject(payload)) continue;
		if (type === "response_item") items.push(payload);
		else if (type === "compacted") {
			if (Array.isArray(payload.replacement_history)) items = [...payload.replacement_history, null];
			else {
				const summary = { type: "message", role: "user", content: payload.message ?? "" };
				items = [...items.filter((i) => i?.type === "message" && i.role === "user"), summary, null];
			}
		} else if (type === "event_msg" && payload.type === "thread_rolled_back") {
			for (let turns = payload.num_turns; turns > 0; turns--) {
				const start = items.findLastIndex((i) => i?.type === "message" && i.role === "user");
				items = items.slice(0, Math.max(start, 0));
			}
		}
	}
	return items;
}

export function codex(objects) {
	const messages = [];
	const base = objects.find((o) => o.type === "session_meta")?.payload;
	const instructions = base?.base_instructions?.text;
	if (typeof instructions === "string" && instructions)
		messages.push({ role: "system", sent: true, content: { ...emptyContent(), texts: [instructions] } });
	let run = null;
	for (const item of contextItems(objects)) {
		const role = item && roleOf(item);
		if (item === null) run = null;
		if (!role) continue;
		if (role === "assistant" && run) addItem(run.content, item);
		else {
			const message = { role, sent: true, content: emptyContent() };
			addItem(message.content, item);
			messages.push(message);
			if (role === "assistant") run = message;
			else if (role !== "system") run = null;
		}
	}
	return messages;
}
