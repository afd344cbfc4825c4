import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { claudeCodeCheck } from "#src/session/formats/claude-code/check.js";
import type { JsonObject, JsonValue } from "#src/session/record.js";
import type { ResumeFinding } from "#src/session/resume.js";
import { scratchFolder } from "../helpers/files.js";
import { openAtoms } from "./claude-code/forks.js";
import { answer, at, boundary, call, line, result, summary, user } from "./claude-code/lines.js";

const scratch = scratchFolder();
let serial = 0;
const nextName = () => `00000000-0000-4000-8000-${String(serial++).padStart(12, "0")}.jsonl`;

type Content = readonly (JsonObject | string)[];

const textOf = (lines: Content) =>
	lines.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");

async function findings(content: Content | string | Buffer, name = nextName()): Promise<readonly ResumeFinding[]> {
	const bytes = typeof content === "string" || Buffer.isBuffer(content) ? content : textOf(content);
	return (await openAtoms(scratch.write(name, bytes))).report.findings;
}

/** `rule entry`, with `!` in front where the session would be refused. */
const said = (found: readonly ResumeFinding[]) =>
	found.map(({ rule, severity, entry }) => `${severity === "refused" ? "!" : ""}${rule} ${entry ?? "-"}`);

const timed = (lines: readonly JsonObject[], step = 1) =>
	lines.map((record, i): JsonObject => ({ ...record, timestamp: at(i * step) }));
const untimed = (lines: readonly JsonObject[]) => lines.map(({ timestamp: _, ...rest }): JsonObject => rest);

const TALK = timed([user("u1", null), call("a1", "u1", "t1"), result("x1", "a1", "t1"), answer("a2", "x1")]);
const relinked = (uuid: string, parentUuid: string | null) => (record: JsonObject) =>
	record.uuid === uuid ? { ...record, parentUuid } : record;
const LONG: JsonObject[] = [
	...TALK,
	...timed([user("u2", "a2"), answer("a3", "u2")]).map((r, i) => ({ ...r, timestamp: at(10 + i) })),
];

describe("the file as a whole", () => {
	it.each<[string, Content | Buffer, string[]]>([
		["a healthy one", TALK, []],
		["no line of a conversation", [{ type: "mode", mode: "x", sessionId: "s" }], ["!no_conversation -"]],
		["a link but no message", [line("system", "s1", null, { subtype: "turn_duration" })], ["!no_conversation -"]],
		["all of a sub-agent", TALK.map((record) => ({ ...record, isSidechain: true })), ["!sidechain -"]],
		[
			"a bookkeeping line first (claude-code#62851)",
			[{ type: "pr-link", prUrl: "x", sessionId: "s" }, ...TALK],
			["first_line -"],
		],
		["a title first", [{ type: "custom-title", customTitle: "x", sessionId: "s" }, ...TALK], ["first_line -"]],
		["a bookkeeping line last", [...TALK, { type: "mode", mode: "x", sessionId: "s" }], []],
		[
			"a compaction",
			[...TALK, boundary("b", { logicalParentUuid: "a2" }), summary("sum", "b"), answer("a3", "sum")],
			[],
		],
		[
			"a compaction whose originals are gone (claude-code#40027)",
			[boundary("b", { logicalParentUuid: "gone" }), summary("sum", "b"), answer("a3", "sum")],
			["logical_parent b"],
		],
	])("%s", async (_, content, expected) => {
		expect(said(await findings(content))).toEqual(expected);
	});

	it("has a name by which the host finds it", async () => {
		const found = await findings(TALK, "notes.jsonl");
		expect(said(found)).toEqual(["file_name -"]);
		expect(found[0].message).toContain("notes.jsonl");
	});
});

