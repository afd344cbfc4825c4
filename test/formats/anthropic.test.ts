import { describe, expect, it } from "vitest";
import { buildAtoms } from "#src/atoms/build.js";
import { ATOM } from "#src/atoms/table.js";
import { anthropicContext } from "#src/session/formats/anthropic/context.js";
import { anthropicReader } from "#src/session/formats/anthropic/read.js";
import { contentTexts, type JsonObject, type JsonValue, type Part } from "#src/session/record.js";
import { atomsOf, documentTable, factsOf, listed, WHOLE } from "./array-table.js";

const user = (...content: JsonValue[]): JsonObject => ({ role: "user", content });
const assistant = (...content: JsonValue[]): JsonObject => ({ role: "assistant", content });
const text = (words: string) => ({ type: "text", text: words });
const use = (id: string, input: JsonValue = {}) => ({ type: "tool_use", id, name: "read", input });
const result = (id: string, content: JsonValue = "ok") => ({ type: "tool_result", tool_use_id: id, content });
const search = (id: string) => ({ type: "server_tool_use", id, name: "web_search", input: { query: "q" } });
const found = (id: string) => ({
	type: "web_search_tool_result",
	tool_use_id: id,
	content: [{ type: "web_search_result", title: "Title", url: "https://example.org", encrypted_content: "zzzz" }],
});
const GIF = { type: "base64", media_type: "image/gif", data: "R0lGODlhAwAEAIAA" };

const own = (words: string): Part => ({ type: "text", text: words, from: "own" });
const resultText = (words: string): Part => ({ type: "text", text: words, from: "result" });
const opened = (id: string | null): Part => ({ type: "tool_result", id, name: null, byName: false });

describe("an element of an Anthropic array", () => {
	const CASES: [name: string, record: JsonObject, role: string, parts: Part[]][] = [
		["a string", { role: "user", content: "hi" }, "user", [own("hi")]],
		["blocks", user(text("a"), text("b")), "user", [own("a"), own("b")]],
		["an unknown role", { role: "tool", content: "x" }, "other", [own("x")]],
		[
			"images",
			user(
				{ type: "image", source: GIF },
				{ type: "image", source: { type: "url", url: "https://example.org/a.png" } },
			),
			"user",
			[
				{ type: "image", mime: "image/gif", bytes: 12, width: 3, height: 4, from: "own" },
				{ type: "image", mime: "unknown", bytes: 0, width: null, height: null, from: "own" },
			],
		],
		[
			"documents",
			user(
				{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } },
				{ type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
			),
			"user",
			[{ type: "opaque", what: "document" }, own("words")],
		],
		[
			"thinking and calls",
			assistant(
				{ type: "thinking", thinking: "hm", signature: "s" },
				{ type: "redacted_thinking", data: "zzz" },
				text("go"),
				use("t1", { path: "a" }),
			),
			"assistant",
			[
				{ type: "thinking", text: "hm" },
				{ type: "opaque", what: "redacted_thinking" },
				own("go"),
				{ type: "tool_call", id: "t1", name: "read", arguments: '{"path":"a"}', answer: "result" },
			],
		],
		[
			"results, as string and as blocks with an image, and the user's words",
			user(result("t1"), result("t2", [text("out"), { type: "image", source: GIF }]), text("and now")),
			"tool_result",
			[
				opened("t1"),
				resultText("ok"),
				opened("t2"),
				resultText("out"),
				{ type: "image", mime: "image/gif", bytes: 12, width: 3, height: 4, from: "result" },
				own("and now"),
			],
		],
		["a result without content", user({ type: "tool_result", tool_use_id: "t1" }), "tool_result", [opened("t1")]],
		[
			"a server call answered inside the message",
			assistant(search("s1"), found("s1"), text("found")),
			"assistant",
			[
				{ type: "tool_call", id: "s1", name: "web_search", arguments: '{"query":"q"}', answer: "none" },
				opened("s1"),
				resultText("Title"),
				resultText("https://example.org"),
				{ type: "opaque", what: "encrypted_content" },
				own("found"),
			],
		],
		[
			"a server call of a paused turn",
			assistant(search("s1")),
			"assistant",
			[{ type: "tool_call", id: "s1", name: "web_search", arguments: '{"query":"q"}', answer: "result" }],
		],
		[
			"a compaction block",
			assistant({ type: "compaction", content: "what was" }, text("go on")),
			"assistant",
			[own("what was"), own("go on")],
		],
		["a failed compaction", assistant({ type: "compaction", content: null }), "assistant", []],
	];
	it.each(CASES)("%s", (_name, record, role, parts) => {
		const facts = factsOf(anthropicReader, record);
		expect(facts.role).toBe(role);
		expect(facts.parts).toEqual(parts);
	});

	it("never counts ids, signatures and payloads", () => {
		const record = assistant(
			{ type: "thinking", thinking: "hm", signature: "s".repeat(99) },
			use("t".repeat(99)),
			search("s1"),
			found("s1"),
		);
		expect(contentTexts(factsOf(anthropicReader, record).parts)).toEqual([
			"hm",
			"read",
			"{}",
			"web_search",
			'{"query":"q"}',
			"Title",
			"https://example.org",
		]);
	});
});

