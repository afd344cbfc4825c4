import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scope } from "#src/session/branch.js";
import { piCleaner } from "#src/session/formats/pi/clean.js";
import { piReader } from "#src/session/formats/pi/read.js";
import { piWriter } from "#src/session/formats/pi/write.js";
import type { JsonObject } from "#src/session/record.js";
import { jsonLines, scratchFolder } from "../helpers/files.js";
import { type ForkOptions, forkFile, type TestFork, type TestRange } from "../helpers/fork.js";
import {
	assistant,
	call,
	compaction,
	edit,
	entry,
	header,
	lines,
	message,
	result,
	text,
	usage,
	user,
	withoutIds,
} from "./pi/entries.js";
import { expectedAtoms, messagesOf, openAtoms, projected, recordsOf } from "./pi/forks.js";
import { asVersion1, sessionOf, sessionSteps } from "./pi/generated-sessions.js";

const scratch = scratchFolder();
const shared = fileURLToPath(new URL("../../../shared/sessions/pi/", import.meta.url));
const ID = "0f0e0d0c-0b0a-4908-8706-050403020100";
const NOW = new Date("2026-03-04T05:06:07.890Z");
let serial = 0;

type Span = readonly [from: number, to: number];
const rangesOf = (spans: readonly Span[]): TestRange[] =>
	spans.map(([from, to], i) => ({ from, to, summary: `summary ${i + 1}`, topic: i % 2 ? "the topic" : undefined }));

async function fork(records: readonly JsonObject[] | string, spans: readonly Span[], options: ForkOptions = {}) {
	const source = scratch.write(`${serial++}.jsonl`, typeof records === "string" ? records : jsonLines(records));
	const made = await forkFile(source, rangesOf(spans), { id: ID, now: NOW, ...options });
	return { ...made, source, records: recordsOf(made.path) };
}

/** Entry ids, blocks by name. */
const namesOf = (records: readonly JsonObject[]) =>
	records.slice(1).map(({ id, details }) => (details as JsonObject | undefined)?.blockId ?? id);

function expectOneLine(records: readonly JsonObject[]): void {
	let parent: unknown = null;
	for (const record of records.slice(1)) {
		expect(record.parentId).toBe(parent);
		parent = record.id;
	}
}

const find = (records: readonly JsonObject[], id: string) => records.find((record) => record.id === id) ?? {};
const usageOf = (record: JsonObject) => (record.message as JsonObject).usage;

const TALK = lines(
	entry("model_change", "m1", null, { provider: "p", modelId: "m" }),
	user("u1", null, "first"),
	assistant("a1", null, [call("c1")], { usage: usage(100, 10) }),
	result("r1", null, "c1", [text("one")]),
	assistant("a2", null, [text("done")], { usage: { ...usage(200, 20, 5, 6), reasoning: 3, cost: { total: 0.5 } } }),
	user("u2", null, "second"),
	assistant("a3", null, [text("fine")], { usage: usage(300, 30) }),
);

