import { beforeAll, describe, expect, it } from "vitest";
import { handleRequest } from "#src/facade/handle.js";
import type { RangeData } from "#src/facade/plan-figures.js";
import type { RangeReadData } from "#src/facade/plan-read.js";
import type { PlanData } from "#src/facade/plan-show.js";
import type { OkReply } from "#src/facade/reply.js";
import type { Survey } from "#src/facade/survey.js";
import type { LossReport } from "#src/plan/losses.js";
import { image, type MadeAtom, madeSurvey, prompt, reply, text } from "./made-survey.js";
import { withDesk } from "./plan-desk.js";

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const ESCAPED_LONE = /\\ud[89a-f][0-9a-f]{2}/;

async function ask<D extends object>(survey: Survey, request: object, bound = 12_000): Promise<OkReply<D>> {
	const answer = await handleRequest(survey, { request });
	if (!answer.ok) throw new Error(answer.text);
	expect(answer.text.length).toBeLessThanOrEqual(bound);
	expect(answer.text).not.toMatch(LONE);
	// JSON escapes half a surrogate pair, and only that.
	expect(JSON.stringify(answer.data)).not.toMatch(ESCAPED_LONE);
	return answer as OkReply<D>;
}

const ref = (n: number) => `a${String(n).padStart(4, "0")}`;

/** A plan with a range on every second of its atoms, written without the facade as another host would. */
async function planned(
	list: readonly MadeAtom[],
	ranges: number,
	fields: (i: number) => { topic: string; summary: string },
	losses: LossReport | null = null,
): Promise<Survey> {
	const survey = madeSurvey(list, { tokens: () => 1e12, losses: async () => losses });
	const added = (i: number) => ({ id: `d${i + 1}`, start: i * 2, end: i * 2, hash: "00", ...fields(i) });
	return withDesk(survey, { ranges: Array.from({ length: ranges }, (_, i) => added(i)) });
}

describe("a plan of 1,000 ranges that are as long as can be", () => {
	const wide = "😀".repeat(3_000);
	const list = Array.from({ length: 2_000 }, (_, i) =>
		prompt(`${i} ${wide}`, {
			messages: [{ role: "user", parts: [text(`${i}\n\0${wide}`), image("image/png", 9e12)] }],
		}),
	);
	let survey: Survey;

	beforeAll(async () => {
		survey = await planned(list, 1_000, (i) => ({
			topic: `${i} ${wide}`,
			// Some start with one unit before the pairs, so that no cut falls between pairs for all of them.
			summary: i % 10 === 9 ? "" : `${"x".repeat(i % 2)}${"字😀\n".repeat(10_000)}${i}`,
		}));
	}, 60_000);

	it("is shown as far as it fits, and says what is not shown", async () => {
		const { data, text: shown } = await ask<PlanData>(survey, { action: "plan_show" });
		const lines = shown.split("\n").filter((line) => /^d\d+ a\d/.test(line));
		expect(lines.length).toBeGreaterThan(80);
		expect(shown).toContain(
			`${1_000 - lines.length} more ranges not shown, in the order of the session from d${lines.length + 1} on; plan_read with range_id "d${lines.length + 1}" shows one.`,
		);
		expect(shown).toContain("Plan: 1,000 ranges (100 pending), 1,000 atoms");
		expect(shown).toContain('100 pending: give the first its summary by plan_update with range_id "d10"');
		expect(data.totals).toMatchObject({ ranges: 1_000, pending: 100, atoms: 1_000, images: 1_000 });
		expect(data.ranges).toHaveLength(500);
		expect(JSON.stringify(data).length).toBeLessThan(1_500_000);
		for (const range of data.ranges) {
			expect(range.summary.length).toBeLessThanOrEqual(700);
			expect(range.topic.length).toBeLessThanOrEqual(200);
			if (!range.pending) expect(range.summary_omitted).toBeGreaterThan(28_000);
		}
	}, 60_000);

	it("is read range by range, with the summary as far as a reply holds", async () => {
		const { data, text: shown } = await ask<RangeReadData>(survey, { action: "plan_read", range_id: "d998" }, 40_000);
		expect(data.range.summary.length).toBeLessThanOrEqual(36_000);
		expect(data.range.summary.length).toBeGreaterThan(35_000);
		expect(data.range.summary_omitted).toBeGreaterThan(0);
		expect(shown).toMatch(/Summary, [\d,]+ chars not shown:/);
		expect(shown).toContain(data.range.summary.slice(-100));
	}, 60_000);

	it("is changed with short answers", async () => {
		const changes = [
			{ action: "plan_update", range_id: "d5", summary: wide, topic: "😀".repeat(100) },
			{ action: "plan_add", start: ref(2), end: ref(2), summary: wide },
			{ action: "plan_remove", range_id: "d5" },
		];
		for (const change of changes) {
			const { data, text: shown } = await ask<RangeData>(survey, change);
			expect(shown.length).toBeLessThan(2_500);
			expect(JSON.stringify(data).length).toBeLessThan(5_000);
		}
	}, 60_000);

	it("refuses an id that is as long as can be in short", async () => {
		const answer = await handleRequest(survey, { request: { action: "plan_read", range_id: "d0".repeat(1e6) } });
		expect(answer).toMatchObject({ ok: false, error: { code: "unknown_range" } });
		expect(answer.text.length).toBeLessThan(1_000);
	});
});

