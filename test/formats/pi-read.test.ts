import { describe, expect, it } from "vitest";
import { measureParts } from "#src/measure/parts.js";
import { piReader } from "#src/session/formats/pi/read.js";
import { contentTexts, FLAG, type JsonObject, type RecordFacts } from "#src/session/record.js";
import { assistant, call, entry, header, message, result, text, usage, user } from "./pi/entries.js";

function read(record: JsonObject): RecordFacts {
	const facts = piReader.read(record);
	if (!facts) throw new Error("no facts");
	return facts;
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR4nGP4z8DwH4QZYAwAR8oH+WdZbrcAAAAASUVORK5CYII=";

describe("entries", () => {
	it("keeps the header apart from the entries", () => {
		const facts = read(header({ parentSession: "/s/a.jsonl" }));
		expect(facts.id).toBeNull();
		expect(facts.role).toBeNull();
		expect(facts.meta).toEqual({
			version: 3,
			id: "0199aaaa-0000-7000-8000-000000000000",
			cwd: "/work",
			parentSession: "/s/a.jsonl",
		});
		const { version: _version, ...old } = header();
		expect(read(old).meta).toMatchObject({ version: 1 });
	});

	it.each([
		["model_change", { provider: "p", modelId: "m" }],
		["thinking_level_change", { thinkingLevel: "off" }],
		["custom", { customType: "x", data: { text: "never sent" } }],
		["label", { label: "of nothing" }],
		["session_info", { name: "n" }],
		["usage", { kind: "compaction", usage: usage(1, 1) }],
		["something_new", { content: "unknown" }],
		["message", { message: null }],
		["context_edit", { targetId: "a" }],
		["branch_summary", { fromId: "root", summary: "" }],
	])("takes %s for a link of the chain only", (type, fields) => {
		const facts = read(entry(type, "b", "a", fields));
		expect(facts).toMatchObject({ role: null, id: "b", parent: "a", parts: [], usage: null, meta: null });
	});

	it("takes a label for a link that says what it names", () => {
		const facts = read(entry("label", "b", "a", { targetId: "u", label: "here" }));
		expect(facts).toMatchObject({ role: null, id: "b", parent: "a", parts: [], meta: { target: "u" } });
	});

	it("needs nothing of an object that is neither entry nor message", () => {
		expect(piReader.read({ foo: 1 })).toBeNull();
	});

	it("takes the time of the entry", () => {
		expect(read(user("a", null, "x")).time).toBe(Date.parse("2026-01-02T03:04:05.000Z"));
	});
});

describe("messages", () => {
	it.each<[string, JsonObject, string, string[]]>([
		["user", { role: "user", content: "typed" }, "user", ["typed"]],
		["user in parts", { role: "user", content: [text("a"), text("b")] }, "user", ["a", "b"]],
		["user without content", { role: "user", content: null }, "user", []],
		[
			"assistant",
			{
				role: "assistant",
				content: [{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, text("t"), call("1")],
			},
			"assistant",
			["hm", "t", "read", '{"path":"f"}'],
		],
		["assistant without content", { role: "assistant", content: [] }, "assistant", []],
		[
			"toolResult",
			{ role: "toolResult", toolCallId: "1", content: [text("out")], details: { x: "copy" } },
			"tool_result",
			["out"],
		],
		["bashExecution", { role: "bashExecution", command: "ls", output: "a b" }, "bash", ["ls", "a b"]],
		["custom", { role: "custom", customType: "x", content: "c", details: { y: 1 } }, "custom", ["c"]],
		["hookMessage", { role: "hookMessage", customType: "x", content: "h" }, "custom", ["h"]],
		["branchSummary", { role: "branchSummary", summary: "s" }, "summary", ["s"]],
		["compactionSummary", { role: "compactionSummary", summary: "s" }, "summary", ["s"]],
		["a role unknown here", { role: "artifact", content: "z" }, "other", ["z"]],
		[
			"system",
			{
				role: "system",
				content: "base",
				sections: { rules: "be kind", gone: null },
				toolsAdded: [{ name: "read" }],
				toolsRemoved: [{ name: "old" }],
			},
			"system",
			["base", "be kind", '[{"name":"read"}]'],
		],
	])("reads %s", (_name, body, role, texts) => {
		const wrapped = read(message("a", null, body));
		expect(wrapped.role).toBe(role);
		expect(contentTexts(wrapped.parts)).toEqual(texts);
		const bare = read({ timestamp: 5, ...body });
		expect(bare).toMatchObject({ role, id: null, time: 5 });
		expect(bare.parts).toEqual(wrapped.parts);
	});

	it("takes arguments as stored when they are text, as JSON otherwise, none for null", () => {
		const texts = (args: JsonObject[string]) => contentTexts(read(assistant("a", null, [call("1", "t", args)])).parts);
		expect(texts('{"a": 1}')).toEqual(["t", '{"a": 1}']);
		expect(texts({ a: 1, b: ["é"] })).toEqual(["t", '{"a":1,"b":["é"]}']);
		expect(texts([1])).toEqual(["t", "[1]"]);
		expect(texts(null)).toEqual(["t"]);
	});

	it("writes out arguments nested deeper than the stack", () => {
		const deep = `${'{"a":['.repeat(50_000)}"x"${"]}".repeat(50_000)}`;
		const facts = read(assistant("a", null, [call("1", "t", JSON.parse(deep))]));
		expect(contentTexts(facts.parts)).toEqual(["t", deep]);
	});

	it("says whose texts and images these are", () => {
		const image = { type: "image", data: PNG, mimeType: "image/png" };
		expect(read(user("a", null, [text("see"), image])).parts).toMatchObject([
			{ type: "text", from: "own" },
			{ type: "image", from: "own", mime: "image/png", width: 2, height: 3 },
		]);
		expect(read(result("a", null, "call|fc", [text("r"), image])).parts).toMatchObject([
			{ type: "tool_result", id: "call|fc", name: "read", byName: false },
			{ type: "text", from: "result" },
			{ type: "image", from: "result" },
		]);
		expect(read(message("a", null, { role: "bashExecution", command: "c", output: "" })).parts).toMatchObject([
			{ text: "c", from: "command" },
			{ text: "", from: "output" },
		]);
	});

	it("keeps parts it does not know as opaque", () => {
		const facts = read(assistant("a", null, [{ type: "sketch", text: "no" }, { type: "text" }, 7, text("yes")]));
		expect(facts.parts.map((part) => part.type)).toEqual(["opaque", "opaque", "opaque", "text"]);
	});

	it.each<[string, JsonObject, boolean, boolean]>([
		["a good reply", { role: "assistant", content: [], usage: usage(3, 2), stopReason: "stop" }, false, false],
		["a failed reply", { role: "assistant", content: [], usage: usage(3, 2), stopReason: "error" }, true, true],
		["a stopped reply", { role: "assistant", content: [], usage: usage(3, 2), stopReason: "aborted" }, true, true],
		[
			"a reply that counted nothing",
			{ role: "assistant", content: [], usage: usage(0, 0), stopReason: "stop" },
			false,
			true,
		],
		["bash", { role: "bashExecution", command: "c", output: "o" }, false, false],
		[
			"bash kept from the context",
			{ role: "bashExecution", command: "c", output: "o", excludeFromContext: true },
			true,
			false,
		],
		["a role unknown here", { role: "artifact", content: "z" }, true, false],
	])("marks %s", (_name, body, unsent, invalid) => {
		const { flags } = read(message("a", null, body));
		expect([(flags & FLAG.UNSENT) !== 0, (flags & FLAG.INVALID_USAGE) !== 0]).toEqual([unsent, invalid]);
	});

	it("records the usage of replies only", () => {
		expect(read(assistant("a", null, [], { usage: usage(1, 2, 3, 4) })).usage).toEqual({
			input: 1,
			output: 2,
			cacheRead: 3,
			cacheWrite: 4,
			window: null,
		});
		expect(
			read(message("a", null, { role: "toolResult", toolCallId: "1", content: [], usage: usage(9, 9) })).usage,
		).toBeNull();
		expect(read(entry("compaction", "a", null, { summary: "s", usage: usage(9, 9) })).usage).toBeNull();
	});

	it.each([
		["/skill:x", '<skill name="x" location="/s/x.md">\nDo this.\n</skill>', true],
		["/skill:x with words", '<skill name="x" location="/s/x.md">\nDo this.\n</skill>\n\nfor main.ts', false],
		["words about a skill", 'What is <skill name="x" location="y">?', false],
	])("tells what the host wrote from what a person typed: %s", (_name, words, host) => {
		expect((read(user("a", null, [text(words)])).flags & FLAG.HOST) !== 0).toBe(host);
	});

	it("is a block when a custom message carries the mark", () => {
		const block = (content: string) => {
			const facts = read(
				entry("custom_message", "a", null, {
					customType: "midcompact-summary",
					content,
					details: { blockId: "c0001" },
				}),
			);
			expect(facts.role).toBe("custom");
			return (measureParts(facts).flags & FLAG.BLOCK) !== 0;
		};
		expect(block("[midcompact block c0001: parser]\nDone.")).toBe(true);
		expect(block("no mark")).toBe(false);
	});
});

describe("recognition", () => {
	const sum = (records: JsonObject[]) => records.reduce((n, record) => n + piReader.recognise(record), 0);

	it("knows its own records", () => {
		expect(piReader.recognise(header())).toBe(3);
		expect(piReader.recognise(user("a", null, "x"))).toBe(3);
		expect(
			piReader.recognise({ type: "message", timestamp: "2025-11-20T23:33:01.550Z", message: { role: "user" } }),
		).toBe(3);
		expect(piReader.recognise(entry("label", "a", null))).toBe(3);
		expect(
			sum([
				{ role: "user", content: "x", timestamp: 1 },
				{ role: "toolResult", toolCallId: "1", content: [] },
			]),
		).toBe(5);
	});

	it("leaves records of others alone", () => {
		expect(
			sum([
				{ role: "user", content: "x" },
				{ role: "assistant", content: [text("x")] },
				{ role: "tool", tool_call_id: "1", content: "x" },
				{ role: "system", content: "x" },
				{ type: "message", role: "user", content: [{ type: "input_text", text: "x" }] },
				{ type: "session_meta", timestamp: "2026-01-01T00:00:00Z", payload: { id: "x" } },
				{ type: "user", uuid: "u", parentUuid: null, timestamp: "2026-01-01T00:00:00Z", message: { role: "user" } },
				{ type: "summary", summary: "x", leafUuid: "u" },
			]),
		).toBe(0);
	});

	it("takes for whole only what is no part of another record", () => {
		const reply = assistant("b", "a", [text("x"), call("1")]);
		expect(piReader.isWhole(header())).toBe(true);
		expect(piReader.isWhole(reply)).toBe(true);
		expect(piReader.isWhole(entry("something_new", "b", "a"))).toBe(true);
		expect(
			piReader.isWhole({ type: "message", timestamp: "2025-11-20T23:33:01.550Z", message: { role: "user" } }),
		).toBe(true);
		expect(piReader.isWhole(reply.message as JsonObject)).toBe(false);
		expect(piReader.isWhole(text("x"))).toBe(false);
		expect(piReader.isWhole(call("1"))).toBe(false);
	});
});
