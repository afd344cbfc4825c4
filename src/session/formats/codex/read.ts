/** Codex CLI rollouts: one line to facts. The rules and where they come from: NOTES.md. */
import { codePoints } from "../../code-points.js";
import { splitCutText } from "../../cut-text.js";
import {
	emptyFacts,
	isObject,
	type JsonObject,
	type JsonValue,
	type RecordFacts,
	stringOrNull,
	timeOf,
} from "../../record.js";
import { isBroken } from "../../well-formed.js";
import type { FormatReader } from "../format.js";
import { writtenSummary } from "./host-text.js";
import { agentMessage, itemFacts } from "./items.js";
import { HEADER_DEFAULTS, LOST_BASE, MARK, ROW } from "./kinds.js";

const LINE_TYPES = new Set([
	"session_meta",
	"turn_context",
	"world_state",
	"response_item",
	"event_msg",
	"compacted",
	"token_usage_record",
	"inter_agent_communication",
	"inter_agent_communication_metadata",
	"security_risk_score",
	"realtime_item",
]);

export const codexReader: FormatReader = { name: "codex", recognise, isWhole, read, session, items };

function recognise(record: JsonObject): number {
	if (isLine(record)) return typeof record.timestamp === "string" ? 3 : 2;
	if (record.payload !== undefined || record.message !== undefined) return 0;
	if (record.record_type === "state") return 3;
	return isFlatItem(record) || isFlatMeta(record) ? 2 : 0;
}

/** A payload alone looks like a flat line: only a whole line with its envelope is sure not to be torn out of another. */
function isWhole(record: JsonObject): boolean {
	return isLine(record) && typeof record.timestamp === "string";
}

function isLine(record: JsonObject): boolean {
	return typeof record.type === "string" && LINE_TYPES.has(record.type) && isObject(record.payload);
}

/** Versions until September 2025 wrote response items without an envelope. */
function isFlatItem(record: JsonObject): boolean {
	switch (record.type) {
		case "message":
			return (
				typeof record.role === "string" && Array.isArray(record.content) && record.content.some(isResponsesContent)
			);
		case "reasoning":
			return Array.isArray(record.summary);
		case "function_call":
		case "custom_tool_call":
			return typeof record.call_id === "string" || typeof record.name === "string";
		case "function_call_output":
		case "custom_tool_call_output":
			return typeof record.call_id === "string" || record.output !== undefined;
		case "local_shell_call":
		case "web_search_call":
			return isObject(record.action);
		default:
			return false;
	}
}

/** A response item that is no line: one of an old version's, or an item of a replacement history. */
export function isBare(record: JsonObject): boolean {
	return typeof record.type === "string" && !LINE_TYPES.has(record.type) && record.payload === undefined;
}

function isResponsesContent(entry: JsonValue): boolean {
	return (
		isObject(entry) && (entry.type === "input_text" || entry.type === "output_text" || entry.type === "input_image")
	);
}

/** The first line of such a file. */
export function isFlatMeta(record: JsonObject): boolean {
	return (
		record.type === undefined &&
		typeof record.id === "string" &&
		typeof record.timestamp === "string" &&
		(record.instructions !== undefined || isObject(record.git))
	);
}

function read(record: JsonObject): RecordFacts | null {
	if (!isObject(record.payload)) return readFlat(record);
	const facts = readLine(record, record.payload);
	if (!facts) return null;
	const own = timeOf(record.timestamp);
	if (!Number.isNaN(own)) facts.time = own;
	if (typeof record.ordinal !== "number") facts.flags |= MARK.UNNUMBERED;
	if (!HOST_READS_ANYHOW.has(facts.type) && !hostReads(record, facts)) return unreadable();
	return facts;
}

function readFlat(record: JsonObject): RecordFacts | null {
	const facts = isFlatMeta(record) ? metaFacts(record) : isBare(record) ? itemFacts(record) : null;
	if (facts) facts.flags |= MARK.FLAT;
	return facts;
}

