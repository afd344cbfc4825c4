import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { MidcompactError } from "#src/errors.js";
import { handleRequest } from "#src/facade/handle.js";
import type { InspectData } from "#src/facade/inspect.js";
import type { RangeData } from "#src/facade/plan-figures.js";
import type { RangeReadData } from "#src/facade/plan-read.js";
import type { PlanData } from "#src/facade/plan-show.js";
import type { ErrorReply } from "#src/facade/reply.js";
import type { Survey } from "#src/facade/survey.js";
import { blockText } from "#src/plan/block-text.js";
import type { LossReport } from "#src/plan/losses.js";
import type { PlanDesk } from "#src/plan/transaction.js";
import {
	charsOf,
	exchange,
	image,
	type MadeAtom,
	type MadeOptions,
	madeSurvey,
	prompt,
	reply,
	text,
} from "./made-survey.js";
import { withDesk } from "./plan-desk.js";

const picture = prompt("look", { messages: [{ role: "user", parts: [text("look"), image("image/png", 1000)] }] });
const custom: MadeAtom = {
	kind: "custom",
	reason: "unsupported_kind",
	messages: [{ role: "custom", parts: [text("note")] }],
};

/** a0004 is protected, a0007 is not sent. */
const atoms = () => [
	prompt("Fix the build"),
	exchange("read", '{"path":"a"}', "ENOENT"),
	exchange("Bash", "{}", "ok"),
	custom,
	reply("Done"),
	picture,
	reply("half an ans", { unsent: true }),
	prompt("Thanks"),
];

let survey: Survey;

const open = async (options: MadeOptions = {}) => withDesk(madeSurvey(atoms(), options));

async function ask<D>(request: object): Promise<{ text: string; data: D }> {
	const answer = await handleRequest(survey, { request });
	if (!answer.ok) throw new Error(answer.text);
	return { text: answer.text, data: answer.data as D };
}

async function refused(request: object): Promise<ErrorReply> {
	const answer = await handleRequest(survey, { request });
	if (answer.ok) throw new Error(`was accepted: ${answer.text}`);
	expect(answer.error.hint).not.toBe("");
	return answer;
}

const add = (start: string, end: string, fields: object = {}) =>
	ask<RangeData>({ action: "plan_add", start, end, ...fields });
const update = (range_id: string, fields: object) => ask<RangeData>({ action: "plan_update", range_id, ...fields });
const remove = (range_id: string) => ask<RangeData>({ action: "plan_remove", range_id });
const show = () => ask<PlanData>({ action: "plan_show" });
const read = (range_id: string) => ask<RangeReadData>({ action: "plan_read", range_id });
const messageChars = (summary: string, topic = "") =>
	charsOf(blockText({ block: "c0001", topic, summary, session: randomUUID() }));

beforeEach(async () => {
	survey = await open();
});

