/** How an element of an Anthropic messages array is told from those of other formats. */
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import { isArrayMessage, partTypes } from "../array-message.js";

/** Content blocks that only this API has. */
const OWN_BLOCKS: ReadonlySet<string> = new Set([
	"tool_use",
	"tool_result",
	"thinking",
	"redacted_thinking",
	"server_tool_use",
	"mcp_tool_use",
	"search_result",
	"container_upload",
	"compaction",
]);

/** See `FormatReader.recognise`: 3 for what only this API has, 2 for what OpenAI's chat has as well (which then wins, RULINGS 23). */
export function recogniseAnthropic(record: JsonObject): number {
	const { role, content } = record;
	if (!isArrayMessage(record) || record.tool_calls !== undefined || record.function_call !== undefined) return 0;
	if (role !== "user" && role !== "assistant" && role !== "system") return 0;
	const types = partTypes(content);
	if (types.some((type) => OWN_BLOCKS.has(type) || type.endsWith("_tool_result")) || hasSource(content)) return 3;
	if (role === "assistant" && record.stop_reason !== undefined) return 3;
	if (content === undefined || content === null || !types.every((type) => type === "text")) return 0;
	return role === "system" ? 1 : 2;
}

/** An image or document as this API has it: with a `source`. */
function hasSource(content: JsonValue | undefined): boolean {
	return Array.isArray(content) && content.some((block) => isObject(block) && isObject(block.source));
}
