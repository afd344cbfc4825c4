import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildAtoms } from "#src/atoms/build.js";
import { openaiChatContext } from "#src/session/formats/openai-chat/context.js";
import { openaiChatReader } from "#src/session/formats/openai-chat/read.js";
import { contentTexts, type JsonObject, type Part } from "#src/session/record.js";
import { atomsOf, documentTable, factsOf, listed, WHOLE } from "./array-table.js";

const user = (content: string): JsonObject => ({ role: "user", content });
const calls = (...ids: (string | null)[]): JsonObject => ({
	role: "assistant",
	content: null,
	tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: '{"path":"a"}' } })),
});
const result = (id: string, content = "ok"): JsonObject => ({ role: "tool", tool_call_id: id, content });

const own = (text: string): Part => ({ type: "text", text, from: "own" });
const call = (id: string | null, name: string, args: string | null, answer: "result" | "by_name" = "result"): Part => ({
	type: "tool_call",
	id,
	name,
	arguments: args,
	answer,
});

describe("an element of an OpenAI chat array", () => {
	const CASES: [name: string, record: JsonObject, role: string, parts: Part[]][] = [
		["system prompt", { role: "system", content: "rules" }, "system", [own("rules")]],
		["developer prompt", { role: "developer", content: "rules" }, "system", [own("rules")]],
		["user words", user("hi"), "user", [own("hi")]],
		["an unknown role", { role: "critic", content: "bad" }, "other", [own("bad")]],
		["no role", { content: "bad" }, "other", [own("bad")]],
		["content null", { role: "assistant", content: null }, "assistant", []],
		["no content", { role: "assistant" }, "assistant", []],
		[
			"parts",
			{
				role: "user",
				content: [
					{ type: "text", text: "see" },
					{ type: "image_url", image_url: { url: "data:image/gif;base64,R0lGODlhAwAEAIAA" } },
					{ type: "image_url", image_url: "https://example.org/a.png" },
					{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
					{ type: "file", file: { file_id: "f1" } },
					"bare",
				],
			},
			"user",
			[
				own("see"),
				{ type: "image", mime: "image/gif", bytes: 12, width: 3, height: 4, from: "own" },
				{ type: "image", mime: "unknown", bytes: 0, width: null, height: null, from: "own" },
				{ type: "opaque", what: "input_audio" },
				{ type: "opaque", what: "file" },
				own("bare"),
			],
		],
		["a refusal beside null content", { role: "assistant", content: null, refusal: "no" }, "assistant", [own("no")]],
		["a refusal part", { role: "assistant", content: [{ type: "refusal", refusal: "no" }] }, "assistant", [own("no")]],
		[
			"reasoning of a server, sent twice",
			{ role: "assistant", content: "x", reasoning_content: "think", reasoning: "think" },
			"assistant",
			[{ type: "thinking", text: "think" }, own("x")],
		],
		[
			"arguments as stored, as object, empty and null",
			{
				role: "assistant",
				content: "go",
				tool_calls: [
					{ id: "c1", type: "function", function: { name: "a", arguments: '{ "x":1 }' } },
					{ id: "c2", type: "function", function: { name: "b", arguments: { x: [1] } } },
					{ id: "c3", type: "function", function: { name: "c", arguments: "" } },
					{ id: "c4", type: "function", function: { name: "d", arguments: null } },
				],
			},
			"assistant",
			[
				own("go"),
				call("c1", "a", '{ "x":1 }'),
				call("c2", "b", '{"x":[1]}'),
				call("c3", "c", ""),
				call("c4", "d", null),
			],
		],
		[
			"ids that are missing or empty, a custom call, a call without its wrapper",
			{
				role: "assistant",
				tool_calls: [
					{ type: "function", function: { name: "a", arguments: "{}" } },
					{ id: "", function: { arguments: "{}" } },
					{ id: "c", type: "custom", custom: { name: "sh", input: "ls" } },
					{ id: "d", name: "bare", arguments: {} },
				],
			},
			"assistant",
			[call(null, "a", "{}"), call(null, "", "{}"), call("c", "sh", "ls"), call("d", "bare", "{}")],
		],
		[
			"a legacy function call",
			{ role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
			"assistant",
			[call(null, "f", "{}", "by_name")],
		],
		[
			"both forms of one call",
			{ ...calls("c1"), function_call: { name: "read", arguments: '{"path":"a"}' } },
			"assistant",
			[call("c1", "read", '{"path":"a"}')],
		],
		[
			"a result",
			{ role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "out" }] },
			"tool_result",
			[
				{ type: "tool_result", id: "c1", name: null, byName: false },
				{ type: "text", text: "out", from: "result" },
			],
		],
		[
			"a legacy function result",
			{ role: "function", name: "f", content: "out" },
			"tool_result",
			[
				{ type: "tool_result", id: null, name: "f", byName: true },
				{ type: "text", text: "out", from: "result" },
			],
		],
	];
	it.each(CASES)("%s", (_name, record, role, parts) => {
		const facts = factsOf(openaiChatReader, record);
		expect(facts.role).toBe(role);
		expect(facts.parts).toEqual(parts);
	});

	it("survives arguments nested deeper than JSON.stringify can follow", () => {
		const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
		const record = { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: deep } }] };
		expect(contentTexts(factsOf(openaiChatReader, record).parts)[1]).toHaveLength(40_000);
	});

	it.each([
		["2026-01-02T03:04:05Z", Date.UTC(2026, 0, 2, 3, 4, 5)],
		[1_767_323_045, 1_767_323_045_000],
		[1_767_323_045_000, 1_767_323_045_000],
		[undefined, Number.NaN],
	])("time of %s", (timestamp, time) => {
		expect(factsOf(openaiChatReader, { ...user("x"), timestamp }).time).toBe(time);
	});
});

