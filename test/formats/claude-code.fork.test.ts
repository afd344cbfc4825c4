import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MidcompactError } from "#src/errors.js";
import type { Scope } from "#src/session/branch.js";
import { claudeCodeCleaner } from "#src/session/formats/claude-code/clean.js";
import { claudeCodeReader } from "#src/session/formats/claude-code/read.js";
import { claudeCodeWriter } from "#src/session/formats/claude-code/write.js";
import type { JsonObject } from "#src/session/record.js";
import { scratchFolder } from "../helpers/files.js";
import { type ForkOptions, forkFile, type TestRange } from "../helpers/fork.js";
import { hostMessages } from "../hosts/claude-code-rule.js";
import { expectedAtoms, expectedMessages, linesOf, type Opened, openAtoms } from "./claude-code/forks.js";
import { sessionOf, sessionSteps } from "./claude-code/generated-sessions.js";
import { answer, at, boundary, call, line, progress, reminder, result, summary, user } from "./claude-code/lines.js";

const scratch = scratchFolder();
const shared = fileURLToPath(new URL("../../../shared/sessions/claude-code/", import.meta.url));
const ID = "0f0e0d0c-0b0a-4908-8706-050403020100";
let serial = 0;

const textOf = (lines: readonly JsonObject[]) => lines.map((record) => `${JSON.stringify(record)}\n`).join("");
const write = (lines: readonly JsonObject[] | string) =>
	scratch.write(`${serial++}.jsonl`, typeof lines === "string" ? lines : textOf(lines));

async function fork(
	lines: readonly JsonObject[] | string,
	ranges: readonly (readonly [from: number, to: number])[],
	options: ForkOptions = {},
): Promise<{ path: string; lines: JsonObject[]; text: string; source: string }> {
	const source = write(lines);
	const made = await forkFile(source, rangesOf(ranges), { id: ID, ...options });
	return { path: made.path, lines: linesOf(made.path), text: made.text(), source };
}

const rangesOf = (ranges: readonly (readonly [from: number, to: number])[]): TestRange[] =>
	ranges.map(([from, to], i) => ({ from, to, summary: `summary ${i + 1}` }));

const uuidsOf = (lines: readonly JsonObject[]) => lines.map(({ uuid, midcompact }) => (midcompact ? "BLOCK" : uuid));

function expectChain(lines: readonly JsonObject[]): void {
	let parent: unknown = null;
	for (const record of lines) {
		if (!("uuid" in record)) continue;
		expect(record.parentUuid).toBe(parent);
		parent = record.uuid;
	}
}

const timed = (lines: readonly JsonObject[]) => lines.map((record, i) => ({ ...record, timestamp: at(i) }));

const TALK = timed([
	user("u1", null, "first"),
	reminder("r1", "u1"),
	call("a1", "r1", "t1"),
	progress("p1", "a1"),
	result("x1", "p1", "t1"),
	answer("a2", "x1"),
	user("u2", "a2", "second"),
	answer("a3", "u2"),
]);

