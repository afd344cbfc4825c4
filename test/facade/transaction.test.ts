import { describe, expect, it } from "vitest";
import type { PlanTotals } from "#src/facade/plan-figures.js";
import {
	abortAnswer,
	commitAnswer,
	type MessageFigures,
	type ProjectData,
	projectAnswer,
	startAnswer,
	statusAnswer,
} from "#src/facade/transaction.js";
import { FACADE_WORDS } from "#src/facade/words.js";
import type { Transaction } from "#src/plan/transaction.js";

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const giant = "😀\n\0\ud83d".repeat(20_000);

const words = {
	...FACADE_WORDS,
	startCommand: "START",
	commitCommand: "COMMIT",
	abortCommand: "ABORT",
	survey: "LOOK",
	plan: "PLAN",
	addRange: "ADD",
};

const transaction = (extra: Partial<Transaction> = {}): Transaction => ({
	id: "t1",
	startedAt: "2026-01-02T03:04:05.000Z",
	mode: "agent",
	instructions: "",
	anchor: { format: "pi", scope: "context", entry: "e9", atoms: 10, messages: 12, hash: "ab" },
	plan: { revision: 0, ranges: [], nextRange: "d1" },
	digest: "0123456789ab",
	holder: null,
	notices: [],
	...extra,
});

const totals = (extra: Partial<PlanTotals> = {}): PlanTotals => ({
	ranges: 0,
	pending: 0,
	atoms: 0,
	chars: 0,
	replacement_chars: 0,
	images: 0,
	tokens: 0,
	replacement_tokens: 0,
	...extra,
});

const range = (id: string) => ({ id, start: 1, end: 2, topic: "", summary: "", hash: "" });

describe("status", () => {
	it("without a transaction names the way to one", () => {
		const { text, data } = statusAnswer(null, words);
		expect(text).toContain("START");
		expect(data).toEqual({ transaction: null, revision: null, digest: null, totals: null });
	});

	it.each([
		["an empty plan", totals(), /LOOK.*ADD.*ABORT/],
		["a pending range", totals({ ranges: 3, pending: 1 }), /1 range without a summary; PLAN lists it/],
		["two pending ranges", totals({ ranges: 3, pending: 2 }), /2 ranges without a summary; PLAN lists them/],
		["a whole plan", totals({ ranges: 3 }), /PLAN.*COMMIT.*ABORT/],
	])("with %s names the next step", (_what, sums, next) => {
		const answer = statusAnswer({ transaction: transaction(), totals: sums }, words);
		expect(answer.text.split("\n").at(-1)).toMatch(next);
		expect(answer.data).toMatchObject({ revision: 0, digest: "0123456789ab", totals: sums });
	});

	it("tells mode, instructions, anchor, lock and notices", () => {
		const holder = { owner: "ui" as const, pid: 7, host: "box", since: "2026-01-02T03:04:06.000Z" };
		const open = transaction({ instructions: "Keep\nthe plan", holder, notices: ["A torn tail was dropped."] });
		const { text, data } = statusAnswer({ transaction: open, totals: totals() }, words);
		expect(text).toContain("t1, agent mode, since 2026-01-02T03:04:05.000Z");
		expect(text).toContain("Instructions of the user: Keep the plan");
		expect(text).toContain("Anchor: pi, scope context, entry e9, 10 atoms, 12 messages");
		expect(text).toContain("held by ui (process 7 on box, since 2026-01-02T03:04:06.000Z)");
		expect(text).toContain("Notice: A torn tail was dropped.");
		expect(data.transaction).toEqual({
			id: "t1",
			started_at: "2026-01-02T03:04:05.000Z",
			mode: "agent",
			instructions: "Keep\nthe plan",
			anchor: { format: "pi", scope: "context", entry: "e9", atoms: 10, messages: 12 },
			holder,
			notices: ["A torn tail was dropped."],
		});
	});
});

describe("start and abort", () => {
	it.each([
		["agent" as const, /the agent surveys the session with LOOK and adds ranges with ADD/],
		["manual" as const, /the agent waits/],
	])("a start in %s mode says who is next", (mode, next) => {
		const { text, data } = startAnswer(transaction({ mode }), words);
		expect(text).toMatch(next);
		expect(text).toMatch(/COMMIT.*ABORT/);
		expect(data.transaction.mode).toBe(mode);
	});

	it("an abort says what went with it", () => {
		expect(abortAnswer(transaction()).text).toContain("empty");
		const { text, data } = abortAnswer(
			transaction({ plan: { revision: 4, ranges: [range("d1"), range("d3")], nextRange: "d4" } }),
		);
		expect(text).toContain("Its plan of 2 ranges is gone; the session was not changed");
		expect(data).toEqual({ transaction: "t1", ranges: 2 });
	});
});