describe("links", () => {
	it.each<[string, Content, string[]]>([
		["a parent that is not there (claude-code#58554)", LONG.map(relinked("u2", "gone")), ["missing_parent u2"]],
		["the same without times (claude-code#22107)", untimed(LONG.map(relinked("u2", "gone"))), ["!missing_parent u2"]],
		[
			"the same with equal times",
			LONG.map(relinked("u2", "gone")).map((r) => ({ ...r, timestamp: at(0) })),
			["!missing_parent u2"],
		],
		["a parent that is the line itself", LONG.map(relinked("u2", "u2")), ["parent_cycle u2"]],
		["no parent in the middle", LONG.map(relinked("a3", null)), ["!null_parent a3"]],
		["no parent of a result", LONG.map(relinked("x1", null)), ["orphan x1", "!null_parent x1"]],
		["a conversation that went back to its first prompt", [...LONG, user("u9", null), answer("a9", "u9")], []],
		["no link at all", LONG.map(({ parentUuid: _, ...rest }) => rest), ["!no_links a3"]],
		["a broken link on a dead branch", [...TALK.slice(0, 1), user("dead", "gone"), ...TALK.slice(1)], []],
		["two lines with one uuid", [...LONG, { ...user("u1", null, "other"), timestamp: at(20) }], ["!duplicate_uuid u1"]],
		["the same line twice", [TALK[0], ...TALK], ["same_line u1"]],
		[
			"a line without uuid",
			[...TALK, { ...user("", "a2", "x"), uuid: undefined, timestamp: at(9) }],
			["ends_at_user #4", "missing_uuid #4"],
		],
	])("%s", async (_, content, expected) => {
		expect(said(await findings(content)).sort()).toEqual(expected.sort());
	});
});

describe("the end", () => {
	const thinking = (text: string): JsonObject => ({ type: "thinking", thinking: text, signature: "s" });
	const words: JsonObject = { type: "text", text: "words" };

	it.each<[string, Content, string[]]>([
		["at a call", TALK.slice(0, 2), ["abandoned a1", "ends_at_call a1"]],
		["at a result", TALK.slice(0, 3), ["ends_at_user x1"]],
		["at a prompt", LONG.slice(0, 5), ["ends_at_user u2"]],
		["at an error that is not sent", [...TALK, answer("e", "a2", "API Error", { isApiErrorMessage: true })], []],
		["with thinking", [TALK[0], answer("a1", "u1", [words, thinking("hm")])], ["thinking_last a1"]],
		[
			"with thinking on a line of its own",
			[TALK[0], answer("a1", "u1", [words], { id: "m" }), answer("a2", "a1", [thinking("hm")], { id: "m" })],
			["thinking_last a1"],
		],
		["with thinking before the words", [TALK[0], answer("a1", "u1", [thinking("hm"), words])], []],
		[
			"in the middle of a thought",
			[TALK[0], answer("a1", "u1", [thinking("hm")]), user("u2", "a1"), answer("a2", "u2")],
			["thinking_alone a1"],
		],
	])("%s", async (_, content, expected) => {
		expect(said(await findings(content)).sort()).toEqual(expected);
	});
});

describe("calls and results", () => {
	it.each<[string, Content, string[]]>([
		["a result without a call", [TALK[0], result("x1", "u1", "t1"), answer("a2", "x1")], ["orphan x1"]],
		[
			"one id in two turns (claude-code#20693)",
			[...TALK, call("a5", "a2", "t1"), result("x5", "a5", "t1"), answer("a6", "x5")],
			["!ambiguous a1", "!ambiguous a5"],
		],
		["a call without a result", [TALK[0], TALK[1], user("u2", "a1"), answer("a2", "u2")], ["abandoned a1"]],
	])("%s", async (_, content, expected) => {
		expect(said(await findings(content))).toEqual(expected);
	});
});