describe("the chain", () => {
	it("is one line of parents in sending order, with the block where the range stood", async () => {
		const { lines } = await fork(TALK, [[1, 2]]);
		expect(uuidsOf(lines)).toEqual(["u1", "r1", "BLOCK", "u2", "a3"]);
		expectChain(lines);
		expect(new Set(lines.map(({ sessionId }) => sessionId))).toEqual(new Set([ID]));
	});

	it("copies every other byte of a line", async () => {
		const odd = `{ "type":"user","uuid":"u1", "parentUuid":null, "n":1.50,"é":"\\u00e9", "sessionId":"s","message":{"role":"user","content":"x"},"n":2E3}`;
		const { text } = await fork(`${odd}\n${textOf([answer("a1", "u1"), user("u2", "a1")])}`, [[1, 1]]);
		expect(text.split("\n")[0]).toBe(odd.replace('"s"', `"${ID}"`));
	});

	it("puts an answer's lines together and its results behind them", async () => {
		const { lines } = await fork(
			timed([
				user("u1", null),
				call("a1", "u1", "t1", { id: "m" }),
				result("x1", "a1", "t1"),
				call("a2", "a1", "t2", { id: "m" }),
				user("typed", "a2"),
				result("x2", "typed", "t2"),
				answer("a3", "x2"),
			]),
			[[0, 0]],
		);
		expect(uuidsOf(lines)).toEqual(["BLOCK", "a1", "a2", "x1", "x2", "typed", "a3"]);
		expectChain(lines);
	});

	it("begins with the last prompt snapshot", async () => {
		const snapshot = (uuid: string, parent: string) =>
			line("attachment", uuid, parent, { attachment: { type: "prompt_snapshot", systemPrompt: [uuid] } });
		const { lines } = await fork(
			timed([user("u1", null), snapshot("s1", "u1"), answer("a1", "s1"), snapshot("s2", "a1"), user("u2", "s2")]),
			[[0, 0]],
		);
		expect(uuidsOf(lines)).toEqual(["s2", "BLOCK", "a1", "u2"]);
		expectChain(lines);
	});

	it("leaves out boundaries, progress, system and bookkeeping lines and dead branches, and keeps what was not sent", async () => {
		const { lines } = await fork(
			timed([
				{ type: "pr-link", prUrl: "x", sessionId: "s" },
				user("old", null),
				boundary("b", { logicalParentUuid: "old" }),
				summary("sum", "b"),
				line("system", "sys", "sum", { subtype: "turn_duration" }),
				answer("a1", "sys"),
				user("dead", "a1"),
				answer("error", "a1", "API Error", { isApiErrorMessage: true }),
				user("u2", "error"),
				{ type: "last-prompt", leafUuid: "dead", sessionId: "s" },
				answer("a2", "u2"),
			]),
			[[3, 3]],
		);
		expect(uuidsOf(lines)).toEqual(["sum", "a1", "error", "BLOCK", "a2"]);
		expectChain(lines);
	});

	it("in path scope is made of the originals", async () => {
		const lines = timed([
			user("u1", null),
			answer("a1", "u1"),
			boundary("b", { logicalParentUuid: "a1" }),
			summary("sum", "b"),
			answer("a2", "sum"),
		]);
		const made = await fork(lines, [[1, 1]], { open: { scope: "path" } });
		expect(uuidsOf(made.lines)).toEqual(["u1", "BLOCK", "a2"]);
		expect(made.text).not.toContain("logicalParentUuid");
		expectChain(made.lines);
	});

	it("gives a uuid to a line that has none", async () => {
		const bare = ({ uuid: _, ...rest }: JsonObject): JsonObject => rest;
		const lines = [user("u1", null), bare(answer("x", "u1")), bare(user("y", "u1")), answer("a2", "u1")].map(
			({ parentUuid: _, ...rest }) => rest,
		);
		const made = await fork(timed(lines), [[3, 3]]);
		expect(made.lines).toHaveLength(4);
		expect(new Set(made.lines.map(({ uuid }) => uuid)).size).toBe(4);
		expect(made.lines.every(({ uuid }) => typeof uuid === "string" && uuid !== "")).toBe(true);
		expectChain(made.lines);
	});

	it("of a sub-agent's file is a main one", async () => {
		const side = TALK.map((record) => ({ ...record, isSidechain: true, agentId: "a881341" }));
		const made = await fork(side, [[1, 1]]);
		expect(made.lines.every(({ isSidechain, agentId }) => isSidechain === false && agentId === undefined)).toBe(true);
		expectChain(made.lines);
		expect((await openAtoms(made.path)).session).toBe(ID);
	});
});