describe("plan_add", () => {
	it("answers the new range and compact totals", async () => {
		const { data, text: shown } = await add("a0002", "a0003", {
			summary: "  Read a; it was not there. ",
			topic: "Reading",
		});
		const chars = charsOf("read", '{"path":"a"}', "ENOENT", "Bash", "{}", "ok");
		const replacement = messageChars("Read a; it was not there.", "Reading");
		expect(data.range).toEqual({
			id: "d1",
			start: "a0002",
			end: "a0003",
			topic: "Reading",
			summary: "Read a; it was not there.",
			summary_omitted: 0,
			pending: false,
			from: "read",
			to: "Bash",
			atoms: 2,
			chars,
			replacement_chars: replacement,
			images: 0,
			image_bytes: 0,
			tokens: expect.any(Number),
			replacement_tokens: Math.ceil(replacement / 4),
		});
		expect(data.revision).toBe(1);
		expect(data.digest).toMatch(/^[0-9a-f]{12}$/);
		expect(data.totals).toEqual({
			ranges: 1,
			pending: 0,
			atoms: 2,
			chars,
			replacement_chars: replacement,
			images: 0,
			tokens: data.range.tokens,
			replacement_tokens: data.range.replacement_tokens,
		});
		expect(shown).toContain("Added d1 a0002..a0003 | Reading");
		expect(shown).toContain(`${chars} → ${replacement} chars`);
		expect(shown).toContain(`revision 1, digest ${data.digest}`);
	});

	it.each([[{}], [{ summary: "" }], [{ summary: " \n\t " }]])("is pending without a summary: %j", async (fields) => {
		const { data, text: shown } = await add("a0001", "a0001", fields);
		expect(data.range).toMatchObject({ summary: "", pending: true, replacement_chars: 0, replacement_tokens: 0 });
		expect(data.totals.pending).toBe(1);
		expect(shown).toContain("<pending>");
		expect(shown).toContain('d1 is pending: give it its summary by plan_update with range_id "d1".');
	});

	it("counts like measure: what is not sent is an atom without chars and images", async () => {
		const { data } = await add("a0006", "a0008");
		expect(data.range).toMatchObject({ atoms: 3, chars: charsOf("look", "Thanks"), images: 1, image_bytes: 1000 });
		expect(data.totals.images).toBe(1);
	});

	it("puts a topic on one line", async () => {
		expect((await add("a0001", "a0001", { topic: " a\r\n\0b\u2028c\t " })).data.range.topic).toBe("a b c");
	});

	it("claude-code#56064: half a surrogate pair never gets into the plan", async () => {
		await add("a0001", "a0001", { summary: "cut \ud83d here", topic: "\udc00" });
		const [range] = (await survey.desk?.current())?.plan.ranges ?? [];
		expect(range).toMatchObject({ summary: "cut \ufffd here", topic: "\ufffd" });
	});

	it("keeps the hash of what the range covers", async () => {
		await add("a0002", "a0003");
		const [range] = (await survey.desk?.current())?.plan.ranges ?? [];
		expect(range.hash).toBe(await survey.hashOf(1, 2));
	});

	it("gives no id twice", async () => {
		await add("a0001", "a0001");
		await add("a0002", "a0002");
		await remove("d2");
		expect((await add("a0002", "a0002")).data.range.id).toBe("d3");
	});

	it.each([
		["a label as start", { start: "g0001", end: "a0002" }, "label_not_ref", /start.*"g0001"/],
		["a part's label as end", { start: "a0001", end: "g0001.2" }, "label_not_ref", /end.*"g0001\.2"/],
		["a ref from nowhere", { start: "a0001", end: "a0009" }, "unknown_ref", /end.*"a0009".*a0001 to a0008/],
		["a range's id as ref", { start: "d1", end: "a0001" }, "unknown_ref", /start.*"d1"/],
		["a reversed range", { start: "a0003", end: "a0002" }, "reversed", /a0003.*a0002/],
		["a protected atom alone", { start: "a0004", end: "a0004" }, "protected_atom", /a0004.*unsupported_kind/],
		["an overlap", { start: "a0005", end: "a0006" }, "overlap", /d1/],
		["the same range again", { start: "a0006", end: "a0006" }, "overlap", /d1/],
		[
			"a summary that is too long",
			{ start: "a0001", end: "a0001", summary: "x".repeat(36_001) },
			"invalid_field",
			/"summary" has 36,001.*36,000/,
		],
		[
			"a topic that is too long",
			{ start: "a0001", end: "a0001", topic: "x".repeat(201) },
			"invalid_field",
			/"topic" has 201.*200/,
		],
		[
			"a giant topic",
			{ start: "a0001", end: "a0001", topic: "x".repeat(5e6) },
			"invalid_field",
			/"topic" has 5,000,000/,
		],
		["a number as summary", { start: "a0001", end: "a0001", summary: 1 }, "invalid_field", /"summary".*string/],
		["no end", { start: "a0001" }, "missing_field", /"end"/],
		["an id of the caller's", { start: "a0001", end: "a0001", id: "d7" }, "unknown_field", /"id"/],
	])("refuses %s and changes nothing", async (_what, fields, code, names) => {
		await add("a0006", "a0006", { summary: "s" });
		const before = await survey.desk?.current();
		const answer = await refused({ action: "plan_add", ...fields });
		expect(answer.error.code).toBe(code);
		expect(answer.text).toMatch(names);
		expect(answer.text.length).toBeLessThan(2_000);
		expect(await survey.desk?.current()).toEqual(before);
	});

	it("names the ranges that go around a protected atom", async () => {
		const { error, text: shown } = await refused({ action: "plan_add", start: "a0002", end: "a0006" });
		expect(error.code).toBe("protected_atom");
		expect(shown).toMatch(/a0004/);
		expect(shown).toMatch(/a0002\D+a0003/);
		expect(shown).toMatch(/a0005\D+a0006/);
	});

	it("is decided on the plan as it stands when the change is made", async () => {
		const both = await Promise.all(
			["a0001", "a0002"].map((end) =>
				handleRequest(survey, { request: { action: "plan_add", start: "a0001", end, summary: end } }),
			),
		);
		expect(both.filter(({ ok }) => ok)).toHaveLength(1);
		expect(both.find(({ ok }) => !ok)).toMatchObject({ error: { code: "overlap" } });
		expect((await show()).data.ranges).toHaveLength(1);
	});

	it("takes the longest summary and topic there may be", async () => {
		const { data } = await add("a0001", "a0001", { summary: `  ${"x".repeat(36_000)}\n`, topic: "y".repeat(200) });
		expect(data.range.topic).toHaveLength(200);
		expect((await read("d1")).data.range.summary).toHaveLength(36_000);
	});
});

