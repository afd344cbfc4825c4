/** Ids, names and roles are data, whatever they spell: a key that every object has is a name like any other. */
import { describe, expect, it } from "vitest";
import { CONTEXTS } from "#src/session/formats/contexts.js";
import { readerOf } from "#src/session/formats/readers.js";
import type { FormatName, JsonObject } from "#src/session/record.js";
import { tableOf } from "../helpers/table.js";

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty"];
const ARGUMENTS = '{"__proto__":{"polluted":1},"constructor":2}';
const input = () => JSON.parse(ARGUMENTS) as JsonObject;

const calls: Record<FormatName, (name: string) => JsonObject[]> = {
	pi: (name) => [
		{
			type: "message",
			id: name,
			parentId: null,
			message: { role: "assistant", content: [{ type: "toolCall", id: name, name, arguments: input() }] },
		},
		{
			type: "message",
			id: `${name}-result`,
			parentId: name,
			message: { role: "toolResult", toolCallId: name, toolName: name, content: "out" },
		},
		{ type: name, id: `${name}-entry`, parentId: `${name}-result` },
	],
	"claude-code": (name) => [
		{
			type: "assistant",
			uuid: name,
			parentUuid: null,
			message: { id: name, content: [{ type: "tool_use", id: name, name, input: input() }, { type: name }] },
		},
		{
			type: "user",
			uuid: `${name}-result`,
			parentUuid: name,
			message: { role: name, content: [{ type: "tool_result", tool_use_id: name, content: "out" }] },
		},
		{ type: "attachment", uuid: `${name}-file`, parentUuid: `${name}-result`, attachment: { type: name } },
		{ type: name },
	],
	codex: (name) =>
		[
			{ type: "function_call", call_id: name, name, arguments: ARGUMENTS },
			{ type: "function_call_output", call_id: name, output: "out" },
			{ type: name },
		].map((payload) => ({ timestamp: "2026-01-02T03:04:05.000Z", type: "response_item", payload })),
	"openai-chat": (name) => [
		{ role: "assistant", tool_calls: [{ id: name, type: "function", function: { name, arguments: ARGUMENTS } }] },
		{ role: "tool", tool_call_id: name, content: "out" },
	],
	anthropic: (name) => [
		{ role: "assistant", content: [{ type: "tool_use", id: name, name, input: input() }] },
		{ role: "user", content: [{ type: "tool_result", tool_use_id: name, content: [{ type: name }] }] },
	],
};

describe.each(Object.keys(calls) as FormatName[])("%s", (format) => {
	it.each(NAMES)("a call of %s and its result", async (name) => {
		const records = calls[format](name);
		const table = tableOf(readerOf(format), records);
		const { messages } = await CONTEXTS[format].branch(table, { scope: "context", leaf: null, memory: false });
		expect(Array.from({ length: messages.length }, (_, m) => messages.roleOf(m))).toEqual(["assistant", "tool_result"]);
		expect([table.callId, table.callName, table.resultId].map((column) => table.string(column.at(0)))).toEqual([
			name,
			name,
			name,
		]);
		const [call] = (readerOf(format).read(records[0])?.parts ?? []).filter((part) => part.type === "tool_call");
		expect(call).toMatchObject({ name, arguments: ARGUMENTS });
		expect({}).not.toHaveProperty("polluted");
	});

	it.each(NAMES)("a record whose type and role are %s is no message that is known", (name) => {
		const facts = readerOf(format).read({ type: name, role: name, content: "x", message: { role: name } });
		expect([null, "other"]).toContain(facts?.role ?? null);
	});
});
