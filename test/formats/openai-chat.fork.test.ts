import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openaiChatCleaner } from "#src/session/formats/openai-chat/clean.js";
import { openaiChatWriter } from "#src/session/formats/openai-chat/write.js";
import type { JsonObject } from "#src/session/record.js";
import { scratchFolder } from "../helpers/files.js";
import { forkFile, testBlockText } from "../helpers/fork.js";
import { ELEMENT_USAGE, forkSteps, holdForks, layouts, seeArray } from "./array-fork.js";

const scratch = scratchFolder();

/** A stretch of an array: its elements, calls with ids that grow with `n`. */
type Stretch = (n: number) => string[];

const words = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const reply = (role: string, text: string, extra = ""): string =>
	`{"role": "${role}", "content": ${JSON.stringify(text)}${extra}}`;
const call = (id: string): string =>
	`{"id":"${id}","type":"function","function":{"name":"read","arguments":"{\\"n\\": 1.0}"}}`;
const exchange = (ids: readonly string[], answered: readonly string[], between: string[] = []): string[] => [
	`{"role":"assistant","content":"","tool_calls":[ ${ids.map(call).join(", ")} ]${ELEMENT_USAGE}`,
	...between,
	...answered.map((id) => `{"role":"tool","tool_call_id":"${id}","content":"out \\u00e9","cost":1.0}`),
];

const stretches: fc.Arbitrary<Stretch> = fc.oneof(
	words.map(
		(text): Stretch =>
			() => [reply("user", text)],
	),
	words.map(
		(text): Stretch =>
			() => [reply("assistant", text, ',"refusal":null')],
	),
	words.map(
		(text): Stretch =>
			() => [reply("assistant", text).slice(0, -1) + ELEMENT_USAGE],
	),
	words.map(
		(text): Stretch =>
			() => [reply("system", text, ',"big":9223372036854775808')],
	),
	fc.nat(2).map(
		(more): Stretch =>
			(n) => {
				const ids = Array.from({ length: more + 1 }, (_, k) => `c${n}_${k}`);
				return exchange(ids, [...ids].reverse());
			},
	),
	fc.constant<Stretch>((n) => exchange([`s${n}`], [`s${n}`], [reply("developer", "between")])),
	fc.constant<Stretch>((n) => exchange([`a${n}`, `b${n}`], [`a${n}`])),
	fc.constant<Stretch>(() => exchange(["same"], ["same"])),
	fc.constant<Stretch>((n) => [`{"role":"tool","tool_call_id":"orphan${n}","content":"x"}`]),
	fc.constant<Stretch>(() => [
		'{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}',
		'{"role":"function","name":"f","content":"r"}',
	]),
);

