/** Short ways to write Pi records by hand. */
import type { JsonObject, JsonValue } from "#src/session/record.js";

const AT = "2026-01-02T03:04:05.000Z";

export const header = (fields: JsonObject = {}): JsonObject => ({
	type: "session",
	version: 3,
	id: "0199aaaa-0000-7000-8000-000000000000",
	timestamp: AT,
	cwd: "/work",
	...fields,
});

/** An entry; `parentId` defaults to none. */
export const entry = (type: string, id: string, parentId: string | null, fields: JsonObject = {}): JsonObject => ({
	type,
	id,
	parentId,
	timestamp: AT,
	...fields,
});

export const message = (id: string, parentId: string | null, body: JsonObject): JsonObject =>
	entry("message", id, parentId, { message: { timestamp: 1, ...body } });

export const text = (value: string): JsonObject => ({ type: "text", text: value });
export const call = (id: string, name = "read", args: JsonValue = { path: "f" }): JsonObject => ({
	type: "toolCall",
	id,
	name,
	arguments: args,
});

export const user = (id: string, parentId: string | null, words: JsonValue): JsonObject =>
	message(id, parentId, { role: "user", content: words });

export const assistant = (
	id: string,
	parentId: string | null,
	content: JsonValue,
	fields: JsonObject = {},
): JsonObject => message(id, parentId, { role: "assistant", content, stopReason: "stop", ...fields });

export const result = (id: string, parentId: string | null, callId: string, content: JsonValue): JsonObject =>
	message(id, parentId, { role: "toolResult", toolCallId: callId, toolName: "read", content, isError: false });

export const usage = (input: number, output: number, cacheRead = 0, cacheWrite = 0): JsonObject => ({
	input,
	output,
	cacheRead,
	cacheWrite,
	totalTokens: input + output + cacheRead + cacheWrite,
});

/** Gives each record the one before as its parent, the header aside. */
export function inLine(records: readonly JsonObject[]): JsonObject[] {
	let parentId: JsonValue = null;
	return records.map((record) => {
		if (record.type === "session") return record;
		const linked = { ...record, parentId };
		parentId = record.id ?? null;
		return linked;
	});
}

/** Entries as version 1 wrote them: neither ids nor parents. */
export function withoutIds(records: readonly JsonObject[]): JsonObject[] {
	return records.map((record) => {
		if (record.type === "session") return record;
		const { id: _id, parentId: _parentId, ...rest } = record;
		return rest;
	});
}

export const compaction = (id: string, firstKeptEntryId: string, fields: JsonObject = {}): JsonObject =>
	entry("compaction", id, null, { summary: `sum ${id}`, firstKeptEntryId, tokensBefore: 9, ...fields });

export const edit = (id: string, targetId: string, replacement: JsonObject | null): JsonObject =>
	entry("context_edit", id, null, { targetId, replacement });

/** A session of version 3 whose entries follow each other. */
export const lines = (...records: JsonObject[]): JsonObject[] => inLine([header(), ...records]);