describe("bytes", () => {
	const [first, second, third, last] = TALK.map((record) => JSON.stringify(record));
	const nul = "\0".repeat(64);

	it.each<[string, string | Buffer, string[]]>([
		["a torn last line", `${textOf(TALK)}{"type":"user","uuid":"x`, ["torn_tail -"]],
		["zeros at the end", `${textOf(TALK)}${nul}`, ["nul_run -"]],
		["a line of zeros", `${first}\n${nul}\n${second}\n${third}\n${last}\n`, ["nul_run -"]],
		["zeros in front of a line (claude-code#49876)", `${first}\n${nul}${second}\n${third}\n${last}\n`, ["!nul_run a1"]],
		["two records on one line", `${first}\n${second}${third}\n${last}\n`, ["!glued a1"]],
		[
			"a record behind a torn one",
			`${first}\n{"type":"progress","x":"y${second}\n${third}\n${last}\n`,
			["!spliced a1"],
		],
		["text between the lines", `${first}\nhello\n${second}\n${third}\n${last}\n`, ["invalid_json -"]],
		[
			"bytes that are no UTF-8",
			Buffer.concat([Buffer.from(textOf(TALK.slice(0, 3))), latin1(last)]),
			["invalid_utf8 -"],
		],
		["CRLF and no last line end", [first, second, third, last].join("\r\n"), []],
	])("%s", async (_, content, expected) => {
		expect(said(await findings(content))).toEqual(expected);
	});

	function latin1(text: string): Buffer {
		return Buffer.from(`${text.replace('"text":"a2"', '"text":"\xe9"')}\n`, "latin1");
	}
});

describe("one record", () => {
	const rulesOf = (content: JsonValue, type = "assistant", extra: JsonObject = {}) =>
		claudeCodeCheck
			.record({ type, uuid: "x", message: { content }, ...extra })
			.map(({ rule, severity }) => `${rule} ${severity}`);

	it.each<[string, string[], string[]]>([
		["words", rulesOf([{ type: "text", text: "x" }]), []],
		["a string", rulesOf("x", "user"), []],
		[
			"an empty text beside another (claude-code#41729)",
			rulesOf([
				{ type: "text", text: "" },
				{ type: "text", text: "x" },
			]),
			["empty_text repaired"],
		],
		["a blank prompt", rulesOf(" ", "user"), ["empty_text repaired"]],
		["no content", rulesOf([]), ["empty_message repaired"]],
		[
			"hollow thinking (claude-code#63147)",
			rulesOf([{ type: "thinking", thinking: "", signature: "s" }]),
			["hollow_thinking refused"],
		],
		["half a pair (claude-code#56064)", rulesOf("a\ud83d", "user"), ["lone_surrogate repaired"]],
		["half a pair in a key", rulesOf([{ type: "tool_use", input: { "\udc00": 1 } }]), ["lone_surrogate repaired"]],
		["an attachment", rulesOf([], "attachment", { attachment: { type: "file" } }), []],
		["a plain text as toolUseResult", rulesOf("x", "user", { toolUseResult: "Error: no" }), []],
	])("%s", (_, found, expected) => {
		expect(found).toEqual(expected);
	});

	it("shows the smallest excerpt, whole characters only", () => {
		const [{ message }] = claudeCodeCheck.record({
			type: "user",
			message: { content: `${"x".repeat(500)}\ud83d${"😀".repeat(500)}` },
		});
		expect(message.length).toBeLessThan(160);
		expect(message).toContain("x\ufffd😀");
		expect(message).not.toMatch(/\p{Surrogate}/u);
	});
});

const shared = fileURLToPath(new URL("../../../shared/sessions/claude-code/", import.meta.url));

describe.skipIf(!existsSync(shared))("real sessions (../shared/sessions)", () => {
	it.each(["258c7280-ae70-4798-800f-63464d01a85d", "4d5611e5-241a-462a-8d15-5122611a9569", "short", "tool_heavy"])(
		"%s is refused for nothing",
		async (name) => {
			const { report } = await openAtoms(`${shared}${name}.jsonl`);
			expect(report.findings.filter(({ severity }) => severity === "refused")).toEqual([]);
		},
	);

	it("a sub-agent's own file is no session that can be resumed", async () => {
		const folder = `${shared}258c7280-ae70-4798-800f-63464d01a85d/subagents/`;
		for (const name of readdirSync(folder)) {
			const { report } = await openAtoms(folder + name);
			expect(said(report.findings)).toContain("!sidechain -");
		}
	});
});