describe("plan_update", () => {
	beforeEach(async () => {
		await add("a0002", "a0003", { summary: "first", topic: "Topic" });
	});

	it.each([
		["a summary", { summary: " second " }, { summary: "second", topic: "Topic", pending: false }],
		["a topic", { topic: "New" }, { summary: "first", topic: "New" }],
		["both", { summary: "second", topic: "New" }, { summary: "second", topic: "New" }],
		["an empty topic", { topic: "" }, { summary: "first", topic: "" }],
		["an empty summary", { summary: " " }, { summary: "", topic: "Topic", pending: true, replacement_chars: 0 }],
	])("takes %s", async (_what, fields, expected) => {
		const { data, text: shown } = await update("d1", fields);
		expect(data.range).toMatchObject({ id: "d1", start: "a0002", end: "a0003", ...expected });
		expect(data.revision).toBe(2);
		expect(shown).toContain("Changed d1 a0002..a0003");
		expect((await show()).data.ranges).toEqual([data.range]);
	});

	it.each([
		["nothing to change", { range_id: "d1" }, "missing_field", /"summary" and "topic"/],
		["no range", { summary: "x" }, "missing_field", /"range_id"/],
		["a range that is not there", { range_id: "d9", summary: "x" }, "unknown_range", /"d9".*d1/],
		["a ref", { range_id: "a0002", summary: "x" }, "unknown_range", /"a0002"/],
		[
			"a new start",
			{ range_id: "d1", start: "a0001" },
			"unknown_field",
			/"start"[\s\S]*never change in place: plan_remove it, then plan_add/,
		],
		[
			"a new end beside a summary",
			{ range_id: "d1", end: "a0003", summary: "x" },
			"unknown_field",
			/"end"[\s\S]*plan_remove/,
		],
		[
			"a field of no action",
			{ range_id: "d1", summary: "x", toString: 1 },
			"unknown_field",
			/range_id, summary, topic/,
		],
		["a summary that is too long", { range_id: "d1", summary: "😀".repeat(18_001) }, "invalid_field", /36,002.*36,000/],
	])("refuses %s", async (_what, fields, code, names) => {
		const answer = await refused({ action: "plan_update", ...fields });
		expect(answer.error.code).toBe(code);
		expect(answer.text).toMatch(names);
		expect((await show()).data.revision).toBe(1);
	});
});

describe("plan_remove", () => {
	it("answers the range that is gone, and what is left", async () => {
		await add("a0002", "a0003", { summary: "first" });
		await add("a0005", "a0005", { summary: "second" });
		const { data, text: shown } = await remove("d1");
		expect(data.range).toMatchObject({
			id: "d1",
			start: "a0002",
			end: "a0003",
			replacement_chars: messageChars("first"),
		});
		expect(data.totals).toMatchObject({ ranges: 1, atoms: 1, replacement_chars: messageChars("second") });
		expect(shown).toContain("Removed d1 a0002..a0003");
		expect((await show()).data.ranges.map(({ id }) => id)).toEqual(["d2"]);
	});

	it("refuses a range that is not there", async () => {
		expect((await refused({ action: "plan_remove", range_id: "d1" })).text).toMatch(/unknown_range.*"d1".*none/);
	});
});

