import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grouped } from "#src/search/landmark.js";
import { renderLead } from "#src/search/lead.js";
import { renderContent } from "#src/search/render.js";
import { CUT_HEAD, cutText } from "#src/session/cut-text.js";
import { contentTexts, emptyFacts, FLAG, type Part, type RecordFacts, type Role } from "#src/session/record.js";
import { countCodePoints, text } from "./texts.js";

const row = (role: Role | null, parts: Part[], flags = 0): RecordFacts => ({ ...emptyFacts(0), role, parts, flags });
const words = (value: string, from: Extract<Part, { type: "text" }>["from"] = "own"): Part => ({
	type: "text",
	text: value,
	from,
});
const call = (name: string, args: string | null): Part => ({
	type: "tool_call",
	id: "1",
	name,
	arguments: args,
	answer: "result",
});
const result: Part = { type: "tool_result", id: "1", name: "read", byName: false };
const image: Part = { type: "image", mime: "image/png", bytes: 12_345, width: 800, height: 600, from: "own" };

const charsOf = (rows: RecordFacts[]) =>
	rows.flatMap((r) => contentTexts(r.parts)).reduce((n, t) => n + countCodePoints(t), 0);

describe("content", () => {
	test("every piece stands below its label", () => {
		const rows = [
			row("assistant", [
				{ type: "thinking", text: "hm" },
				words("I look."),
				call("read", '{"path":"a"}'),
				call("now", null),
			]),
			row("tool_result", [result, words("line 1", "result"), { ...image, from: "result" }]),
			row("tool_result", [result]),
			row("tool_result", [result, words("done", "result"), words("and go on")]),
			row("user", [words("hello"), image, words("by the way", "reminder")]),
			row("bash", [words("ls", "command"), words("a.txt", "output")]),
			row(null, [words("edited")]),
			row("summary", [words("before"), { type: "opaque", what: "redacted_thinking" }]),
		];
		expect(renderContent(rows, 5000)).toEqual({
			text: [
				"[thinking]",
				"hm",
				"[assistant]",
				"I look.",
				"[tool_call read]",
				'{"path":"a"}',
				"[tool_call now]",
				"[tool_result]",
				"line 1",
				"[image image/png 800×600, 12,345 bytes]",
				"[tool_result]",
				"[tool_result]",
				"done",
				"[user]",
				"and go on",
				"[user]",
				"hello",
				"[image image/png 800×600, 12,345 bytes]",
				"[reminder]",
				"by the way",
				"[bash command]",
				"ls",
				"[bash output]",
				"a.txt",
				"[text]",
				"edited",
				"[summary]",
				"before",
				"[redacted_thinking]",
			].join("\n"),
			omitted: 0,
		});
	});

	test("an image without known pixels", () => {
		expect(renderContent([row("user", [{ ...image, bytes: 1, width: null }])], 100).text).toBe(
			"[image image/png, 1 byte]",
		);
	});

	test("small texts stand whole, large ones share what is left evenly", () => {
		const rows = [
			row("user", [words("short")]),
			row("assistant", [words("a".repeat(9000)), words("b".repeat(400)), words("c".repeat(9000))]),
		];
		const { text: shown } = renderContent(rows, 2000);
		expect(shown).toContain("[user]\nshort\n");
		expect(shown).toContain("b".repeat(400));
		const a = shown.match(/a{10,}/g)?.join("").length ?? 0;
		const c = shown.match(/c{10,}/g)?.join("").length ?? 0;
		expect(Math.abs(a - c)).toBeLessThanOrEqual(1);
		expect(shown.length).toBeGreaterThan(1990);
	});

	test("too many pieces: the first and the last ones stand, a mark between says how many do not", () => {
		const rows = Array.from({ length: 300 }, (_, i) => row("assistant", [words(`${i}:${"x".repeat(500)}`)]));
		const { text: shown, omitted } = renderContent(rows, 700);
		expect(shown).toMatch(/^\[assistant\]\n0:x/);
		expect(shown).toMatch(/\n\[… 29\d pieces, 14\d,\d\d\d characters omitted …\]\n\[assistant\]\n29\d:x/);
		expect(shown.length).toBeLessThanOrEqual(700);
		const digits =
			shown
				.match(/(?:^|\n)(\d+:x*)/g)
				?.join("")
				.replaceAll("\n", "").length ?? 0;
		const tails = shown.match(/\nx+/g)?.join("").replaceAll("\n", "").length ?? 0;
		const inline = shown.match(/…x+/g)?.join("").replaceAll("…", "").length ?? 0;
		expect(omitted).toBe(charsOf(rows) - digits - tails - inline);
	});

	test("a tool name of unusual length does not break the bound", () => {
		const rows = [row("assistant", [call("n".repeat(5000), "{}")])];
		const { text: shown, omitted } = renderContent(rows, 300);
		expect(shown.length).toBeLessThanOrEqual(300);
		expect(omitted).toBe(
			5000 -
				(shown
					.match(/n+/g)
					?.filter((run) => run.length > 5)
					.join("").length ?? 0),
		);
	});

	test("a giant text shows its head and counts what was not loaded", () => {
		const { text: shown, omitted } = renderContent([row("user", [words(cutText("x".repeat(CUT_HEAD), 70, 60))])], 400);
		expect(shown.length).toBeLessThanOrEqual(400);
		expect(shown).not.toContain("\0");
		expect(shown).toContain(`[… ${grouped(omitted)} characters omitted …]`);
		expect(omitted).toBe(CUT_HEAD + 60 - (shown.match(/x{5,}/)?.[0].length ?? 0));
	});

	const part = fc.oneof(
		text.map((value) => words(value)),
		fc.tuple(text, fc.nat({ max: 40 })).map(([value, n]) => words(value.repeat(n), "result")),
		text.map((value): Part => ({ type: "thinking", text: value })),
		fc.tuple(text, fc.option(text)).map(([name, args]) => call(`t${name}`, args)),
		fc.constantFrom<Part>(image, result, { type: "opaque", what: "x" }),
	);
	const rows = fc.array(
		fc.record({
			role: fc.constantFrom<Role | null>("user", "assistant", "tool_result", "bash", null),
			parts: fc.array(part, { maxLength: 6 }),
		}),
		{ maxLength: 6 },
	);

	test("never longer than the budget; nothing omitted exactly when all of it stands there", () => {
		fc.assert(
			fc.property(rows, fc.nat({ max: 900 }), (made, budget) => {
				const facts = made.map(({ role, parts }) => row(role, parts));
				const whole = renderContent(facts, 1e6);
				const bounded = renderContent(facts, budget);
				expect(bounded.text.length).toBeLessThanOrEqual(budget);
				expect(bounded.omitted).toBeGreaterThanOrEqual(0);
				expect(bounded.omitted).toBeLessThanOrEqual(charsOf(facts));
				if (whole.text.length <= budget) expect(bounded).toEqual(whole);
				for (const value of facts.flatMap((r) => r.parts.flatMap((p) => (p.type === "text" ? [p.text] : []))))
					expect(whole.text).toContain(value);
				const lead = renderLead(facts, budget);
				expect(lead.text.length).toBeLessThanOrEqual(budget);
				expect(lead.text).not.toMatch(/[\r\n]/);
				expect(lead.omitted).toBeGreaterThanOrEqual(0);
				expect(lead.omitted).toBeLessThanOrEqual(charsOf(facts));
			}),
			{ numRuns: 500 },
		);
	});
});

