/** One line of a Claude Code session to facts. Lines that nothing needs read as null; which fields count is in NOTES.md. */
import {
	emptyFacts,
	FLAG,
	isObject,
	type JsonObject,
	type JsonValue,
	type RecordFacts,
	stringOrNull,
	timeOf,
	type Usage,
} from "../../record.js";
import type { FormatReader } from "../format.js";
import { attachmentParts, queuedParts, snapshotParts } from "./attachment.js";
import { contentMarks } from "./blocks.js";
import { contentParts } from "./content.js";
import { isFromHost } from "./host-text.js";
import { type BoundaryMeta, LINE, MARK, type TitleMeta } from "./kinds.js";
import { isWholeLine, recogniseLine } from "./recognise.js";

/** Model name of replies that the host made up. */
const SYNTHETIC = "<synthetic>";

export const claudeCodeReader: FormatReader = {
	name: "claude-code",
	recognise: recogniseLine,
	isWhole: isWholeLine,
	read(record) {
		switch (record.type) {
			case "progress":
				// Most lines of older files. Only the link is needed: `data` may hold a sub-agent's whole message, and is never looked at.
				return link(record, LINE.PROGRESS);
			case "user":
				return user(record);
			case "assistant":
				return assistant(record);
			case "attachment":
				return attachment(record);
			case "system":
				return record.subtype === "compact_boundary" ? boundary(record) : link(record, LINE.SYSTEM);
			case "content-replacement":
				return emptyFacts(LINE.REPLACEMENT);
			case "marble-origami-commit":
			case "marble-origami-snapshot":
				return emptyFacts(LINE.COLLAPSE);
			case "custom-title":
			case "ai-title":
			case "agent-name":
			case "summary":
				return title(record, record.type);
			default:
				return null;
		}
	},
	session(record) {
		const session = stringOrNull(record.sessionId);
		const agent = record.isSidechain === true ? stringOrNull(record.agentId) : null;
		return session !== null && agent !== null ? `${session}-${agent}` : session;
	},
};

/** What every chain line has. */
function link(record: JsonObject, type: number): RecordFacts {
	const facts = emptyFacts(type);
	facts.id = stringOrNull(record.uuid);
	facts.parent = stringOrNull(record.parentUuid);
	facts.time = timeOf(record.timestamp);
	if (record.isSidechain === true) facts.flags |= MARK.SIDECHAIN;
	return facts;
}

/** `toolUseResult`, the copy for the screen, is never looked at. */
function user(record: JsonObject): RecordFacts {
	const facts = link(record, LINE.USER);
	if (!isObject(record.message)) return facts;
	facts.parts = contentParts(record.message.content);
	facts.flags |= contentMarks(record.message.content);
	if (record.isCompactSummary === true) facts.role = "summary";
	else {
		facts.role = facts.parts.some((part) => part.type === "tool_result") ? "tool_result" : "user";
		if (isFromHost(record, facts.parts)) facts.flags |= FLAG.HOST;
	}
	return facts;
}

function assistant(record: JsonObject): RecordFacts {
	const facts = link(record, LINE.ASSISTANT);
	const { message } = record;
	if (!isObject(message)) return facts;
	facts.role = "assistant";
	facts.parts = contentParts(message.content);
	facts.flags |= contentMarks(message.content);
	facts.usage = usageOf(message.usage);
	if (record.isApiErrorMessage === true) facts.flags |= FLAG.UNSENT;
	else facts.group = stringOrNull(message.id);
	if (!isValidReply(record, message, facts.usage)) facts.flags |= FLAG.INVALID_USAGE;
	return facts;
}

/** Errors, aborts, replies made up by the host and zero rows say nothing of the context's size (RULINGS 19). */
function isValidReply(record: JsonObject, message: JsonObject, usage: Usage | null): boolean {
	if (record.isApiErrorMessage === true || record.isAbortedMidStream === true) return false;
	if (message.model === SYNTHETIC || usage === null) return false;
	return usage.input + usage.output + usage.cacheRead + usage.cacheWrite > 0;
}

function usageOf(usage: JsonValue | undefined): Usage | null {
	if (!isObject(usage)) return null;
	return {
		input: countOf(usage.input_tokens),
		output: countOf(usage.output_tokens),
		cacheRead: countOf(usage.cache_read_input_tokens),
		cacheWrite: countOf(usage.cache_creation_input_tokens),
		window: null,
	};
}

function countOf(value: JsonValue | undefined): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

function attachment(record: JsonObject): RecordFacts {
	const held = record.attachment;
	if (!isObject(held)) return link(record, LINE.ATTACHMENT);
	if (held.type === "prompt_snapshot") {
		const facts = link(record, LINE.SNAPSHOT);
		facts.role = "system";
		facts.parts = snapshotParts(held);
		return facts;
	}
	const facts = link(record, LINE.ATTACHMENT);
	if (held.type === "queued_command") {
		facts.role = "user";
		facts.parts = queuedParts(held);
		const byHost = record.isMeta === true || held.commandMode === "task-notification" || isFromHost(held, facts.parts);
		if (byHost) facts.flags |= FLAG.HOST;
	} else {
		facts.flags |= FLAG.ATTACHED;
		facts.parts = attachmentParts(held);
	}
	return facts;
}

function boundary(record: JsonObject): RecordFacts {
	const facts = link(record, LINE.BOUNDARY);
	const about = isObject(record.compactMetadata) ? record.compactMetadata : {};
	const segment = isObject(about.preservedSegment) ? about.preservedSegment : {};
	const kept = isObject(about.preservedMessages) ? about.preservedMessages : {};
	const meta: BoundaryMeta = {
		logicalParent: stringOrNull(record.logicalParentUuid),
		anchor: stringOrNull(kept.anchorUuid) ?? stringOrNull(segment.anchorUuid),
		preserved: Array.isArray(kept.uuids) ? kept.uuids.filter((id) => typeof id === "string") : [],
		head: stringOrNull(segment.headUuid),
		tail: stringOrNull(segment.tailUuid),
	};
	facts.meta = meta;
	return facts;
}

function title(record: JsonObject, kind: string): RecordFacts {
	const facts = emptyFacts(LINE.TITLE);
	const meta: TitleMeta = { title: kind, leaf: stringOrNull(record.leafUuid) };
	facts.meta = meta;
	return facts;
}