describe("plan_show", () => {
	it("says how to begin while the plan is empty", async () => {
		const { data, text: shown } = await show();
		expect(data).toMatchObject({
			revision: 0,
			ranges: [],
			totals: { ranges: 0, tokens: 0 },
			usage: { source: "none" },
		});
		expect(shown).toContain("No ranges yet: add them with plan_add");
	});

	it("shows usage, totals and every range in the order of the session", async () => {
		const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 35, window: 600 };
		survey = await open({ usage: { usage, row: 1 } });
		await add("a0005", "a0006");
		await add("a0001", "a0003", { summary: "Built\n\nit", topic: "Build" });
		const { data, text: shown } = await show();
		expect(data.ranges.map(({ id }) => id)).toEqual(["d2", "d1"]);
		expect(data.usage).toMatchObject({ source: "recorded", tokens: 150, percent: 25 });
		expect(data.totals).toMatchObject({ ranges: 2, pending: 1, atoms: 5, images: 1 });
		expect(data.totals.chars).toBe(data.ranges[0].chars + data.ranges[1].chars);
		expect(shown).toContain("Usage: 150 of 600 tokens (25.0 %), recorded at entry e1");
		expect(shown).toMatch(
			/d2 a0001\.\.a0003 \| Build\n {3}from: Fix the build\n {3}to: {3}Bash\n.*\n {3}summary: Built it\n/,
		);
		expect(shown).toMatch(/d1 a0005\.\.a0006\n {3}from: Done\n {3}to: {3}look\n.*1 image \(1\.0 kB\)\n {3}<pending>/);
		expect(shown).toContain('1 pending: give the first its summary by plan_update with range_id "d1".');
	});

	it("tells what the user asked for, so that an agent that comes back knows", async () => {
		survey = await withDesk(madeSurvey(atoms()), { mode: "manual", instructions: "Keep\nall decisions" });
		const { data, text: shown } = await show();
		expect(data.transaction).toMatchObject({ mode: "manual", instructions: "Keep\nall decisions", holder: null });
		expect(shown).toMatch(
			/Transaction: .*, manual mode, since 2026-01-02.*\nInstructions of the user: Keep all decisions\n/,
		);
	});

	it("names the user's commit once every range has its summary", async () => {
		await add("a0001", "a0001", { summary: "s" });
		expect((await show()).text).toMatch(/only the user commits, with the commit command of the host/);
	});

	it("has null for tokens that are not counted, in the ranges that hold them and in the totals", async () => {
		survey = await open({ ready: 0.5, tokens: (atom) => (atom === 1 ? null : 2) });
		await add("a0001", "a0001", { summary: "s" });
		await add("a0002", "a0003");
		const { data, text: shown } = await show();
		expect(data.ranges.map(({ tokens }) => tokens)).toEqual([2, null]);
		expect(data.totals.tokens).toBeNull();
		expect(data.totals.replacement_tokens).toBe(data.ranges[0].replacement_tokens);
		expect(shown).toContain("tokens not counted yet → 0 tokens");
		expect(shown).not.toContain("null");
	});

	it("counts the message of a range once, however often it is shown", async () => {
		const counted: string[] = [];
		const countTexts: Survey["countTexts"] = (texts) => {
			counted.push(...texts);
			return Promise.resolve(texts.map(() => 5));
		};
		survey = { ...survey, countTexts };
		await add("a0001", "a0001", { summary: "one" });
		await add("a0002", "a0002", { summary: "two" });
		await show();
		await read("d1");
		expect(counted).toHaveLength(2);
		await update("d1", { summary: "three" });
		expect((await show()).data.totals.replacement_tokens).toBe(10);
		expect(counted).toHaveLength(3);
	});
});