describe("the fork's file", () => {
	it("begins with the session's header under a new id, with lineage", async () => {
		const { records, source } = await fork(TALK, [[1, 1]]);
		expect(records[0]).toEqual({
			...header(),
			id: ID,
			timestamp: NOW.toISOString(),
			parentSession: source,
			midcompact: { parent: { session: null, path: source } },
		});
	});

	it("is one line of parents with the block where the range stood", async () => {
		const { records } = await fork(TALK, [[1, 2]]);
		expect(namesOf(records)).toEqual(["m1", "u1", "c0001", "u2", "a3"]);
		expectOneLine(records);
		expect(records[3]).toMatchObject({
			type: "custom_message",
			customType: "midcompact-summary",
			content: "[midcompact block c0001]\nsummary 1",
			display: true,
			details: { blockId: "c0001", topic: "" },
			timestamp: TALK[3].timestamp,
		});
		expect(records[3].id).toMatch(/^[0-9a-f]{8}$/);
	});

	it("copies every other byte of an entry", async () => {
		const odd = `{ "type":"message","n":1.50, "id":"u0","parentId" : "gone","é":"\\u00e9", "timestamp":"x","message":{"role":"user","content":"x"},"n":2E3}`;
		const rest = jsonLines([assistant("a1", "u0", [text("x")]), user("u2", "a1", "y")]);
		const made = await fork(`${jsonLines([header()])}${odd}\n${rest}`, [[1, 1]]);
		expect(made.text().split("\n")[1]).toBe(odd.replace('"gone"', "null"));
	});

	it("is named as Pi names its files, and opened by its path", () => {
		expect(piWriter.fileName(ID, NOW, "/x/y.jsonl")).toBe(`2026-03-04T05-06-07-890Z_${ID}.jsonl`);
		expect(piWriter.idInName("anything.jsonl")).toBeNull();
		expect(piWriter.resumeCommand(ID, "/x/y.jsonl")).toBe("pi --session /x/y.jsonl");
		expect(piWriter.resumeCommand(ID, "/x y/it's.jsonl")).toBe("pi --session '/x y/it'\\''s.jsonl'");
	});

	it("leaves dead branches and what is not Pi's behind, and keeps settings, state and names inside a range", async () => {
		const { records } = await fork(
			[
				header({ version: 4, extra: 1 }),
				user("u1", null, "first"),
				user("dead", "u1", "another branch"),
				entry("thinking_level_change", "t1", "u1", { thinkingLevel: "high" }),
				assistant("a1", "t1", [text("x")]),
				entry("custom", "s1", "a1", { customType: "x", data: { n: 1 } }),
				{ neither: "type", nor: "role" },
				entry("session_info", "i1", "s1", { name: "a name" }),
				entry("usage", "g1", "i1", { kind: "x" }),
				message("y1", "g1", { role: "system", content: "patch" }),
				entry("of_the_future", "f1", "y1", {}),
				user("u2", "f1", "second"),
			],
			[[0, 2]],
		);
		expect(namesOf(records)).toEqual(["c0001", "t1", "s1", "i1", "g1", "y1", "f1"]);
		expectOneLine(records);
		expect(records[0]).toMatchObject({ version: 3, extra: 1 });
	});

	it("leaves out the words on an entry that is gone, and on those words", async () => {
		const { records } = await fork(
			lines(
				user("u1", null, "first"),
				edit("e1", "u1", { content: "edited" }),
				entry("label", "l1", null, { targetId: "u1", label: "here" }),
				entry("label", "l2", null, { targetId: "l1", label: "on a label" }),
				user("u2", null, "second"),
				entry("label", "l3", null, { targetId: "u2", label: "stays" }),
				edit("e2", "u2", { content: "stays" }),
			),
			[[0, 0]],
		);
		expect(namesOf(records)).toEqual(["c0001", "u2", "l3", "e2"]);
	});

	it("makes entries of bare messages, and a header where there is none", async () => {
		const bare = [
			{ role: "user", content: "first", timestamp: 1_000 },
			{ role: "assistant", content: [text("x")], stopReason: "stop", timestamp: 2_000 },
			{ role: "user", content: [text("second"), text("")], timestamp: 3_000 },
			{ role: "hookMessage", customType: "h", content: "by a hook", timestamp: 4_000 },
		];
		const { records, path } = await fork(bare, [[1, 1]]);
		expectOneLine(records);
		expect(records[0]).toMatchObject({ type: "session", version: 3, id: ID });
		expect(records[3]).toMatchObject({
			type: "message",
			timestamp: "1970-01-01T00:00:03.000Z",
			message: { role: "user", content: [text("second")], timestamp: 3_000 },
		});
		expect(records[4].message).toMatchObject({ role: "custom", customType: "h" });
		expect((await openAtoms(path)).report.findings).toEqual([]);
	});
});