describe("lead", () => {
	const slash =
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the last\ncommit</command-args>";
	const plain =
		"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>";
	test.each<[string, RecordFacts[], string]>([
		["the user's words on one line", [row("user", [words("\n fix\n the bug ")])], "fix the bug"],
		["the words behind an image", [row("user", [image, words("see this")])], "see this"],
		["only an image", [row("user", [image])], "[image image/png 800×600, 12,345 bytes]"],
		[
			"an exchange with the user's words",
			[
				row("assistant", [words("I look."), call("read", "{}")]),
				row("tool_result", [result, words("data", "result"), words("stop")]),
			],
			"stop",
		],
		[
			"an exchange: what the assistant says",
			[row("assistant", [{ type: "thinking", text: "hm" }, words("I look."), call("read", "{}")])],
			"I look.",
		],
		[
			"an exchange without words: its thinking",
			[row("assistant", [{ type: "thinking", text: "hm" }, call("read", "{}")])],
			"hm",
		],
		[
			"an exchange of calls alone",
			[row("assistant", [words("\n"), call("read", '{"path": "a"}')])],
			'read {"path": "a"}',
		],
		["a bash command", [row("bash", [words("ls -l", "command"), words("a b", "output")])], "ls -l"],
		["an orphan result", [row("tool_result", [result, words("data", "result")])], "data"],
		["reminders stand behind", [row("user", [words("note", "reminder"), words("hello")])], "hello"],
		["text of the host", [row("user", [words("<task-notification>x")], FLAG.HOST)], "<task-notification>x"],
		["a slash command with arguments", [row("user", [words(slash)])], "/review the last commit"],
		["a slash command without", [row("user", [words(plain)], FLAG.HOST)], "/clear"],
		["nothing at all", [row("user", [])], ""],
	])("%s", (_name, rows, expected) => {
		expect(renderLead(rows, 200).text).toBe(expected);
	});

	test("`omitted` is what of the content is not shown", () => {
		expect(renderLead([row("user", [words("fix it"), words("please", "reminder")])], 100).omitted).toBe(6);
		const { text: shown, omitted } = renderLead([row("user", [words("w".repeat(500))])], 100);
		expect(shown).toMatch(/^w+ \[… 4\d\d omitted …\] w+$/);
		expect(omitted).toBe(500 - (shown.match(/w/g)?.length ?? 0));
	});
});
