/** Message arrays: one element, one message. */
import { blocksOf } from "./blocks.mjs";
import { argumentsText, emptyContent, isObject } from "./text.mjs";

export function anthropic(elements) {
	return elements.map((element) => {
		const content = blocksOf(element.content);
		const role = element.role === "user" && content.results > 0 ? "tool_result" : element.role;
		return { role, sent: true, content };
	});
}

function addCall(content, call) {
	content.calls++;
	if (typeof call?.name === "string") content.texts.push(call.name);
	content.texts.push(...argumentsText(call?.arguments));
}

export function openaiChat(elements) {
	return elements.map((element) => {
		const content = emptyContent();
		if (typeof element.content === "string") content.texts.push(element.content);
		for (const part of Array.isArray(element.content) ? element.content : []) {
			if (typeof part?.text === "string") content.texts.push(part.text);
			else if (typeof part?.refusal === "string") content.texts.push(part.refusal);
			else if (part?.type === "image_url") content.images++;
		}
		if (typeof element.refusal === "string") content.texts.push(element.refusal);
		for (const call of element.tool_calls ?? []) addCall(content, call.function ?? call.custom);
		if (isObject(element.function_call)) addCall(content, element.function_call);
		const result = element.role === "tool" || element.role === "function";
		if (result) content.results++;
		const role = result ? "tool_result" : element.role === "developer" ? "system" : element.role;
		return { role, sent: true, content };
	});
}
