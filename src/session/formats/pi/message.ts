/** What one Pi message says, whether an entry holds it or a host's memory. */
import {
	FLAG,
	isObject,
	type JsonObject,
	type JsonValue,
	type Part,
	type RecordFacts,
	type Usage,
} from "../../record.js";
import { PI_FLAG } from "./codes.js";
import { bashParts, contentParts, resultPart, summaryParts, systemParts } from "./parts.js";

type MessageFacts = Pick<RecordFacts, "role" | "flags" | "parts" | "usage">;

/** Role, marks, parts and usage of a message; a role unknown here is `other`, which Pi keeps but does not send. */
export function messageFacts(message: JsonObject): MessageFacts {
	const facts: MessageFacts = { role: "other", flags: 0, parts: [], usage: null };
	switch (message.role) {
		case "system":
			facts.role = "system";
			facts.parts = systemParts(message);
			break;
		case "user":
			facts.role = "user";
			facts.parts = contentParts(message.content, "own");
			facts.flags = PI_FLAG.EDITABLE | (isSkillAlone(facts.parts) ? FLAG.HOST : 0);
			break;
		case "assistant":
			facts.role = "assistant";
			facts.parts = contentParts(message.content, "own");
			facts.usage = usageOf(message.usage);
			facts.flags = PI_FLAG.EDITABLE | replyFlags(message, facts.usage);
			break;
		case "toolResult":
			facts.role = "tool_result";
			facts.parts = [resultPart(message), ...contentParts(message.content, "result")];
			facts.flags = PI_FLAG.EDITABLE;
			break;
		case "bashExecution":
			facts.role = "bash";
			facts.parts = bashParts(message);
			facts.flags = message.excludeFromContext === true ? FLAG.UNSENT : 0;
			break;
		case "custom":
		case "hookMessage":
			facts.role = "custom";
			facts.parts = contentParts(message.content, "own");
			facts.flags = PI_FLAG.EDITABLE | (message.role === "hookMessage" ? PI_FLAG.HOOK : 0);
			break;
		case "branchSummary":
			facts.role = "summary";
			facts.parts = summaryParts(message.summary);
			break;
		case "compactionSummary":
			facts.role = "summary";
			facts.parts = summaryParts(message.summary);
			facts.flags = PI_FLAG.COMPACTED;
			break;
		default:
			facts.parts = contentParts(message.content, "own");
			facts.flags = FLAG.UNSENT;
	}
	return facts;
}

/** Failed and stopped replies are kept but not sent; they and replies without a token are no source of usage (RULINGS 5, 19). */
function replyFlags(message: JsonObject, usage: Usage | null): number {
	const { stopReason } = message;
	if (stopReason === "error") return PI_FLAG.FAILED | FLAG.UNSENT | FLAG.INVALID_USAGE;
	if (stopReason === "aborted") return FLAG.UNSENT | FLAG.INVALID_USAGE;
	const tokens = usage ? usage.input + usage.output + usage.cacheRead + usage.cacheWrite : 0;
	return (stopReason === "length" ? PI_FLAG.CUT_OFF : 0) | (tokens > 0 ? 0 : FLAG.INVALID_USAGE);
}

function usageOf(value: JsonValue | undefined): Usage | null {
	if (!isObject(value)) return null;
	return {
		input: tokens(value.input),
		output: tokens(value.output),
		cacheRead: tokens(value.cacheRead),
		cacheWrite: tokens(value.cacheWrite),
		window: null,
	};
}

function tokens(value: JsonValue | undefined): number {
	return typeof value === "number" && value > 0 ? value : 0;
}

/** What `/skill:name` becomes: the skill's own text, then the words typed behind the command, if any. */
const SKILL = /^<skill name="[^"]+" location="[^"]+">\n[\s\S]*?\n<\/skill>(?:\n\n([\s\S]+))?$/;

/** A command without arguments: nobody's words (RULINGS 17). */
function isSkillAlone(parts: readonly Part[]): boolean {
	const [only] = parts;
	if (parts.length !== 1 || only.type !== "text" || !only.text.startsWith('<skill name="')) return false;
	const found = SKILL.exec(only.text);
	return found !== null && (found[1] ?? "").trim() === "";
}
