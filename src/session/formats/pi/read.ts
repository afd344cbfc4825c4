/** Pi's records to facts: header, entries of all versions, and bare messages of a list in memory. */
import {
	emptyFacts,
	isObject,
	type JsonObject,
	type JsonValue,
	type RecordFacts,
	stringOrNull,
	timeOf,
} from "../../record.js";
import type { FormatReader } from "../format.js";
import { type CompactionMeta, type EditMeta, type HeaderMeta, type LabelMeta, PI_FLAG, TYPE } from "./codes.js";
import { messageFacts } from "./message.js";
import { contentParts, resultPart, summaryParts } from "./parts.js";
import { isWholePi, recognisePi } from "./recognise.js";

export const piReader: FormatReader = {
	name: "pi",
	recognise: recognisePi,
	isWhole: isWholePi,

	read(record) {
		if (typeof record.type !== "string") return typeof record.role === "string" ? bareMessage(record) : null;
		return record.type === "session" ? header(record) : entry(record);
	},

	session: (record) => (record.type === "session" ? stringOrNull(record.id) : null),
	identity,

	/**
	 * A compaction holds the system message beside its summary. An edited tool result keeps its call id and gets other content: its record
	 * gives the opening of a result, the edit's record the content as a result's.
	 */
	items(record) {
		if (record.type === "compaction" && isObject(record.systemMessage)) {
			return [{ ...item(record), ...messageFacts(record.systemMessage) }];
		}
		if (record.type === "context_edit" && isObject(record.replacement)) {
			return [{ ...item(record), parts: contentParts(record.replacement.content, "result") }];
		}
		if (record.type === "message" && isObject(record.message) && record.message.role === "toolResult") {
			return [{ ...item(record), parts: [resultPart(record.message)] }];
		}
		return [];
	},
};

function item(record: JsonObject): RecordFacts {
	return { ...emptyFacts(TYPE.ITEM), time: timeOf(record.timestamp) };
}

function header(record: JsonObject): RecordFacts {
	const meta: HeaderMeta = {
		version: typeof record.version === "number" ? record.version : 1,
		id: stringOrNull(record.id),
		cwd: stringOrNull(record.cwd),
		parentSession: stringOrNull(record.parentSession),
	};
	return { ...emptyFacts(TYPE.HEADER), time: timeOf(record.timestamp), meta };
}

function bareMessage(record: JsonObject): RecordFacts {
	return { ...emptyFacts(TYPE.BARE), time: timeOf(record.timestamp), ...messageFacts(record) };
}

function entry(record: JsonObject): RecordFacts {
	return {
		...emptyFacts(TYPE.LINK),
		id: stringOrNull(record.id),
		parent: stringOrNull(record.parentId),
		time: timeOf(record.timestamp),
		...entryFacts(record),
	};
}

function entryFacts(record: JsonObject): Partial<RecordFacts> {
	switch (record.type) {
		case "message":
			return isObject(record.message) ? { type: TYPE.MESSAGE, ...messageFacts(record.message) } : {};
		case "custom_message":
			return {
				type: TYPE.MESSAGE,
				role: "custom",
				flags: PI_FLAG.EDITABLE,
				parts: contentParts(record.content, "own"),
			};
		case "branch_summary":
			// Pi makes no message of an empty one.
			return typeof record.summary === "string" && record.summary !== ""
				? { type: TYPE.MESSAGE, role: "summary", parts: summaryParts(record.summary) }
				: {};
		case "compaction":
			return {
				type: TYPE.COMPACTION,
				role: "summary",
				parts: summaryParts(record.summary),
				meta: compactionMeta(record),
			};
		case "context_edit":
			return editFacts(stringOrNull(record.targetId), record.replacement);
		case "label": {
			const target = stringOrNull(record.targetId);
			return target === null ? {} : { type: TYPE.LABEL, meta: { target } satisfies LabelMeta };
		}
		default:
			return {};
	}
}

/** All but what Pi changes when it opens a file of an older version and writes it anew: links, and the name of a role. */
function identity({ id: _id, parentId: _parentId, ...record }: JsonObject): JsonObject {
	if (record.type === "compaction") {
		const { firstKeptEntryIndex: _index, firstKeptEntryId: _kept, ...rest } = record;
		return rest;
	}
	const { message } = record;
	if (record.type !== "message" || !isObject(message) || message.role !== "hookMessage") return record;
	return { ...record, message: { ...message, role: "custom" } };
}

function compactionMeta(record: JsonObject): CompactionMeta {
	return {
		kept: stringOrNull(record.firstKeptEntryId),
		keptIndex: typeof record.firstKeptEntryIndex === "number" ? record.firstKeptEntryIndex : null,
		system: isObject(record.systemMessage),
	};
}

/** An edit that says neither what it changes nor how changes nothing. */
function editFacts(target: string | null, replacement: JsonValue | undefined): Partial<RecordFacts> {
	if (target === null || (replacement !== null && !isObject(replacement))) return {};
	const meta: EditMeta = { target, drop: replacement === null };
	const parts = replacement === null ? [] : contentParts(replacement.content, "own");
	return { type: TYPE.CONTEXT_EDIT, parts, meta };
}
