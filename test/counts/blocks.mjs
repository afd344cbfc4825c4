/** Content blocks of Anthropic's Messages format, as arrays of it and Claude Code files hold them. */
import { emptyContent, isObject } from "./text.mjs";

const CALLS = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);
const isResult = (type) => type === "tool_result" || /_tool_result$/.test(type);

/** Texts of a result's content: a string or blocks. */
function addInner(content, inner) {
	if (typeof inner === "string") content.texts.push(inner);
	else if (Array.isArray(inner)) for (const block of inner) addInner(content, block);
	else if (isObject(inner)) {
		if (inner.type === "text" && typeof inner.text === "string") content.texts.push(inner.text);
		else if (inner.type === "image") content.images++;
	}
}

export function addBlocks(content, blocks) {
	if (typeof blocks === "string") content.texts.push(blocks);
	if (!Array.isArray(blocks)) return content;
	for (const block of blocks) {
		if (typeof block === "string") content.texts.push(block);
		if (!isObject(block)) continue;
		if (block.type === "text" && typeof block.text === "string") content.texts.push(block.text);
		else if (block.type === "thinking" && typeof block.thinking === "string") content.texts.push(block.thinking);
		else if (block.type === "image") content.images++;
		else if (CALLS.has(block.type)) {
			content.calls++;
			if (typeof block.name === "string") content.texts.push(block.name);
			if (block.input !== undefined && block.input !== null)
				content.texts.push(typeof block.input === "string" ? block.input : JSON.stringify(block.input));
		} else if (typeof block.type === "string" && isResult(block.type)) {
			content.results++;
			addInner(content, block.content);
		}
	}
	return content;
}

export const blocksOf = (value) => addBlocks(emptyContent(), value);

export const callIds = (value) =>
	Array.isArray(value) ? value.filter((b) => CALLS.has(b?.type) && b.id).map((b) => b.id) : [];

export const resultIds = (value) =>
	Array.isArray(value) ? value.filter((b) => b?.type === "tool_result").map((b) => b.tool_use_id) : [];