describe("the block", () => {
	it("is a user line with mark, lineage, and the time and surroundings of the range's first line", async () => {
		const where = { cwd: "/w", version: "2.1.332", gitBranch: "main", userType: "external", slug: "x" };
		const source = TALK.map((record) => ({ ...record, ...where }));
		const path = write(source);
		const made = await forkFile(path, [{ from: 0, to: 2, summary: "half \ud83d", topic: "start" }], { id: ID });
		const [block] = linesOf(made.path);
		expect(block).toEqual({
			parentUuid: null,
			isSidechain: false,
			userType: "external",
			cwd: "/w",
			sessionId: ID,
			version: "2.1.332",
			gitBranch: "main",
			type: "user",
			message: { role: "user", content: "[midcompact block c0001: start]\nhalf \ufffd" },
			uuid: block.uuid,
			timestamp: at(0),
			midcompact: { block: "c0001", topic: "start", parent: { session: null, path } },
		});
		expect(block.uuid).toMatch(/^[0-9a-f]{8}-/);
	});

	it("takes the time of the line before where the range has none", async () => {
		const source = TALK.map((record, i) => (i > 1 ? { ...record, timestamp: undefined } : record));
		const { lines } = await fork(source, [[1, 1]]);
		expect(lines[2].timestamp).toBe(at(1));
	});

	it("takes the size of the old context off the answers behind it, and off no other", async () => {
		const usage = {
			input_tokens: 5,
			cache_read_input_tokens: 90_000,
			output_tokens: 3,
			iterations: [{ input_tokens: 5 }],
		};
		const source = timed([
			user("u1", null),
			answer("a1", "u1", "x", { usage }),
			user("u2", "a1"),
			answer("a2", "u2", "x", { usage }),
		]);
		const { lines } = await fork(source, [[2, 2]]);
		const usages = lines.map(({ message }) => (message as JsonObject).usage);
		const none = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
		expect(usages).toEqual([undefined, usage, undefined, none]);
	});

	it("stays a block in a second fork, which compacts around it", async () => {
		const first = await fork(TALK, [[1, 2]]);
		const opened = await openAtoms(first.path);
		expect(opened.atoms.map(({ reason }) => reason)).toEqual([null, "committed_block", null, null]);
		const second = await forkFile(first.path, [{ from: 2, to: 2, summary: "more" }], { firstBlock: 2 });
		const lines = linesOf(second.path);
		expect(uuidsOf(lines)).toEqual(["u1", "r1", "BLOCK", "BLOCK", "a3"]);
		expect(lines[3].midcompact).toMatchObject({ block: "c0002", parent: { path: first.path } });
		expectChain(lines);
	});
});

describe("the name in the host's list", () => {
	it("is the last of each kind, at the end, with the new session's id", async () => {
		const title = (type: string, key: string, value: string): JsonObject => ({ type, [key]: value, sessionId: "s" });
		const { lines } = await fork(
			[
				{ type: "summary", summary: "of another session", leafUuid: "elsewhere" },
				title("custom-title", "customTitle", "old"),
				...TALK,
				{ type: "summary", summary: "own", leafUuid: "a3" },
				title("custom-title", "customTitle", "new"),
				title("ai-title", "aiTitle", "made up"),
				title("agent-name", "agentName", "Ada"),
			],
			[[3, 4]],
		);
		expect(lines[0].type).toBe("user");
		expect(lines.slice(-4)).toEqual([
			{ type: "custom-title", customTitle: "new", sessionId: ID },
			{ type: "summary", summary: "own", leafUuid: lines[lines.length - 5].uuid },
			{ type: "ai-title", aiTitle: "made up", sessionId: ID },
			{ type: "agent-name", agentName: "Ada", sessionId: ID },
		]);
	});
});