const before: MessageFigures = { messages: 120, chars: 10_000, images: 2, tokens: 4_000 };
const after: MessageFigures = { messages: 81, chars: 5_000, images: 0, tokens: 1_000 };
const block = (id: string, extra: object = {}) => ({ id, range: "d1", topic: "Build", summary: "Went well", ...extra });
const outcome = {
	path: "/new/session.jsonl",
	session: "s-2",
	resume: "host --resume s-2",
	blocks: [block("c0001"), block("c0002", { topic: "", range: "d3" })],
	before,
	after,
	notices: ["Two lines were left out."],
};

describe("commit", () => {
	it("tells the new session, how to go on with it, the figures and the blocks", () => {
		const { text, data } = commitAnswer(outcome, words);
		expect(text).toContain("Committed 2 ranges into a new session; the old one was not changed.");
		expect(text).toContain("New session: /new/session.jsonl (id s-2)");
		expect(text).toContain("Go on with it: host --resume s-2");
		expect(text).toContain(
			"messages 120 → 81 (-32.5 %), chars 10,000 → 5,000 (-50.0 %), images 2 → 0 (-100.0 %), tokens 4,000 → 1,000 (-75.0 %)",
		);
		expect(text).toMatch(/c0001 \(was d1\) Build\n.*c0002 \(was d3\) Went well/);
		expect(text).toContain("Notice: Two lines were left out.");
		expect(data).toEqual({ ...outcome, blocks_total: 2 });
	});

	it("leaves out what the format does not have", () => {
		const { text } = commitAnswer({ ...outcome, session: null, resume: null }, words);
		expect(text).not.toMatch(/\(id|Go on/);
	});

	it("stays within 12,000 units with a thousand blocks that are as long as can be", () => {
		const blocks = Array.from({ length: 1_000 }, (_, i) => block(`c${1000 + i}`, { topic: giant, summary: giant }));
		const notices = Array.from({ length: 100 }, () => giant);
		const long = { ...outcome, path: giant, resume: giant, session: giant, blocks, notices };
		const { text, data } = commitAnswer(long, words);
		expect(text.length).toBeLessThanOrEqual(12_000);
		expect(text).not.toMatch(LONE);
		expect(text).toMatch(/and \d+ more\n/);
		expect(data.blocks_total).toBe(1_000);
		expect(JSON.stringify(data).length).toBeLessThan(2e6);
		expect(data.blocks.every(({ summary }) => summary.length <= 700 && !LONE.test(summary))).toBe(true);
	});
});

describe("project", () => {
	const projection: ProjectData = {
		ranges: 2,
		pending: 0,
		before,
		after,
		first_change: { ref: "a0012", message: 34, tokens_before: 600, tokens_after: 400 },
		path: null,
	};

	it("tells the figures, and what the first change costs of the prompt cache", () => {
		const { text, data } = projectAnswer(projection, words);
		expect(text).toContain("chars 10,000 → 5,000 (-50.0 %)");
		expect(text).toContain(
			"First change: a0012, message 34. The 600 tokens before it stay in the provider's prompt cache; the 400 tokens from there on lose it.",
		);
		expect(data).toEqual(projection);
	});

	it("has no figures for tokens that are not counted", () => {
		const first = { ref: "a0012", message: 34, tokens_before: null, tokens_after: null };
		const uncounted = { ...projection, before: { ...before, tokens: null }, first_change: first };
		const { text } = projectAnswer(uncounted, words);
		expect(text).toContain("images 2 → 0 (-100.0 %), tokens not counted yet");
		expect(text).toMatch(/loses the provider's prompt cache \(tokens not counted yet\)/);
		expect(text).not.toMatch(/null|NaN/);
	});

	it.each([
		["grows", 10, 15, "10 → 15 (+50.0 %)"],
		["comes from nothing", 0, 5, "0 → 5,"],
		["stays", 7, 7, "7 → 7 (0.0 %)"],
	])("a figure that %s", (_what, from, to, shown) => {
		const figures = (images: number) => ({ ...before, images });
		const { text } = projectAnswer({ ...projection, before: figures(from), after: figures(to) }, words);
		expect(text).toContain(`images ${shown}`);
	});

	it("says when nothing changes, what is pending, and where the messages are", () => {
		const empty = { ...projection, ranges: 3, pending: 2, first_change: null, path: "/out.jsonl" };
		const { text } = projectAnswer(empty, words);
		expect(text).toContain("3 ranges, 2 pending and left as they are");
		expect(text).toContain("Nothing changes.");
		expect(text).toContain("Messages: /out.jsonl");
	});
});

it("texts of the user and of the system are bounded and well-formed wherever they stand", () => {
	const holder = { owner: "agent" as const, pid: 1, host: giant, since: "2026-01-01T00:00:00.000Z" };
	const open = transaction({ instructions: giant, holder, notices: [giant, giant] });
	for (const { text, data } of [
		statusAnswer({ transaction: open, totals: totals() }, words),
		startAnswer(open, words),
	]) {
		expect(text.length).toBeLessThan(12_000);
		expect(text).not.toMatch(LONE);
		expect(data.transaction?.instructions.length).toBeLessThanOrEqual(2_000);
		expect(data.transaction?.notices.every((notice) => notice.length <= 500 && !LONE.test(notice))).toBe(true);
	}
});
