/** Telling Claude Code lines from those of other formats, and whole ones from objects nested in torn ones. */
import { isObject, type JsonObject } from "../../record.js";

/** Kinds of lines with a uuid. */
const CHAIN_KINDS: ReadonlySet<string> = new Set(["user", "assistant", "attachment", "system", "progress"]);

/** Kinds of bookkeeping lines that no other format has, each with a field that it always carries. */
const BOOKKEEPING: ReadonlyMap<string, string> = new Map([
	["summary", "leafUuid"],
	["file-history-snapshot", "messageId"],
	["file-history-delta", "messageId"],
	["queue-operation", "operation"],
	["permission-mode", "permissionMode"],
	["mode", "sessionId"],
	["last-prompt", "sessionId"],
	["custom-title", "customTitle"],
	["ai-title", "aiTitle"],
	["agent-name", "agentName"],
	["pr-link", "prUrl"],
	["frame-link", "frameUrl"],
	["worktree-state", "sessionId"],
	["relocated", "relocatedCwd"],
	["started", "agentId"],
	["result", "agentId"],
	["bridge-session", "bridgeSessionId"],
	["atis-latch", "atis"],
	["cost-state", "sessionId"],
	["tools-used", "sessionId"],
	["content-replacement", "sessionId"],
	["marble-origami-commit", "sessionId"],
	["marble-origami-snapshot", "sessionId"],
	["attribution-snapshot", "messageId"],
	["api-request", "sessionId"],
	["api-request-blob", "sessionId"],
	["api-request-shape", "sessionId"],
]);

/** 3: a line as the host writes it; 2: one of a simpler writer; 1: one that only belongs to a session, or a link that says nothing; 0: none of these. */
export function recogniseLine(record: JsonObject): number {
	const { type } = record;
	if (typeof type !== "string") return 0;
	if (CHAIN_KINDS.has(type)) {
		const linked = typeof record.uuid === "string" && ("parentUuid" in record || "sessionId" in record);
		return linked ? 3 : recogniseLoose(record, type);
	}
	const field = BOOKKEEPING.get(type);
	if (field !== undefined) return field in record ? 3 : typeof record.sessionId === "string" ? 1 : 0;
	return typeof record.sessionId === "string" && typeof record.uuid === "string" ? 1 : 0;
}

/** A chain line that names neither parent nor session. */
function recogniseLoose(record: JsonObject, type: string): number {
	const held = type === "user" || type === "assistant" ? record.message : record.attachment;
	if (isObject(held) || typeof record.uuid === "string") return 2;
	return (type === "system" && typeof record.subtype === "string") || (type === "progress" && isObject(record.data))
		? 1
		: 0;
}

/**
 * A sub-agent's message inside a progress line has type, message, uuid and timestamp, but neither a parent nor a session: a whole chain line has
 * one of both (RULINGS 20).
 */
export function isWholeLine(record: JsonObject): boolean {
	const { type } = record;
	if (typeof type !== "string") return false;
	if (CHAIN_KINDS.has(type)) return "parentUuid" in record || typeof record.sessionId === "string";
	const field = BOOKKEEPING.get(type);
	return field !== undefined ? field in record : typeof record.sessionId === "string";
}