describe("recorded usage", () => {
	const ZERO = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

	it("is kept in front of the first block and 0 behind it, but for what was paid", async () => {
		const { records, path } = await fork(TALK, [[0, 0]]);
		expect(usageOf(find(records, "a2"))).toEqual({ ...ZERO, reasoning: 0, cost: { total: 0.5 } });
		const behind = await fork(TALK, [[3, 3]]);
		expect(usageOf(find(behind.records, "a2"))).toEqual(usageOf(find(TALK, "a2")));
		expect(usageOf(find(behind.records, "a3"))).toEqual(ZERO);
		expect((await openAtoms(path)).usage).toBeNull();
		expect((await openAtoms(behind.path)).usage).toBeNull();
	});

	it("is 0 behind a compaction that is left out", async () => {
		const records = lines(
			user("u1", null, "first"),
			compaction("k1", "u1"),
			assistant("a1", null, [text("x")], { usage: usage(9, 9) }),
			user("u2", null, "second"),
		);
		const made = await fork(records, [[2, 2]], { open: { scope: "path" } });
		expect(usageOf(find(made.records, "a1"))).toEqual(ZERO);
	});

	it("keeps the output of a last reply that was cut off, which Pi would take for cut off by the context", async () => {
		const cut = (id: string) => assistant(id, null, [text(id)], { stopReason: "length", usage: usage(900, 77) });
		const { records } = await fork(lines(user("u1", null, "first"), cut("a1"), cut("a2"), user("u2", null, "x")), [
			[0, 0],
		]);
		expect(usageOf(find(records, "a1"))).toEqual(ZERO);
		expect(usageOf(find(records, "a2"))).toEqual({ ...ZERO, output: 77 });
	});

	it("says of the last reply only that it failed, not that the context was too large", async () => {
		const failed = (id: string) => assistant(id, null, [], { stopReason: "error", errorMessage: "prompt is too long" });
		const { records } = await fork(lines(user("u1", null, "x"), failed("a1"), failed("a2")), [[0, 0]]);
		const words = (id: string) => (find(records, id).message as JsonObject).errorMessage;
		expect(words("a1")).toBe("prompt is too long");
		expect(words("a2")).toBe("This reply failed before the session was compacted.");
	});
});

describe("compactions", () => {
	const OLD = [user("u0", null, "old"), user("u1", null, "kept"), assistant("a1", null, [text("kept too")])];
	const NEW = [user("u2", null, "new"), assistant("a2", null, [text("newer")])];
	const cases: [name: string, keeps: string, span: Span, names: string[], kept: string][] = [
		["the first kept entry", "u1", [1, 1], ["u0", "c0001", "a1", "k1", "u2", "a2"], "c0001"],
		["kept and later entries", "u1", [2, 3], ["u0", "u1", "c0001", "k1", "a2"], "u1"],
		["all that was kept, and more", "u1", [1, 3], ["u0", "c0001", "k1", "a2"], "c0001"],
		["later entries", "u1", [3, 4], ["u0", "u1", "a1", "k1", "c0001"], "u1"],
		["behind one that keeps nothing", "k1", [1, 1], ["u0", "u1", "a1", "k1", "c0001", "a2"], "k1"],
		["behind one that names no entry", "gone", [1, 1], ["u0", "u1", "a1", "k1", "c0001", "a2"], "k1"],
	];
	it.each(cases)("stays in front of a range over %s", async (_, keeps, span, names, kept) => {
		const { records } = await fork(lines(...OLD, compaction("k1", keeps), ...NEW), [span]);
		expect(namesOf(records)).toEqual(names);
		const { firstKeptEntryId } = find(records, "k1");
		const target = find(records, String(firstKeptEntryId));
		expect((target.details as JsonObject | undefined)?.blockId ?? target.id).toBe(kept);
	});

	it("lets an older one begin at the block that its first kept entry went into, or at the entry behind a label", async () => {
		const { records } = await fork(
			lines(
				user("u0", null, "old"),
				assistant("a0", null, [text("x")]),
				entry("label", "l0", null, { targetId: "u0" }),
				user("u1", null, "y"),
				compaction("k0", "a0"),
				compaction("k1", "l0"),
				compaction("k2", "u0"),
				user("u2", null, "new"),
			),
			[[1, 2]],
		);
		const block = records.find(({ type }) => type === "custom_message")?.id;
		expect(find(records, "k0").firstKeptEntryId).toBe(block);
		expect(find(records, "k1").firstKeptEntryId).toBe("u1");
		expect(find(records, "k2").firstKeptEntryId).toBe(block);
	});

	it("is left out in path scope, with the words on it", async () => {
		const records = lines(...OLD, compaction("k1", "u1"), entry("label", "l1", null, { targetId: "k1" }), ...NEW);
		const made = await fork(records, [[1, 2]], { open: { scope: "path" } });
		expect(namesOf(made.records)).toEqual(["u0", "c0001", "u2", "a2"]);
		expectOneLine(made.records);
	});
});

