/** What an element of a message array looks like, whatever its API. */
import { isObject, type JsonObject, type JsonValue } from "../record.js";

/** Fields that records of other agents have around or beside a message. */
const FOREIGN_KEYS = [
	"uuid",
	"parentUuid",
	"sessionId",
	"isSidechain",
	"payload",
	"parentId",
	"message",
	"stopReason",
] as const;

/** Fields in which a message says something; each may stand alone. */
const SAID_KEYS = ["content", "tool_calls", "function_call", "refusal", "audio", "reasoning_content"] as const;

/** Whether a record has a role and something said in it, and none of the marks of an agent's session file. */
export function isArrayMessage(record: JsonObject): boolean {
	if (typeof record.role !== "string" || FOREIGN_KEYS.some((key) => key in record)) return false;
	return SAID_KEYS.some((key) => key in record);
}

/** Types of the parts of a content; a string or null has none, a bare string in a list counts as text. */
export function partTypes(content: JsonValue | undefined): string[] {
	if (!Array.isArray(content)) return [];
	return content.map((part) => (isObject(part) && typeof part.type === "string" ? part.type : "text"));
}