describe("a plan of", () => {
	const list = Array.from({ length: 200 }, (_, i) => reply(`${i} ${"word ".repeat(100)}`));
	const fields = (i: number) => ({ topic: `Topic ${i}`, summary: `Begin ${i} ${"sum ".repeat(1_000)} end ${i}` });

	it.each([1, 5, 15, 25, 30, 40])(
		"%i ranges is shown with all ends and summaries, shorter ones for more",
		async (ranges) => {
			const { text: shown } = await ask<PlanData>(await planned(list, ranges, fields), { action: "plan_show" });
			for (let i = 0; i < ranges; i++)
				expect(shown).toContain(`d${i + 1} ${ref(i * 2 + 1)} | Topic ${i}\n   from: ${i * 2} word`);
			expect(shown.match(/ {3}summary: Begin \d+ .*omitted/g)).toHaveLength(ranges);
			expect(shown).not.toContain("not shown");
		},
	);

	it("100 ranges is shown with a line each", async () => {
		const { text: shown } = await ask<PlanData>(await planned(list, 100, fields), { action: "plan_show" });
		for (let i = 0; i < 100; i++) expect(shown).toContain(`\nd${i + 1} ${ref(i * 2 + 1)} | 1 atom, `);
		expect(shown).not.toContain("not shown");
	});
});

describe("the longest summary that the facade takes", () => {
	const giant = "字😀\n\0".repeat(20_000);
	const kind = (name: LossReport["kinds"][number]["kind"]) => ({
		kind: name,
		total: 1e12,
		lost: 1e12,
		more: true,
		examples: Array.from({ length: 200 }, () => `${giant}\ud83d`),
	});
	const losses: LossReport = { kinds: (["path", "command", "error", "number", "identifier"] as const).map(kind) };

	it("is read whole, beside the longest facts and losses", async () => {
		const survey = await planned([prompt(giant), prompt(giant)], 0, () => ({ topic: "", summary: "" }), losses);
		const summary = "😀".repeat(18_000);
		await ask(survey, { action: "plan_add", start: "a0001", end: "a0002", summary, topic: "😀".repeat(100) });
		const { data, text: shown } = await ask<RangeReadData>(survey, { action: "plan_read", range_id: "d1" }, 40_000);
		expect(shown.endsWith(summary)).toBe(true);
		expect(data.range.summary).toBe(summary);
		expect(data.losses?.kinds).toHaveLength(5);
		for (const { examples } of data.losses?.kinds ?? []) {
			expect(examples).toHaveLength(20);
			for (const example of examples) expect(example.length).toBeLessThanOrEqual(300);
		}
	});
});