describe("cleaning", () => {
	const clean = (record: JsonObject) => claudeCodeCleaner.clean(record);
	const contentOf = (record: JsonObject | null) => (record?.message as JsonObject | undefined)?.content;

	it("gives back the same object where nothing is to be done", () => {
		for (const record of [...TALK, { type: "mode", mode: "x" }, user("u", null, [{ type: "image", source: {} }])])
			expect(clean(record)).toBe(record);
	});

	it.each<[string, JsonObject]>([
		["an empty prompt (claude-code#41729)", user("u", null, "")],
		["a prompt of white space", user("u", null, " \n")],
		["a prompt without blocks", user("u", null, [])],
		["an answer of empty text", answer("a", null, [{ type: "text", text: "" }])],
		["hollow thinking (claude-code#63147)", answer("a", null, [{ type: "thinking", thinking: "", signature: "s" }])],
	])("leaves nothing of %s", (_, record) => {
		expect(clean(record)).toBeNull();
	});

	it("takes empty blocks out from between others and keeps unknown fields", () => {
		const thinking = { type: "thinking", thinking: "hm", signature: "s", more: 1 };
		const record = answer("a", null, [
			{ type: "thinking", thinking: "", signature: "s" },
			thinking,
			{ type: "text", text: "\n\n" },
			{ type: "new_kind", x: { y: 1 } },
		]);
		expect(clean({ ...record, other: { z: 1 } })).toEqual({
			...record,
			other: { z: 1 },
			message: { ...(record.message as JsonObject), content: [thinking, { type: "new_kind", x: { y: 1 } }] },
		});
	});

	it("keeps an empty text inside a result: it is the tool's word", () => {
		const content = [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "" }] }];
		expect(contentOf(clean(user("u", null, content)))).toEqual(content);
	});

	it("puts U+FFFD for half a pair anywhere, a text in toolUseResult stays JSON (claude-code#56064)", () => {
		const inner = JSON.stringify({ out: "a\ud83d", deep: ["\\ud83d", "😀"] }).replace('\\ud83d"', '\ud83d"');
		const record = user("u", null, "x\udc00", { toolUseResult: inner, "k\ud800": [{ v: "\ud83d\ude00" }] });
		const cleaned = clean(record) as JsonObject;
		expect(contentOf(cleaned)).toBe("x\ufffd");
		expect(cleaned["k\ufffd"]).toEqual([{ v: "😀" }]);
		expect(JSON.parse(cleaned.toolUseResult as string)).toEqual({ out: "a\ufffd", deep: ["\\ud83d", "😀"] });
	});

	it("survives a line that is nested deeper than the stack", () => {
		const deep = `${"[".repeat(200_000)}"\\ud800"${"]".repeat(200_000)}`;
		const record = JSON.parse(`{"type":"user","message":{"content":"x"},"toolUseResult":${deep}}`) as JsonObject;
		expect(clean(record)).not.toBeNull();
	});

	it("breaks no link: a line of which nothing is left is no parent", async () => {
		const { lines } = await fork(
			timed([
				user("u1", null),
				answer("a1", "u1", [{ type: "thinking", thinking: "", signature: "s" }], { id: "m" }),
				answer("a2", "a1", [{ type: "text", text: "\n\n" }], { id: "m" }),
				answer("a3", "a2", [{ type: "text", text: "words" }], { id: "m" }),
				user("u2", "a3", [{ type: "text", text: "" }]),
				user("u3", "u2"),
				answer("a4", "u3"),
			]),
			[[3, 3]],
		);
		expect(uuidsOf(lines)).toEqual(["u1", "a3", "BLOCK", "a4"]);
		expectChain(lines);
	});
});

describe("names", () => {
	it("is the session's id", () => {
		expect(claudeCodeWriter.fileName(ID, new Date(0), "/x/y.jsonl")).toBe(`${ID}.jsonl`);
		expect(claudeCodeWriter.idInName(`${ID}.jsonl`)).toBe(ID);
		expect(claudeCodeWriter.idInName(`${ID.toUpperCase()}.jsonl`)).toBe(ID.toUpperCase());
	});

	it.each(["notes.jsonl", `${ID}.json`, `x${ID}.jsonl`, `${ID}-2.jsonl`])("refuses %s", (name) => {
		expect(() => claudeCodeWriter.idInName(name)).toThrow(MidcompactError);
	});

	it.each([
		[`/home/a/.claude/projects/-w/${ID}.jsonl`, `claude --resume ${ID}`],
		[`/tmp/${ID}.jsonl`, `claude --resume /tmp/${ID}.jsonl`],
		[`/tmp/a b's/${ID}.jsonl`, `claude --resume '/tmp/a b'\\''s/${ID}.jsonl'`],
	])("resumes %s", (path, command) => {
		expect(claudeCodeWriter.resumeCommand(ID, path)).toBe(command);
	});

	it.each<[string, JsonObject, string | null]>([
		["a line", { type: "user", sessionId: "s" }, "s"],
		["a sub-agent's line", { type: "user", sessionId: "s", isSidechain: true, agentId: "a1" }, "s-a1"],
		["a main line about an agent", { type: "user", sessionId: "s", isSidechain: false, agentId: "a1" }, "s"],
		["a line without", { type: "summary", agentId: "a1", isSidechain: true }, null],
	])("session of %s", (_, record, session) => {
		expect(claudeCodeReader.session?.(record)).toBe(session);
	});
});