describe("older versions", () => {
	const V1 = [
		header({ version: undefined, provider: "p" }),
		...withoutIds([
			user("", null, "old"),
			user("", null, "kept"),
			entry("compaction", "", null, { summary: "s", firstKeptEntryIndex: 2 }),
			message("", null, { role: "hookMessage", customType: "h", content: "by a hook" }),
			assistant("", null, [text("x")]),
		]),
	];

	it("gets ids and links, and keeps what its compaction kept", async () => {
		const { records, path } = await fork(V1, [[3, 3]]);
		expectOneLine(records);
		const ids = records.slice(1).map(({ id }) => String(id));
		expect(new Set(ids).size).toBe(5);
		for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
		expect(records[3]).toMatchObject({ type: "compaction", firstKeptEntryId: ids[1] });
		expect(records[3]).not.toHaveProperty("firstKeptEntryIndex");
		expect(records[4].message).toMatchObject({ role: "custom", customType: "h" });
		expect(messagesOf(records).map(({ role }) => role)).toEqual(["summary", "user", "custom", "custom"]);
		expect((await openAtoms(path)).report.findings).toEqual([]);
	});

	it("is known again after Pi wrote it anew", () => {
		const hook = V1[4];
		const migrated = { ...hook, id: "x", parentId: "y", message: { ...(hook.message as JsonObject), role: "custom" } };
		expect(piReader.identity?.(migrated)).toEqual(piReader.identity?.(hook));
		const { firstKeptEntryIndex: _, ...rest } = V1[3];
		const compacted = { ...rest, firstKeptEntryId: "z", id: "x", parentId: "y" };
		expect(piReader.identity?.(compacted)).toEqual(piReader.identity?.(V1[3]));
		expect(piReader.identity?.(user("x", "y", "old"))).not.toEqual(piReader.identity?.(user("x", "y", "other")));
	});

	it("has the id that its header gives", () => {
		expect(piReader.session?.(header({ id: "one" }))).toBe("one");
		expect(piReader.session?.(user("two", null, "x"))).toBeNull();
	});
});

describe("what goes into no fork", () => {
	const image: JsonObject = { type: "image", mimeType: "image/png", data: "" };
	const hollow: JsonObject = { type: "thinking", thinking: "", thinkingSignature: "" };
	const signed: JsonObject = { type: "thinking", thinking: "", thinkingSignature: "s" };
	const says = (role: string, content: JsonObject["content"]) => message("x", "y", { role, content });
	const cases: [name: string, record: JsonObject, cleaned: JsonObject][] = [
		["an empty text (claude-code#41729)", says("user", [text(""), text("a")]), says("user", [text("a")])],
		["an empty prompt", says("user", ""), says("user", [])],
		["all that a reply holds", says("assistant", [text("")]), says("assistant", [])],
		["hollow thinking (claude-code#63147)", says("assistant", [hollow, call("c")]), says("assistant", [call("c")])],
		["an empty text beside a result's image", says("toolResult", [text(""), image]), says("toolResult", [image])],
		["a reply's string", says("assistant", "a"), says("assistant", [text("a")])],
		["a result's string", says("toolResult", ""), says("toolResult", [])],
		["an edit's empty text", edit("e", "x", { content: [text("")] }), edit("e", "x", { content: [] })],
		[
			"an extension's empty text",
			entry("custom_message", "x", null, { content: [text(""), image] }),
			entry("custom_message", "x", null, { content: [image] }),
		],
		["half a surrogate pair (claude-code#56064)", says("user", "a\ud83d b"), says("user", "a\ufffd b")],
		[
			"half a pair in state",
			entry("custom", "s", null, { "\udc00": ["\ud800"] }),
			entry("custom", "s", null, { "\ufffd": ["\ufffd"] }),
		],
	];
	it.each(cases)("%s", (_, record, cleaned) => {
		expect(piCleaner.clean(record)).toEqual(cleaned);
	});

	it.each([
		["thinking that a provider encrypted", says("assistant", [signed])],
		["redacted thinking", says("assistant", [{ ...hollow, redacted: true }])],
		["an empty line of a result", says("toolResult", [text("a"), text(""), text("b")])],
		["a failed reply without content", says("assistant", [])],
		["a whole pair", says("user", "😀")],
	])("but %s stays as it is", (_, record) => {
		expect(piCleaner.clean(record)).toBe(record);
	});

	it("is no entry: what is named by the next one stays", async () => {
		const { records, cleaned, dropped } = await fork(
			lines(
				user("u1", null, "x"),
				user("u2", null, ""),
				assistant("a\ud800", null, [text("")]),
				edit("e1", "a\ud800", null),
			),
			[[0, 0]],
		);
		expectOneLine(records);
		expect(records).toHaveLength(5);
		expect(records[4].targetId).toBe(records[3].id);
		expect(records[3].id).toMatch(/^[0-9a-f]{8}$/);
		expect([cleaned, dropped]).toEqual([3, 0]);
	});
});

