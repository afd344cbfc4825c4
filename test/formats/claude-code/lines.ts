/** Short hands for Claude Code lines and for what a branch of them holds. */

import { type Branch, type BranchOptions, MESSAGE } from "#src/session/branch.js";
import { claudeCodeContext } from "#src/session/formats/claude-code/context.js";
import { claudeCodeReader } from "#src/session/formats/claude-code/read.js";
import { contentTexts, type JsonObject, type JsonValue, type Part } from "#src/session/record.js";
import type { RecordTable } from "#src/session/table.js";
import { tableOf } from "../../helpers/table.js";

/** A minute of the morning as an ISO date: `at(5)` is five past nine. */
export function at(minute: number): string {
	return new Date(Date.UTC(2026, 0, 1, 9, minute)).toISOString();
}

type Extra = JsonObject;

export function line(type: string, uuid: string, parent: string | null, extra: Extra = {}): JsonObject {
	return { type, uuid, parentUuid: parent, isSidechain: false, sessionId: "s", ...extra };
}

export function user(uuid: string, parent: string | null, content: JsonValue = uuid, extra: Extra = {}): JsonObject {
	return line("user", uuid, parent, { message: { role: "user", content }, ...extra });
}

/** One line of an answer; `id` is its message id, the uuid unless given. */
export function answer(
	uuid: string,
	parent: string | null,
	content: JsonValue = [{ type: "text", text: uuid }],
	{ id = uuid, usage, model = "m", ...extra }: Extra = {},
): JsonObject {
	const message: JsonObject = { id, role: "assistant", model, content };
	if (usage !== undefined) message.usage = usage;
	return line("assistant", uuid, parent, { message, ...extra });
}

export function call(uuid: string, parent: string | null, callId: string, extra: Extra = {}): JsonObject {
	return answer(uuid, parent, [{ type: "tool_use", id: callId, name: "Bash", input: { command: callId } }], extra);
}

export function result(uuid: string, parent: string | null, callId: string, extra: Extra = {}): JsonObject {
	const content = [{ type: "tool_result", tool_use_id: callId, content: `done ${callId}` }];
	return user(uuid, parent, content, extra);
}

export function progress(uuid: string, parent: string | null, extra: Extra = {}): JsonObject {
	return line("progress", uuid, parent, { data: { type: "hook_progress" }, ...extra });
}

export function reminder(uuid: string, parent: string | null, text = uuid): JsonObject {
	const attachment = { type: "date", rendered: [{ content: text }] };
	return line("attachment", uuid, parent, { attachment });
}

export function boundary(uuid: string, extra: Extra = {}): JsonObject {
	return line("system", uuid, null, { subtype: "compact_boundary", content: "Conversation compacted", ...extra });
}

export function summary(uuid: string, parent: string | null): JsonObject {
	return user(uuid, parent, `summary ${uuid}`, { isCompactSummary: true });
}

export interface Read extends Branch {
	table: RecordTable;
	/** `role: entry entry`, one a message; `!` in front where it is not sent. */
	list: string[];
	/** Kinds of damage with the entry they are about; `*` where it is on the anchor. */
	found: string[];
}

export async function read(lines: readonly JsonObject[], options: Partial<BranchOptions> = {}): Promise<Read> {
	const table = tableOf(claudeCodeReader, lines);
	const branch = await claudeCodeContext.branch(table, { scope: "context", leaf: null, memory: false, ...options });
	const list: string[] = [];
	for (let m = 0; m < branch.messages.length; m++) {
		const entries = [...branch.messages.entriesOf(m)].map((row) => table.entryOf(row));
		const mark = branch.messages.marks.at(m) & MESSAGE.UNSENT ? "!" : "";
		list.push(`${mark}${branch.messages.roleOf(m)}: ${entries.join(" ")}`);
	}
	const found = branch.damage.map((d) => `${d.kind} ${table.entryOf(d.row)}${d.onAnchor ? "*" : ""}`);
	return { ...branch, table, list, found };
}

export function partsOf(record: JsonObject): Part[] {
	return claudeCodeReader.read(record)?.parts ?? [];
}

export function textsOf(record: JsonObject): string[] {
	return contentTexts(partsOf(record));
}
