/** How an element of an OpenAI chat array is told from those of other formats. */
import { isObject, type JsonObject } from "../../record.js";
import { isArrayMessage, partTypes } from "../array-message.js";

/** Content parts that only this API has. */
const OWN_PARTS: ReadonlySet<string> = new Set(["image_url", "input_audio", "file", "refusal"]);
const OWN_ROLES: ReadonlySet<string> = new Set(["developer", "tool", "function"]);

/** See `FormatReader.recognise`: 3 for what only this API has, 2 for what Anthropic's messages have as well. */
export function recogniseOpenaiChat(record: JsonObject): number {
	const { role } = record;
	if (typeof role !== "string" || !isArrayMessage(record)) return 0;
	if (OWN_ROLES.has(role) || Array.isArray(record.tool_calls) || isObject(record.function_call)) return 3;
	const types = partTypes(record.content);
	if (types.some((type) => OWN_PARTS.has(type)) || typeof record.refusal === "string") return 3;
	if (record.stop_reason !== undefined) return 0;
	if (role !== "system" && role !== "user" && role !== "assistant") return 0;
	return types.every((type) => type === "text") ? 2 : 0;
}