describe("a fork of an OpenAI chat array", () => {
	it("is the array with blocks in it, every other byte as it was, and so is a fork of it", { timeout: 120_000 }, () =>
		fc.assert(
			fc.asyncProperty(
				fc.array(stretches, { minLength: 1, maxLength: 10 }),
				layouts,
				forkSteps,
				async (made, layout, steps) => {
					const elements = made.flatMap((stretch, n) => stretch(n));
					await holdForks("openai-chat", elements, layout, steps, scratch.write);
				},
			),
			{ numRuns: 25 },
		),
	);

	it("keeps a system message inside a range, behind the block", async () => {
		const path = scratch.write(
			"system.json",
			JSON.stringify([
				{ role: "user", content: "a" },
				{ role: "system", content: "rules" },
				{ role: "assistant", content: "b" },
				{ role: "user", content: "c" },
			]),
		);
		const fork = await forkFile(path, [{ from: 0, to: 1, summary: "s", topic: "t" }]);
		expect(JSON.parse(fork.text())).toEqual([
			{ role: "user", content: testBlockText("c0001", { from: 0, to: 1, summary: "s", topic: "t" }) },
			{ role: "system", content: "rules" },
			{ role: "user", content: "c" },
		]);
	});

	it("ends at the anchor, in the form of the whole document", async () => {
		const elements = ["a", "b", "c", "d"].map((text) => reply("user", text));
		const path = scratch.write("anchor.json", `{\n "messages": [\n  ${elements.join(",\n  ")}\n ],\n "n": 1.0\n}\n`);
		const fork = await forkFile(path, [{ from: 0, to: 0, summary: "s" }], { open: { leaf: "#2" } });
		const block = JSON.stringify({ role: "user", content: testBlockText("c0001", { from: 0, to: 0, summary: "s" }) });
		expect(fork.text()).toBe(
			`{\n "messages": [\n  ${[block, elements[1], elements[2]].join(",\n  ")}\n ],\n "n": 1.0\n}\n`,
		);
	});

	it("is written in several stretches where it is long", async () => {
		const elements = Array.from({ length: 2_500 }, (_, n) => reply("user", `m${n}`));
		const path = scratch.write("long.jsonl", `${elements.join("\n")}\n`);
		const ranges = [
			{ from: 999, to: 1_001, summary: "s" },
			{ from: 2_000, to: 2_000, summary: "s" },
		];
		const fork = await forkFile(path, ranges);
		const [one, two] = ["c0001", "c0002"].map((block, i) =>
			JSON.stringify({ role: "user", content: testBlockText(block, ranges[i]) }),
		);
		const expected = [...elements.slice(0, 999), one, ...elements.slice(1_002, 2_000), two, ...elements.slice(2_001)];
		expect(fork.text()).toBe(`${expected.join("\n")}\n`);
	});

	it("keeps the place of half a character in a summary", async () => {
		const path = scratch.write("half.json", JSON.stringify([{ role: "user", content: "a" }]));
		const fork = await forkFile(path, [{ from: 0, to: 0, summary: "x\ud83d" }]);
		expect(fork.text()).toContain("x\ufffd");
		expect(fork.text()).not.toContain("\\ud83d");
	});

	const user = (text: string) => JSON.stringify({ role: "user", content: text });
	const DAMAGED: [name: string, source: string, elements: string[]][] = [
		["an element that is no JSON", `[${user("a")},{"role":tru},${user("b")},${user("c")}]`, ["a", "", "c"]],
		["an element that is no object", `[7,${user("a")},${user("b")},"x",${user("c")}]`, ["a", "", "c"]],
		["a torn end", `[${user("a")}, ${user("b")}, ${user("c")}, {"role":"us`, ["a", "", "c"]],
		["a missing comma and one too many", `[${user("a")} ${user("b")},,${user("c")},]`, ["a", "", "c"]],
		["zeros behind the document", `[${user("a")},${user("b")},${user("c")}]\n\0\0\0`, ["a", "", "c"]],
		["zeros between elements", `[${user("a")},\0\0${user("b")},${user("c")}\0]`, ["a", "", "c"]],
		["a torn line", `${user("a")}\n${user("b")}\n${user("c")}\n{"role":`, ["a", "", "c"]],
		["glued lines and a line of zeros", `${user("a")}${user("b")}\n\0\0\0\n${user("c")}`, ["a", "", "c"]],
	];
	it.each(DAMAGED)("reads as JSON where its source had %s", async (name, source, elements) => {
		const path = scratch.write(`damaged ${name.replaceAll(" ", "-")}.json`, source);
		const fork = await forkFile(path, [{ from: 1, to: 1, summary: "s" }], { open: { format: "openai-chat" } });
		const read = source.startsWith("[")
			? JSON.parse(fork.text())
			: fork
					.text()
					.split("\n")
					.filter(Boolean)
					.map((line) => JSON.parse(line));
		expect(read).toEqual(
			elements.map((text) => ({
				role: "user",
				content: text === "" ? testBlockText("c0001", { from: 1, to: 1, summary: "s" }) : text,
			})),
		);
		expect((await seeArray(fork.path, "openai-chat")).damage).toBe(0);
	});

	const FRAMES: [name: string, source: string, fields: JsonObject][] = [
		["garbage behind the document", `{"model":"m","messages":[${user("a")}],"n":1.0}\n x`, { model: "m", n: 1 }],
		["a torn field behind the list", `{"model":"m","messages":[${user("a")}],"n":1.0,"t":[`, { model: "m", n: 1 }],
		["a torn list", `{"n":1,"usage":{"input_tokens":9},"messages":[${user("a")},{"ro`, { n: 1, usage: null }],
		["zeros in front", `\0\0{"n":1,"usage":{"input_tokens":9},"messages":[${user("a")}]}`, { n: 1 }],
	];
	it.each(FRAMES)("has every field that can be read where its source had %s", async (name, source, fields) => {
		const path = scratch.write(`frame ${name.replaceAll(" ", "-")}.json`, source);
		const fork = await forkFile(path, [{ from: 0, to: 0, summary: "s" }], { open: { format: "openai-chat" } });
		const content = testBlockText("c0001", { from: 0, to: 0, summary: "s" });
		expect(JSON.parse(fork.text())).toEqual({ ...fields, messages: [{ role: "user", content }] });
	});
});