describe("plan_read", () => {
	const report: LossReport = {
		kinds: [
			{ kind: "path", total: 9, lost: 7, more: false, examples: ["src/a.ts", "src/b.ts", "c", "d", "e", "f", "g"] },
			{ kind: "command", total: 1, lost: 1, more: true, examples: ["npm run\nbuild"] },
			{ kind: "error", total: 2, lost: 0, more: false, examples: [] },
		],
	};

	it("shows one range with its whole summary", async () => {
		const summary = `Begin\n${"line\n".repeat(3_000)}end`;
		await add("a0002", "a0003", { summary, topic: "Long" });
		const { data, text: shown } = await read("d1");
		expect(data.range).toMatchObject({ id: "d1", summary, summary_omitted: 0 });
		expect(data.losses).toBeNull();
		expect(shown).toContain("d1 a0002..a0003 | Long");
		expect(shown.endsWith(`Summary:\n${summary}`)).toBe(true);
	});

	it("says what the summary loses, and that this gates nothing", async () => {
		survey = await open({ losses: async (range) => (range.id === "d1" ? report : null) });
		await add("a0002", "a0003", { summary: "s" });
		const { data, text: shown } = await read("d1");
		expect(data.losses).toEqual({
			kinds: [report.kinds[0], { ...report.kinds[1], examples: ["npm run build"] }, report.kinds[2]],
		});
		expect(shown).toContain("this informs, it gates nothing");
		expect(shown).toContain("7 of 9 file paths: src/a.ts | src/b.ts | c | d | e …");
		expect(shown).toContain("at least 1 of 1 command: npm run build\n");
		expect(shown).not.toContain("error text");
	});

	it.each([
		["nothing is lost", 2, /All paths.*stand in the summary/],
		["there is nothing to lose", 0, /name no path/],
	])("says so when %s", async (_what, total, expected) => {
		survey = await open({
			losses: async () => ({ kinds: [{ kind: "path", total, lost: 0, more: false, examples: [] }] }),
		});
		await add("a0002", "a0003", { summary: "s" });
		expect((await read("d1")).text).toMatch(expected);
	});

	it("asks for no losses of a pending range", async () => {
		survey = await open({ losses: async () => report });
		await add("a0002", "a0003");
		const { data, text: shown } = await read("d1");
		expect(data.losses).toBeNull();
		expect(shown).toContain("Summary: <pending>");
	});

	it("refuses a range that is not there", async () => {
		expect((await refused({ action: "plan_read", range_id: "d1" })).error.code).toBe("unknown_range");
		expect((await refused({ action: "plan_read" })).error.code).toBe("missing_field");
	});
});

describe("without an open transaction", () => {
	const requests: object[] = [
		{ action: "plan_show" },
		{ action: "plan_read", range_id: "d1" },
		{ action: "plan_add", start: "a0001", end: "a0001" },
		{ action: "plan_update", range_id: "d1", summary: "s" },
		{ action: "plan_remove", range_id: "d1" },
	];
	const closed: PlanDesk = {
		current: async () => null,
		change: async () => {
			throw new MidcompactError("no_transaction", "There is none.");
		},
	};

	it.each(requests)("%j is refused and names the user's command", async (request) => {
		for (const desk of [null, closed]) {
			survey = madeSurvey(atoms(), { desk });
			const { error } = await refused(request);
			expect(error.code).toBe("no_transaction");
			expect(error.hint).toMatch(/Only the user starts a transaction, with .*midcompact start/);
		}
	});

	it("the survey says so", async () => {
		const { data } = await ask<InspectData>({ action: "inspect" });
		expect(data.transaction).toBe((await survey.desk?.current())?.id);
		for (const desk of [null, closed]) {
			survey = madeSurvey(atoms(), { desk });
			expect((await ask<InspectData>({ action: "inspect" })).data.transaction).toBeNull();
		}
	});

	it("a state that cannot be read is a notice of the survey, and refuses plan actions", async () => {
		const unavailable = async () => {
			throw new MidcompactError("state_unavailable", "The state folder cannot be read.");
		};
		survey = madeSurvey(atoms(), { desk: { current: unavailable, change: unavailable } });
		const { data, text: shown } = await ask<InspectData>({ action: "inspect" });
		expect(data.transaction).toBeNull();
		expect(data.notices).toEqual(["Whether a transaction is open is not known: The state folder cannot be read."]);
		expect(shown).toContain("is not known");
		for (const request of requests) expect((await refused(request)).error.code).toBe("state_unavailable");
	});

	it("a lock that somebody else holds refuses a change and no look", async () => {
		const { desk } = survey;
		if (!desk) throw new Error("no desk");
		await add("a0001", "a0001");
		const change = async () => {
			throw new MidcompactError("locked", "The plan is held by ui.");
		};
		survey = { ...survey, desk: { current: () => desk.current(), change } };
		expect((await refused({ action: "plan_remove", range_id: "d1" })).error.code).toBe("locked");
		expect((await show()).data.ranges).toHaveLength(1);
	});
});