/** Forks, opens the fork and compares: what the host sends, what is read back, and whether it would be resumed. */
async function expectFaithful(
	source: string,
	ranges: readonly TestRange[],
	original: Opened,
	scope: Scope = "context",
): Promise<void> {
	const made = await forkFile(source, ranges, { open: { scope } });
	const lines = linesOf(made.path);
	expectChain(lines);
	// The host's own context of a session with compactions is not what a fork in path scope is made of.
	if (scope === "context")
		expect(hostMessages(lines)).toEqual(expectedMessages(linesOf(source), original.atoms, ranges));
	const opened = await openAtoms(made.path);
	expect(opened.atoms.map(({ entries: _, ...atom }) => atom)).toEqual(expectedAtoms(original.atoms, ranges));
	const refused = (report: Opened["report"]) => report.findings.filter(({ severity }) => severity === "refused");
	// Pairs that were broken before stand in atoms that no range may hold.
	expect(refused(opened.report).filter(({ rule }) => rule !== "ambiguous")).toEqual([]);
	expect(refused(opened.report).length).toBeLessThanOrEqual(refused(original.report).length);
	expect(opened.session).toBe(basename(made.path, ".jsonl"));
}

/** Disjoint ranges of compressible atoms; every number decides over one atom: 0 and 1 keep it, 2 begins a range, 3 and more go on with one. */
function chooseRanges(compressible: readonly boolean[], choices: readonly number[]): TestRange[] {
	const ranges: TestRange[] = [];
	let open: TestRange | null = null;
	compressible.forEach((free, atom) => {
		const choice = choices[atom % choices.length];
		if (!free || choice < 2) open = null;
		else if (open !== null && choice > 2) open.to = atom;
		else {
			open = { from: atom, to: atom, summary: `what was said in ${atom}`, topic: choice === 2 ? "" : "topic" };
			ranges.push(open);
		}
	});
	return ranges;
}

describe("any session and plan", () => {
	const choices = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 40 });

	it("sends the same outside the ranges and reads back as what was projected", { timeout: 240_000 }, async () => {
		await fc.assert(
			fc.asyncProperty(
				sessionSteps,
				choices,
				fc.constantFrom<Scope>("context", "context", "path"),
				async (steps, chosen, scope) => {
					const source = write(sessionOf(steps));
					const original = await openAtoms(source, scope);
					await expectFaithful(source, chooseRanges(original.compressible, chosen), original, scope);
				},
			),
			{ numRuns: 25 },
		);
	});

	const files = existsSync(shared)
		? readdirSync(shared, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))
		: [];
	describe.skipIf(files.length === 0)("real sessions (../shared/sessions)", () => {
		it.each(files)("%s", { timeout: 60_000 }, async (name) => {
			const before = readFileSync(shared + name);
			const original = await openAtoms(shared + name);
			for (const chosen of [[3], [0, 2, 5, 5, 1], [2, 0], [1, 1, 1, 2, 3, 3, 3, 3, 3]])
				await expectFaithful(shared + name, chooseRanges(original.compressible, chosen), original);
			expect(readFileSync(shared + name).equals(before)).toBe(true);
		});
	});
});