describe("the name of an array's fork", () => {
	it.each([
		["/x/chat.json", "chat.compacted.json"],
		["/x/run.traj.json", "run.traj.compacted.json"],
		["/x/chat.jsonl", "chat.compacted.jsonl"],
		["/x/chat.compacted.json", "chat.compacted.json"],
		["/x/chat.compacted-3.json", "chat.compacted.json"],
		["/x/chat", "chat.compacted"],
		["/x/chat.compacted", "chat.compacted"],
	])("%s: %s", (path, name) => {
		expect(openaiChatWriter.fileName("id", new Date(0), path)).toBe(name);
	});
});

describe("what is taken out of an element of an OpenAI chat array", () => {
	const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
	const SAME: JsonObject[] = [
		{ role: "user", content: "" },
		{ role: "assistant", content: "", tool_calls: calls },
		{ role: "assistant", content: null, tool_calls: calls },
		{ role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
		{ role: "assistant", content: null, refusal: "no" },
		{ role: "assistant", content: null, audio: { id: "x" } },
		{ role: "tool", tool_call_id: "a", content: "" },
		{ role: "function", name: "f", content: null },
		{ role: "critic" },
		{ role: "user", content: "😀", "a\\ud83d": "\\ud83d" },
	];
	it.each(SAME.map((record) => [JSON.stringify(record), record] as const))("nothing of %s", (_name, record) => {
		expect(openaiChatCleaner.clean(record)).toBe(record);
	});

	const text = (value: string) => ({ type: "text", text: value });
	const CHANGED: [name: string, record: JsonObject, cleaned: JsonObject | null][] = [
		[
			"empty text parts",
			{ role: "user", content: [text(""), text("a"), text("")] },
			{ role: "user", content: [text("a")] },
		],
		[
			"all parts",
			{ role: "tool", tool_call_id: "a", content: [text("")] },
			{ role: "tool", tool_call_id: "a", content: "" },
		],
		["a list of no calls", { role: "assistant", content: "a", tool_calls: [] }, { role: "assistant", content: "a" }],
		["an assistant who says nothing", { role: "assistant", content: null, tool_calls: [] }, null],
		["a user who says nothing", { role: "user", content: [] }, null],
		[
			"null as a result",
			{ role: "tool", tool_call_id: "a", content: null },
			{ role: "tool", tool_call_id: "a", content: "" },
		],
		[
			"lone surrogates (claude-code#56064)",
			{ role: "user", content: "a\ud83d \\ud83d 😀 \udc00", "k\udfff": ["\\\ud800"] },
			{ role: "user", content: "a\ufffd \\ud83d 😀 \ufffd", "k\ufffd": ["\\\ufffd"] },
		],
	];
	it.each(CHANGED)("%s", (_name, record, cleaned) => {
		expect(openaiChatCleaner.clean(record)).toEqual(cleaned);
	});

	it("half characters however deep they stand", () => {
		const deep = JSON.parse(`${"[".repeat(20_000)}"\\ud83d"${"]".repeat(20_000)}`);
		const cleaned = openaiChatCleaner.clean({ role: "user", content: "x", deep });
		let inner = cleaned?.deep;
		while (Array.isArray(inner)) inner = inner[0];
		expect(inner).toBe("\ufffd");
	});
});

const REAL = "../shared/sessions/openai/text-mode.traj.json";
describe.skipIf(!existsSync(REAL))("a fork of a real array", () => {
	it("differs in its block only", async () => {
		const source = readFileSync(REAL, "utf8");
		const messages = JSON.parse(source) as JsonObject[];
		const { atoms } = await seeArray(REAL, "openai-chat");
		expect(atoms).toHaveLength(messages.filter((message) => message.role !== "system").length);
		const fork = await forkFile(REAL, [{ from: 1, to: 2, summary: "s" }]);
		const content = testBlockText("c0001", { from: 1, to: 2, summary: "s" });
		expect(JSON.parse(fork.text())).toEqual([...messages.slice(0, 2), { role: "user", content }, ...messages.slice(4)]);
		const before = source.slice(0, source.indexOf(JSON.stringify(messages[2].content)));
		expect(fork.text().startsWith(before.slice(0, before.lastIndexOf("{")))).toBe(true);
		expect(fork.text().endsWith(source.slice(source.indexOf(JSON.stringify(messages[4].content))))).toBe(true);
		expect((await seeArray(fork.path, "openai-chat")).refused.size).toBe(0);
	});
});