/** The thread's id: every header names one, the first is the session's own. */
function session(record: JsonObject): string | null {
	if (isFlatMeta(record)) return stringOrNull(record.id);
	return record.type === "session_meta" && isObject(record.payload) ? stringOrNull(record.payload.id) : null;
}

function readLine(record: JsonObject, payload: JsonObject): RecordFacts | null {
	switch (record.type) {
		case "session_meta":
			return metaFacts(payload);
		case "response_item":
			// Codex keeps system messages out of its history, but sends those that stand in a replacement history.
			return payload.type === "message" && payload.role === "system" ? null : itemFacts(payload);
		case "compacted":
			return compactedFacts(payload);
		case "event_msg":
			return eventFacts(payload);
		case "turn_context":
			return turnFacts(ROW.TURN_CONTEXT, payload);
		case "world_state":
			return emptyFacts(ROW.WORLD_STATE);
		case "inter_agent_communication":
			return agentMessage(payload.content);
		default:
			return null;
	}
}

function metaFacts(payload: JsonObject): RecordFacts {
	const facts = emptyFacts(ROW.META);
	const base = isObject(payload.base_instructions) ? payload.base_instructions.text : payload.base_instructions;
	if (typeof base === "string" && base !== "") {
		facts.role = "system";
		facts.parts.push({ type: "text", text: base, from: "own" });
	}
	const paginated = payload.history_mode === "paginated";
	facts.meta = { id: stringOrNull(payload.id), ...(paginated ? { paginated } : {}) };
	const faults = HEADER_FIELDS.filter((field) => typeof payload[field] !== "string");
	if (faults.length === 0 && Number.isNaN(timeOf(payload.timestamp))) faults.push("timestamp");
	if (faults.length > 0) facts.meta.faults = faults;
	const { history_base } = payload;
	if (history_base !== undefined && history_base !== null)
		facts.meta.history_base = baseOf(history_base, facts.meta.id) ?? LOST_BASE;
	return facts;
}

/** Strings without which Codex takes a line for no header (seen in 0.171). */
const HEADER_FIELDS = ["id", "timestamp", ...Object.keys(HEADER_DEFAULTS)];

/** What a header says of the file that it continues; null when no file can be meant. */
function baseOf(value: JsonValue, own: JsonValue | undefined): JsonObject | null {
	if (!isObject(value)) return null;
	const id = stringOrNull(value.thread_id);
	const end = value.end_byte_offset;
	// A parent has at least the line of its own header.
	const inFile = typeof end === "number" && Number.isSafeInteger(end) && end > 0;
	return id === null || id === own || !inFile ? null : { id, end };
}

/**
 * With a replacement history the row itself says nothing: its items do (`meta.items` is their number). Without one its message is the summary.
 * `meta.summary` is the length of what the model wrote, in code points: path scope finds the reply by it.
 */
function compactedFacts(payload: JsonObject): RecordFacts {
	const facts = emptyFacts(ROW.COMPACTED);
	const message = typeof payload.message === "string" ? payload.message : "";
	const summary = codePoints(writtenSummary(message));
	if (Array.isArray(payload.replacement_history)) {
		facts.meta = { items: payload.replacement_history.length, summary };
		return payload.replacement_history.some(hasLoneSurrogate) ? unreadable() : facts;
	}
	facts.role = "summary";
	facts.flags |= MARK.TURN;
	facts.parts.push({ type: "text", text: message === "" ? "(no summary available)" : message, from: "own" });
	facts.meta = { items: null, summary };
	return facts;
}

function items(record: JsonObject): RecordFacts[] {
	const history = isObject(record.payload) ? record.payload.replacement_history : null;
	if (!Array.isArray(history)) return [];
	const time = timeOf(record.timestamp);
	return history.map((item) => {
		const facts = (isObject(item) ? itemFacts(item) : null) ?? emptyFacts(ROW.ITEM);
		if (Number.isNaN(facts.time)) facts.time = time;
		return facts;
	});
}

