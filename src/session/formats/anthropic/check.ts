/** Would the Messages API take the array? What is wrong inside one message; the rules and their sources are in NOTES.md. */
import { isObject, type JsonObject, type JsonValue, stringOrNull } from "../../record.js";
import type { RecordFinding, ResumeCheck } from "../../resume.js";
import { refused, shown, surrogateFindings } from "../array-check.js";
import { isBlank, isBlankText, isEmptyText, isHollowThinking } from "./clean.js";
import { checkTurns } from "./turns-check.js";

const ROLES: ReadonlySet<JsonValue | undefined> = new Set(["user", "assistant", "system"]);
/** Blocks that only an assistant's message may hold; server results as well. */
const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set([
	"tool_use",
	"server_tool_use",
	"mcp_tool_use",
	"thinking",
	"redacted_thinking",
]);

export const anthropicCheck: ResumeCheck = {
	pairs: null,
	record: (record) => [
		...roleFindings(record),
		...contentFindings(record),
		...orderFindings(record),
		...surrogateFindings(record),
	],
	whole: checkTurns,
};

function roleFindings({ role }: JsonObject): RecordFinding[] {
	return ROLES.has(role) ? [] : [refused("unknown_role", `The API knows no role ${shown(role)}.`)];
}

function contentFindings({ role, content }: JsonObject): RecordFinding[] {
	if (Array.isArray(content) && content.length > 0) return content.flatMap((block) => blockFindings(block, role));
	if (typeof content === "string" && !isBlank(content)) return [];
	return [refused("empty_content", `A message has content ${JSON.stringify(content)?.slice(0, 20) ?? "none"}.`)];
}

function blockFindings(block: JsonValue, role: JsonValue | undefined): RecordFinding[] {
	if (!isObject(block)) return [refused("block_form", `A content block is ${shown(block)}.`)];
	const type = typeof block.type === "string" ? block.type : "";
	if (type === "") return [refused("block_form", `A content block has the type ${shown(block.type)}.`)];
	const findings: RecordFinding[] = [];
	if (isBlankText(block)) findings.push(refused("empty_text", `A text block holds ${shown(block.text)}.`));
	if (isHollowThinking(block)) findings.push(refused("hollow_thinking", "A thinking block has no text."));
	else if (type === "thinking" && stringOrNull(block.signature) === null)
		findings.push(refused("unsigned_thinking", "A thinking block has no signature."));
	if (isCall(type)) findings.push(...callFindings(block));
	if (type.endsWith("tool_result") && stringOrNull(block.tool_use_id) === null)
		findings.push(refused("missing_tool_use_id", `A ${type} has the tool_use_id ${shown(block.tool_use_id)}.`));
	if (type === "tool_result" && Array.isArray(block.content) && block.content.some(isEmptyText))
		findings.push(refused("empty_text", `The result of ${shown(block.tool_use_id)} holds an empty text block.`));
	const ofAssistant = ASSISTANT_BLOCKS.has(type) || type.endsWith("_tool_result");
	if ((role === "user" && ofAssistant) || (role === "assistant" && type === "tool_result"))
		findings.push(refused("misplaced_block", `A ${type} stands in a message of the ${role}.`));
	return findings;
}

function isCall(type: string): boolean {
	return type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use";
}

function callFindings({ type, id, name, input }: JsonObject): RecordFinding[] {
	const findings: RecordFinding[] = [];
	if (stringOrNull(id) === null)
		findings.push(refused("missing_call_id", `A ${String(type)} has the id ${shown(id)}.`));
	if (stringOrNull(name) === null)
		findings.push(refused("missing_call_name", `A ${String(type)} has the name ${shown(name)}.`));
	if (!isObject(input))
		findings.push(refused("input_no_object", `The input of ${shown(name)} is ${shown(input)}, not an object.`));
	return findings;
}

/** Results come first in a user's message (qwen-code#8161). */
function orderFindings({ role, content }: JsonObject): RecordFinding[] {
	if (role !== "user" || !Array.isArray(content)) return [];
	const other = content.findIndex((block) => !isResult(block));
	const late = other < 0 ? undefined : content.slice(other).find(isResult);
	if (late === undefined) return [];
	const id = isObject(late) ? late.tool_use_id : undefined;
	return [refused("results_not_first", `The result of ${shown(id)} stands behind another block of its message.`)];
}

function isResult(block: JsonValue): boolean {
	return isObject(block) && block.type === "tool_result";
}
