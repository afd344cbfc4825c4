import { describe, expect, it } from "vitest";
import { READERS } from "#src/session/formats/readers.js";
import type { JsonObject } from "#src/session/record.js";

const user = (content: string): JsonObject => ({ role: "user", content });
const calls = (...ids: (string | null)[]): JsonObject => ({
	role: "assistant",
	content: null,
	tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: '{"path":"a"}' } })),
});
const result = (id: string, content = "ok"): JsonObject => ({ role: "tool", tool_call_id: id, content });

describe("detection between the array formats", () => {
	/** Votes of all readers, those that give none left out. */
	const votes = (record: JsonObject) =>
		Object.fromEntries(READERS.map((r) => [r.name, r.recognise(record)] as const).filter(([, vote]) => vote > 0));
	const CASES: [name: string, record: JsonObject, votes: Record<string, number>][] = [
		["plain words: a tie that goes to OpenAI (RULINGS 23)", user("x"), { "openai-chat": 2, anthropic: 2 }],
		["text parts", { role: "user", content: [{ type: "text", text: "x" }] }, { "openai-chat": 2, anthropic: 2 }],
		["system in the array", { role: "system", content: "x" }, { "openai-chat": 2, anthropic: 1 }],
		["tool calls", calls("a"), { "openai-chat": 3 }],
		["a tool message", result("a"), { "openai-chat": 3 }],
		["a function call", { role: "assistant", content: null, function_call: { name: "f" } }, { "openai-chat": 3 }],
		[
			"an image by URL",
			{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] },
			{ "openai-chat": 3 },
		],
		[
			"tool_use",
			{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
			{ anthropic: 3 },
		],
		[
			"tool_result",
			{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] },
			{ anthropic: 3 },
		],
		[
			"thinking",
			{ role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "s" }] },
			{ anthropic: 3 },
		],
		[
			"an image with a source",
			{ role: "user", content: [{ type: "image", source: { type: "base64", data: "" } }] },
			{ anthropic: 3 },
		],
		[
			"a whole reply of the API",
			{
				id: "msg_1",
				type: "message",
				role: "assistant",
				stop_reason: "end_turn",
				content: [{ type: "text", text: "x" }],
			},
			{ anthropic: 3 },
		],
		["a list of people", { name: "Ann", role: "user" }, {}],
		["another role", { role: "admin", content: "x" }, {}],
	];
	it.each(CASES)("%s", (_name, record, expected) => {
		expect(votes(record)).toEqual(expected);
	});

	const FOREIGN: [name: string, record: JsonObject][] = [
		["Pi", { type: "message", id: "e1", parentId: null, timestamp: "2026-01-01T00:00:00Z", message: user("x") }],
		["Claude Code", { type: "user", uuid: "u", parentUuid: null, sessionId: "s", message: user("x") }],
		[
			"Codex",
			{
				timestamp: "2026-01-01T00:00:00Z",
				type: "response_item",
				payload: { type: "message", role: "user", content: [] },
			},
		],
		["Codex of 2025", { type: "message", role: "user", content: [{ type: "input_text", text: "x" }] }],
	];
	it.each(FOREIGN)("no vote for a record of %s", (_name, record) => {
		expect(votes(record)["openai-chat"]).toBeUndefined();
		expect(votes(record).anthropic).toBeUndefined();
	});
});