function eventFacts(payload: JsonObject): RecordFacts | null {
	switch (payload.type) {
		case "token_count":
			return usageFacts(payload.info);
		case "thread_rolled_back": {
			const facts = emptyFacts(ROW.ROLLBACK);
			facts.meta = { turns: typeof payload.num_turns === "number" ? payload.num_turns : 0 };
			return facts;
		}
		case "task_started":
		case "turn_started":
			return turnFacts(ROW.TURN_START, payload);
		case "task_complete":
		case "turn_complete":
			return turnFacts(ROW.TURN_END, payload);
		case "turn_aborted":
			return turnFacts(ROW.TURN_ABORTED, payload);
		case "user_message":
			return emptyFacts(ROW.USER_EVENT);
		case "agent_message":
			return emptyFacts(ROW.WORDS_EVENT);
		case "item_completed": {
			const kind = isObject(payload.item) ? payload.item.type : null;
			if (kind === "UserMessage") return emptyFacts(ROW.USER_ITEM_EVENT);
			return kind === "AgentMessage" ? emptyFacts(ROW.WORDS_EVENT) : null;
		}
		default:
			return null;
	}
}

/** The usage of the last reply; the totals beside it are cumulative (openclaw#118772). Codex itself writes zeros after a compaction. */
function usageFacts(info: JsonValue | undefined): RecordFacts | null {
	const last = isObject(info) ? info.last_token_usage : null;
	if (!isObject(info) || !isObject(last)) return null;
	const input = numberOr0(last.input_tokens);
	const output = numberOr0(last.output_tokens);
	if (input + output <= 0) return null;
	const cached = Math.min(numberOr0(last.cached_input_tokens), input);
	const window = numberOr0(info.model_context_window);
	const facts = emptyFacts(ROW.USAGE);
	facts.usage = {
		input: input - cached,
		output,
		cacheRead: cached,
		cacheWrite: 0,
		window: window > 0 ? window : null,
	};
	return facts;
}

function turnFacts(type: number, payload: JsonObject): RecordFacts {
	const facts = emptyFacts(type);
	facts.group = stringOrNull(payload.turn_id);
	return facts;
}

/** Kinds of rows that take nothing from the conversation: a fault in their line changes nothing. */
const HOST_READS_ANYHOW: ReadonlySet<number> = new Set([ROW.META, ROW.UNKNOWN_ITEM, ROW.UNREADABLE, ROW.USAGE]);

/**
 * Whether Codex reads the line. It silently drops one without a timestamp, with an ordinal that is no number, or with a lone surrogate:
 * seen in 0.171.
 */
function hostReads(record: JsonObject, facts: RecordFacts): boolean {
	const { ordinal } = record;
	const ordered = ordinal === undefined || ordinal === null || (Number.isInteger(ordinal) && Number(ordinal) >= 0);
	return typeof record.timestamp === "string" && ordered && !hasBrokenText(facts);
}

function hasLoneSurrogate(item: JsonValue): boolean {
	const facts = isObject(item) ? itemFacts(item) : null;
	return facts !== null && hasBrokenText(facts);
}

function hasBrokenText({ parts }: RecordFacts): boolean {
	return parts.some((part) => {
		if (part.type === "text" || part.type === "thinking") return isDropped(part.text);
		return part.type === "tool_call" && (isDropped(part.name) || isDropped(part.arguments ?? ""));
	});
}

/** A text that was loaded in part may end inside a pair. */
function isDropped(text: string): boolean {
	return isBroken(text) && splitCutText(text).missing === null;
}

function unreadable(): RecordFacts {
	return emptyFacts(ROW.UNREADABLE);
}

function numberOr0(value: JsonValue | undefined): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