describe("pairs of an Anthropic array", () => {
	const CASES: [name: string, messages: JsonObject[], atoms: string[]][] = [
		[
			"parallel calls, answered together",
			[user(text("x")), assistant(use("a"), use("b")), user(result("b"), result("a"))],
			["user none - #0", "tool_exchange closed - #1,#2"],
		],
		[
			"results over two user messages of one turn",
			[assistant(use("a"), use("b")), user(result("a")), user(result("b"))],
			["tool_exchange closed - #0,#1,#2"],
		],
		[
			"the user's words before the result, in one turn (RULINGS 9)",
			[assistant(use("a")), user(text("words")), user(result("a"))],
			["tool_exchange closed - #0,#2", "user none - #1"],
		],
		[
			"a result behind another assistant message",
			[assistant(use("a")), user(text("x")), assistant(text("y")), user(result("a"))],
			[
				"tool_exchange ambiguous ambiguous_tool_protocol #0",
				"user none - #1",
				"assistant none - #2",
				"orphan_result orphan orphan_result #3",
			],
		],
		[
			"a server pair inside the message (claude-code#65098)",
			[assistant(search("s"), found("s"), text("t")), user(text("x"))],
			["tool_exchange closed - #0", "user none - #1"],
		],
		[
			"a server call without its result",
			[assistant(search("s")), user(text("x"))],
			["tool_exchange abandoned - #0", "user none - #1"],
		],
		[
			"a server result without its call",
			[assistant(found("s")), user(text("x"))],
			["assistant ambiguous ambiguous_tool_protocol #0", "user none - #1"],
		],
		[
			"an empty id",
			[assistant(use("")), user(text("x"))],
			["tool_exchange ambiguous ambiguous_tool_protocol #0", "user none - #1"],
		],
	];
	it.each(CASES)("%s", async (_name, messages, atoms) => {
		expect(await atomsOf(anthropicReader, anthropicContext, messages)).toEqual(atoms);
	});

	it("marks an exchange that holds the user's own words", async () => {
		const table = documentTable(anthropicReader, [assistant(use("a")), user(result("a"), text("words"))]);
		const { atoms } = await buildAtoms(table, await anthropicContext.branch(table, WHOLE));
		expect(atoms.length).toBe(1);
		expect(atoms.has(0, ATOM.USER_TEXT)).toBe(true);
	});
});

describe("the branch of an Anthropic array", () => {
	const usage = (input: number, output: number) => ({
		input_tokens: input,
		cache_read_input_tokens: 10,
		cache_creation_input_tokens: 5,
		output_tokens: output,
	});
	const messages = [
		user(text("a")),
		{ ...assistant(text("b")), usage: usage(1, 2) },
		user(text("c")),
		{ ...assistant(text("d")), usage: usage(3, 4) },
	];

	it("has the system prompt and the tools of the document in front", async () => {
		const tools = [{ name: "read", input_schema: {} }];
		for (const system of ["rules", [text("ru"), text("les")]]) {
			const table = documentTable(anthropicReader, messages, { model: "m", system, tools, messages: [] });
			const branch = await anthropicContext.branch(table, WHOLE);
			expect(listed(table, branch)).toEqual([
				"system system",
				"system tools",
				"user #0",
				"assistant #1",
				"user #2",
				"assistant #3",
			]);
			expect((await buildAtoms(table, branch)).system).toMatchObject({
				messages: 2,
				chars: 5 + JSON.stringify(tools).length,
			});
			expect(branch.adjacency).toBe("turn");
		}
	});

	it.each([
		[{ system: "" }],
		[{ system: [] }],
		[{ system: null }],
		[{ tools: [] }],
		[{ tools: null }],
		[{ usage: {} }],
		[{ usage: { input_tokens: 0 } }],
		[{ model: "m" }],
	])("%j says nothing", (fields) => {
		const [[key, value]] = Object.entries(fields) as [string, JsonValue][];
		expect(anthropicReader.field?.(key, value)).toBeNull();
	});

	it("takes the usage of the last reply before the leaf, rather than the document's", async () => {
		const table = documentTable(anthropicReader, messages, { usage: usage(900, 900) });
		const at = async (leaf: string | null) => (await anthropicContext.branch(table, { ...WHOLE, leaf })).usage;
		expect(await at(null)).toEqual({
			usage: { input: 3, output: 4, cacheRead: 10, cacheWrite: 5, window: null },
			row: 3,
		});
		expect(await at("#2")).toMatchObject({ usage: { input: 1, output: 2 }, row: 1 });
		expect(await at("#0")).toBeNull();
	});

	it("says that a compaction block is not applied, and trusts no older usage", async () => {
		const table = documentTable(anthropicReader, [...messages, assistant({ type: "compaction", content: "s" })]);
		const branch = await anthropicContext.branch(table, WHOLE);
		expect(branch.messages.length).toBe(5);
		expect(branch.notices).toEqual([expect.stringContaining("#4")]);
		expect(branch.usage).toBeNull();
		expect((await anthropicContext.branch(table, { ...WHOLE, leaf: "#3" })).notices).toEqual([]);
	});
});