/** Ranges over compressible atoms by random choices: 0 and 1 begin one, 2 to 4 go on with it. */
function pickRanges(compressible: readonly boolean[], choices: readonly number[]): TestRange[] {
	const ranges: TestRange[] = [];
	let open = false;
	compressible.forEach((isFree, at) => {
		const choice = choices[at % choices.length];
		const last = ranges.at(-1);
		if (!isFree || choice > 4) open = false;
		else if (choice < 2 || !open || !last) {
			if (choice < 2) ranges.push({ from: at, to: at, summary: `s ${ranges.length}`, topic: at % 2 ? "t" : undefined });
			open = choice < 2;
		} else last.to = at;
	});
	return ranges;
}

async function expectProjection(records: readonly JsonObject[], scope: Scope, choices: readonly number[]) {
	const source = scratch.write(`${serial++}.jsonl`, jsonLines(records));
	const open = { scope, format: "pi" } as const;
	const before = await openAtoms(source, scope);
	const ranges = pickRanges(
		before.atoms.map(({ reason }) => reason === null),
		choices,
	);
	const made: TestFork = await forkFile(source, ranges, { open });
	const forked = recordsOf(made.path);
	const after = await openAtoms(made.path);
	expect(after.atoms.map(plain)).toEqual(expectedAtoms(before.atoms, ranges).map(plain));
	expect(after.report.findings.filter(({ severity }) => severity === "refused")).toEqual([]);
	expect(after.session).toBe(made.id);
	expectOneLine(forked);
	expect(new Set(forked.map(({ id }) => id)).size).toBe(forked.length);
	expect(messagesOf(forked).map(withoutEntry)).toEqual(
		projected(messagesOf(records, scope), before.entries, ranges).map(withoutEmpty),
	);
}

/** Empty texts go (see NOTES.md), and with them what stood between them and the next. */
const plain = <T extends { text: string }>(atom: T) => ({ ...atom, text: atom.text.trim() });
const withoutEmpty = ({ role, texts }: { role: string; texts: string[] }) => ({
	role,
	texts: texts.filter((one) => one !== ""),
});
const withoutEntry = ({ role, texts }: { role: string; texts: string[] }) => withoutEmpty({ role, texts });

describe("random sessions", () => {
	const choices = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 40 });

	it("read back as the projection, in both scopes, without a broken pair", async () => {
		await fc.assert(
			fc.asyncProperty(
				sessionSteps,
				fc.constantFrom<Scope>("context", "context", "path"),
				choices,
				async (steps, scope, chosen) => expectProjection(sessionOf(steps), scope, chosen),
			),
			{ numRuns: 20 },
		);
	}, 120_000);

	it("of version 1 too", async () => {
		await fc.assert(
			fc.asyncProperty(sessionSteps, choices, async (steps, chosen) =>
				expectProjection(asVersion1(sessionOf(steps, "linear")), "context", chosen),
			),
			{ numRuns: 8 },
		);
	}, 120_000);
});

describe.skipIf(!existsSync(shared))("real sessions", () => {
	it.each(["v1-large-session.jsonl", "v3-small.jsonl"])("%s", async (name) => {
		await expectProjection(recordsOf(`${shared}${name}`), "context", [0, 2, 2, 5, 0, 3, 3, 3, 5, 5]);
		await expectProjection(recordsOf(`${shared}${name}`), "path", [5, 0, 2, 2]);
	});

	it("can be forked again around the blocks", async () => {
		const first = await forkFile(`${shared}v1-large-session.jsonl`, rangesOf([[10, 40]]), {});
		const second = await forkFile(
			first.path,
			rangesOf([
				[2, 9],
				[11, 30],
			]),
			{ firstBlock: 2 },
		);
		const atoms = (await openAtoms(second.path)).atoms.slice(0, 6);
		expect(atoms.map(({ kind }) => kind).filter((kind) => kind === "block")).toHaveLength(3);
		expect(recordsOf(second.path)[0]).toMatchObject({ parentSession: first.path });
		expect(basename(second.path)).not.toBe(basename(first.path));
	});
});