describe("pairs of an OpenAI chat array", () => {
	const CASES: [name: string, messages: JsonObject[], atoms: string[]][] = [
		[
			"parallel calls, answered in any order",
			[user("x"), calls("a", "b"), result("b"), result("a")],
			["user none - #0", "tool_exchange closed - #1,#2,#3"],
		],
		[
			"a user message between results",
			[calls("a", "b"), result("a"), user("x"), result("b")],
			[
				"tool_exchange ambiguous ambiguous_tool_protocol #0,#1",
				"user none - #2",
				"orphan_result orphan orphan_result #3",
			],
		],
		[
			"a system message between call and result is transparent",
			[calls("a"), { role: "system", content: "s" }, result("a")],
			["tool_exchange closed - #0,#2"],
		],
		[
			"two of three answered: abandoned, whole (langchain#38352)",
			[calls("a", "b", "c"), result("a"), result("b"), user("x")],
			["tool_exchange abandoned - #0,#1,#2", "user none - #3"],
		],
		[
			"a missing id",
			[calls(null), result("a")],
			["tool_exchange ambiguous ambiguous_tool_protocol #0", "orphan_result orphan orphan_result #1"],
		],
		[
			"an id used in every turn (qwen-code#8382)",
			[calls("run:0"), result("run:0"), calls("run:0"), result("run:0")],
			[
				"tool_exchange ambiguous ambiguous_tool_protocol #0,#1",
				"tool_exchange ambiguous ambiguous_tool_protocol #2,#3",
			],
		],
		[
			"a call duplicated (openclaw#93320)",
			[calls("a", "a"), result("a")],
			["tool_exchange ambiguous ambiguous_tool_protocol #0,#1"],
		],
		[
			"a legacy call and its result, paired by name",
			[
				{ role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
				{ role: "function", name: "f", content: "r" },
				user("x"),
			],
			["tool_exchange closed - #0,#1", "user none - #2"],
		],
		[
			"a legacy result of another name",
			[
				{ role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
				{ role: "function", name: "g", content: "r" },
			],
			["tool_exchange abandoned - #0", "orphan_result orphan orphan_result #1"],
		],
		[
			"a committed block",
			[user("[midcompact block c0001: topic]\nsummary"), user("x")],
			["block none committed_block #0", "user none - #1"],
		],
	];
	it.each(CASES)("%s", async (_name, messages, atoms) => {
		expect(await atomsOf(openaiChatReader, openaiChatContext, messages)).toEqual(atoms);
	});
});

describe("the branch of an OpenAI chat array", () => {
	const messages = [{ role: "system", content: "s" }, user("a"), { role: "assistant", content: "b" }, user("c")];
	const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } };
	const fields = { model: "m", tools: [{ type: "function", function: { name: "f" } }], usage };

	it("lists the fields around the array first, then the array", async () => {
		const table = documentTable(openaiChatReader, messages, fields);
		const branch = await openaiChatContext.branch(table, WHOLE);
		expect(listed(table, branch)).toEqual(["system tools", "system #0", "user #1", "assistant #2", "user #3"]);
		expect(table.entryOf(branch.leaf)).toBe("#3");
		expect(branch.adjacency).toBe("literal");
		expect([...branch.walked]).toEqual([1, 1, 1, 1, 1, 1]);
		const { system } = await buildAtoms(table, branch);
		expect(system).toMatchObject({ messages: 2, chars: JSON.stringify(fields.tools).length + 1 });
	});

	it("is the same in path scope and in memory", async () => {
		const table = documentTable(openaiChatReader, messages, fields);
		const context = await openaiChatContext.branch(table, WHOLE);
		const path = await openaiChatContext.branch(table, { scope: "path", leaf: null, memory: true });
		expect(path).toEqual(context);
		expect([...path.messages.marks.view()]).toEqual([0, 0, 0, 0, 0]);
	});

	it("ends at the leaf that is named", async () => {
		const table = documentTable(openaiChatReader, messages, fields);
		const branch = await openaiChatContext.branch(table, { ...WHOLE, leaf: "#1" });
		expect(listed(table, branch)).toEqual(["system tools", "system #0", "user #1"]);
		expect(table.entryOf(branch.leaf)).toBe("#1");
		expect([...branch.walked]).toEqual([1, 1, 0, 0, 1, 1]);
	});

	it.each(["#4", "#-1", "1", "tools", "", "a0001"])("does not know the leaf %j", async (leaf) => {
		const table = documentTable(openaiChatReader, messages, fields);
		await expect(openaiChatContext.branch(table, { ...WHOLE, leaf })).rejects.toMatchObject({ code: "unknown_ref" });
	});

	it("is empty for an empty array", async () => {
		const branch = await openaiChatContext.branch(documentTable(openaiChatReader, []), WHOLE);
		expect(branch).toMatchObject({ leaf: -1, usage: null, notices: [], damage: [] });
		expect(branch.messages.length).toBe(0);
	});

	it("takes usage from the document only for its end", async () => {
		const table = documentTable(openaiChatReader, messages, fields);
		const { usage: recorded } = await openaiChatContext.branch(table, WHOLE);
		expect(recorded?.usage).toEqual({ input: 40, output: 7, cacheRead: 60, cacheWrite: 0, window: null });
		expect(table.entryOf(recorded?.row ?? -1)).toBe("usage");
		expect((await openaiChatContext.branch(table, { ...WHOLE, leaf: "#2" })).usage).toBeNull();
	});
});

const REAL = "../shared/sessions/openai/text-mode.traj.json";
describe.skipIf(!existsSync(REAL))("a real array without tool calls", () => {
	it("is read as OpenAI chat, one message an element", async () => {
		const messages = JSON.parse(readFileSync(REAL, "utf8")) as JsonObject[];
		const table = documentTable(openaiChatReader, messages);
		expect(listed(table, await openaiChatContext.branch(table, WHOLE))).toEqual(
			messages.map((m, i) => `${m.role} #${i}`),
		);
		expect(messages.every((m) => openaiChatReader.recognise(m) === 2)).toBe(true);
	});
});
