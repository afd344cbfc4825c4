import { describe, expect, it } from "vitest";
import type { ErrorInfo } from "#src/errors.js";
import { handleRequest } from "#src/facade/handle.js";
import type { InspectData } from "#src/facade/inspect.js";
import type { LocateData } from "#src/facade/match.js";
import type { MeasureData } from "#src/facade/measure.js";
import type { Survey } from "#src/facade/survey.js";
import { charsOf, exchange, image, type MadeAtom, madeSurvey, prompt, reply, text } from "./made-survey.js";

async function ask<D>(survey: Survey, request: object): Promise<{ text: string; data: D }> {
	const answer = await handleRequest(survey, { request });
	if (!answer.ok) throw new Error(answer.text);
	return { text: answer.text, data: answer.data as D };
}

const inspect = (survey: Survey, fields: object = {}) => ask<InspectData>(survey, { action: "inspect", ...fields });
const find = (survey: Survey, fields: object) => ask<LocateData>(survey, { action: "locate_search", ...fields });
const show = (survey: Survey, fields: object) => ask<LocateData>(survey, { action: "locate_ref", ...fields });
const measure = (survey: Survey, ...spans: [start: string, end: string][]) =>
	ask<MeasureData>(survey, { action: "measure", candidates: spans.map(([start, end]) => ({ start, end })) });

const picture: MadeAtom = prompt("look", {
	messages: [{ role: "user", parts: [text("look"), image("image/png", 1000)] }],
});
const custom: MadeAtom = {
	kind: "custom",
	reason: "unsupported_kind",
	messages: [{ role: "custom", parts: [text("note")] }],
};
const failed = (words: string) =>
	reply(words, { unsent: true, messages: [{ role: "assistant", parts: [text(words), image("image/gif", 50)] }] });

/** Five groups: a prefix, two prompts, a summary, a prompt. */
const mixed = () => [
	reply("Welcome"),
	prompt("Fix the build"),
	exchange("read", '{"path":"a"}', "ENOENT"),
	exchange("Bash", "{}", "ok"),
	reply("Done"),
	picture,
	failed("half an ans"),
	custom,
	{
		kind: "summary",
		reason: "unsupported_kind",
		leads: true,
		messages: [{ role: "summary", parts: [text("So far")] }],
	} as MadeAtom,
	prompt("Thanks"),
];

describe("inspect", () => {
	it("answers the anchor, usage, totals and groups in time order", async () => {
		const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 35, window: 600 };
		const survey = madeSurvey(mixed(), { usage: { usage, row: 1 }, system: { messages: 2, chars: 99 } });
		const { data } = await inspect(survey);
		expect(data.anchor).toEqual({
			entry: "e11",
			format: "pi",
			scope: "context",
			records: 12,
			messages: 14,
			bytes: 1200,
		});
		expect(data.usage).toEqual({ source: "recorded", tokens: 150, window: 600, percent: 25, entry: "e1" });
		expect(data.tokens).toEqual({ encoding: "o200k_base", ready: 1, approximate_atoms: 0 });
		expect(data.transaction).toBeNull();
		expect(data.cursor).toBeNull();
		expect(data.totals).toMatchObject({
			groups: 5,
			atoms: 10,
			messages: 12,
			images: 1,
			image_bytes: 1000,
			protected: 2,
			compressible: 8,
			system: { messages: 2, chars: 99 },
		});
		expect(data.groups.map(({ label, lead, start, end, landmark }) => [label, lead, start, end, landmark])).toEqual([
			["g0001", "prefix", "a0001", "a0001", "Welcome"],
			["g0002", "user", "a0002", "a0005", "Fix the build"],
			["g0003", "user", "a0006", "a0008", "look"],
			["g0004", "summary", "a0009", "a0009", "So far"],
			["g0005", "user", "a0010", "a0010", "Thanks"],
		]);
		expect(data.groups[1]).toMatchObject({
			part: null,
			atoms: 4,
			messages: 6,
			chars: charsOf("Fix the build", "read", '{"path":"a"}', "ENOENT", "Bash", "{}", "ok", "Done"),
			protected: 0,
			compressible: 4,
			image_types: [],
		});
	});

	it("leaves unsent atoms out of chars, tokens and images, not out of atoms and messages", async () => {
		const { data } = await inspect(madeSurvey(mixed(), { tokens: () => 7 }));
		expect(data.groups[2]).toMatchObject({
			atoms: 3,
			messages: 3,
			chars: charsOf("look", "note"),
			tokens: 14,
			images: 1,
			image_types: ["image/png"],
			image_bytes: 1000,
		});
		expect(data.totals.tokens).toBe(9 * 7);
	});

	it("has group figures that add up to the totals", async () => {
		const { data } = await inspect(madeSurvey(mixed()));
		const sum = (field: "atoms" | "messages" | "chars" | "images" | "protected" | "compressible") =>
			data.groups.reduce((n, group) => n + group[field], 0);
		for (const field of ["atoms", "messages", "chars", "images", "protected", "compressible"] as const) {
			expect(sum(field), field).toBe(data.totals[field]);
		}
		expect(data.groups.reduce((n, { share }) => n + share, 0)).toBeCloseTo(1);
	});

	it("has null for tokens that are not there yet, and the counts of groups that are", async () => {
		const survey = madeSurvey(mixed(), { ready: 0.43, tokens: (atom) => (atom === 3 ? null : 2) });
		const { data, text: shown } = await inspect(survey);
		expect(data.tokens.ready).toBe(0.43);
		expect(data.totals.tokens).toBeNull();
		expect(data.groups.map((group) => group.tokens)).toEqual([2, null, 4, 2, 2]);
		expect(shown).toContain("43.0 % counted so far (o200k_base)");
	});

	it("counts what arrives between two requests", async () => {
		const state = { done: false };
		const survey = madeSurvey(mixed(), { tokens: () => (state.done ? 3 : null) });
		expect((await inspect(survey)).data.totals.tokens).toBeNull();
		state.done = true;
		expect((await inspect(survey)).data.totals.tokens).toBe(27);
	});

	it("says where tokens are approximate", async () => {
		const survey = madeSurvey(mixed(), { tokens: () => 7 });
		const approximate = { ...survey, tokens: { ...survey.tokens, approximateAtoms: 2 } };
		expect((await inspect(approximate)).text).toContain("63 tokens (o200k_base, approximate in 2 atoms)");
		expect((await inspect(survey)).text).toContain("63 tokens (o200k_base)");
	});

	it("a group that is not nothing is never 0.0 %", async () => {
		const { text: shown } = await inspect(madeSurvey([prompt("x"), prompt("y".repeat(100_000))]));
		expect(shown).toMatch(/g0001 a0001 \| <0\.1 %/);
	});

	it("says so when there is no usage, and when a session is empty", async () => {
		const { data, text: shown } = await inspect(madeSurvey([]));
		expect(data.usage).toEqual({ source: "none", tokens: null, window: null, percent: null, entry: null });
		expect(data).toMatchObject({ anchor: { entry: null }, groups: [], cursor: null, totals: { atoms: 0, tokens: 0 } });
		expect(shown).toContain("No groups");
	});

	it("has no share in a session without a char", async () => {
		const { data } = await inspect(
			madeSurvey([prompt("", { messages: [{ role: "user", parts: [image("image/png", 1)] }] })]),
		);
		expect(data.groups[0].share).toBe(0);
	});

	it("lists damage and notices", async () => {
		const first = { kind: "glued" as const, offset: 123, line: 4, record: 3 };
		const damage = { count: 3, onAnchor: 1, kinds: { glued: 1, torn_tail: 2 }, first: [first] };
		const { data, text: shown } = await inspect(madeSurvey(mixed(), { damage, notices: ["Read in file order."] }));
		expect(data.damage).toEqual({
			count: 3,
			on_anchor: 1,
			kinds: { glued: 1, torn_tail: 2 },
			first: [{ kind: "glued", offset: 123, line: 4 }],
		});
		expect(data.notices).toEqual(["Read in file order."]);
		expect(shown).toContain("3 findings, 1 on the anchor: glued 1, torn_tail 2; first at byte 123 (line 4)");
		expect(shown).toContain("Read in file order.");
	});
});

describe("the cursor of inspect", () => {
	const many = (word: string) => madeSurvey(Array.from({ length: 23 }, (_, i) => prompt(`${word} ${10 + i}`)));

	it("goes through every group once, whatever the page size of each call", async () => {
		const survey = many("ask");
		const labels: string[] = [];
		let cursor: string | null = null;
		for (const page_size of [5, 1, 7, 50]) {
			const { data, text: shown }: { data: InspectData; text: string } = await inspect(survey, {
				page_size,
				...(cursor && { cursor }),
			});
			labels.push(...data.groups.map((group) => group.label));
			cursor = data.cursor;
			if (cursor) expect(shown).toContain(cursor);
		}
		expect(cursor).toBeNull();
		expect(labels).toEqual(Array.from({ length: 23 }, (_, i) => `g${String(i + 1).padStart(4, "0")}`));
	});

	it("holds for the same session opened again", async () => {
		const { cursor } = (await inspect(many("ask"), { page_size: 4 })).data;
		expect((await inspect(many("ask"), { cursor })).data.groups[0].label).toBe("g0005");
	});

	it.each([
		["other texts of the same lengths", many("say")],
		["a message more", madeSurvey(Array.from({ length: 24 }, (_, i) => prompt(`ask ${10 + i}`)))],
		["another format", { ...many("ask"), format: "codex" as const }],
		["another scope", { ...many("ask"), scope: "path" as const }],
		["no groups", madeSurvey([])],
	])("is refused by a session with %s", async (_what, other) => {
		const { cursor } = (await inspect(many("ask"), { page_size: 4 })).data;
		const answer = await handleRequest(other, { request: { action: "inspect", cursor } });
		expect(answer).toMatchObject({ ok: false, error: { code: "invalid_cursor" } satisfies Partial<ErrorInfo> });
	});

	it("cannot be moved by hand", async () => {
		const survey = many("ask");
		const { cursor } = (await inspect(survey, { page_size: 4 })).data;
		const moved = Buffer.from(
			Buffer.from(cursor ?? "", "base64url")
				.toString()
				.replace(/^4/, "9"),
		).toString("base64url");
		expect(await handleRequest(survey, { request: { action: "inspect", cursor: moved } })).toMatchObject({
			error: { code: "invalid_cursor" },
		});
	});

	it("lists a long group in parts of 50", async () => {
		const survey = madeSurvey([prompt("Go"), ...Array.from({ length: 119 }, () => reply("on"))]);
		const { data } = await inspect(survey, { page_size: 2 });
		expect(data.totals.groups).toBe(1);
		expect(data.groups.map(({ label, part, start, end }) => [label, part, start, end])).toEqual([
			["g0001.1", { n: 1, of: 3 }, "a0001", "a0050"],
			["g0001.2", { n: 2, of: 3 }, "a0051", "a0100"],
		]);
		const rest = await inspect(survey, { cursor: data.cursor });
		expect(rest.data.groups.map(({ label, atoms }) => [label, atoms])).toEqual([["g0001.3", 20]]);
	});
});

describe("measure", () => {
	it("answers every candidate, overlaps included, in the order asked for", async () => {
		const { data } = await measure(madeSurvey(mixed()), ["a0002", "a0005"], ["a0003", "a0008"], ["a0010", "a0010"]);
		expect(data).toMatchObject({ requested: 3, reported: 3 });
		expect(data.candidates[0]).toMatchObject({
			start: "a0002",
			end: "a0005",
			from: "Fix the build",
			to: "Done",
			atoms: 4,
			messages: 6,
			roles: { user: 1, assistant: 3, tool_result: 2 },
			exchanges: 2,
			calls: 2,
			tools: { read: 1, Bash: 1 },
			compressible: 4,
			protected: [],
		});
		expect(data.candidates[1]).toMatchObject({
			compressible: 5,
			protected: [{ ref: "a0008", reason: "unsupported_kind" }],
			images: 1,
			image_types: ["image/png"],
		});
		expect(data.candidates[2]).toMatchObject({ atoms: 1, chars: 6, roles: { user: 1 }, calls: 0, tools: {} });
	});

	it("counts like the totals: the whole session is the share 1", async () => {
		const survey = madeSurvey(mixed());
		const { totals } = (await inspect(survey)).data;
		const [whole] = (await measure(survey, ["a0001", "a0010"])).data.candidates;
		const { atoms, messages, chars, images, image_bytes, tokens } = totals;
		expect(whole).toMatchObject({ share: 1, atoms, messages, chars, images, image_bytes, tokens });
	});

	it("names protected atoms and their reasons in its text", async () => {
		expect((await measure(madeSurvey(mixed()), ["a0001", "a0010"])).text).toContain(
			"2 protected, no range may contain them: unsupported_kind a0008 a0009",
		);
	});
});

describe("locate_ref", () => {
	it("answers one atom with its own figures", async () => {
		const { data } = await show(madeSurvey(mixed()), { ref: "a0003" });
		expect(data).toMatchObject({ total: 1, returned: 1, direction: null });
		expect(data.matches[0]).toMatchObject({
			ref: "a0003",
			position: 3,
			kind: "tool_exchange",
			origin: null,
			sent: true,
			protocol: "closed",
			protected: false,
			reason: null,
			tools: { read: 1 },
			user_text: false,
			entries: ["e2", "e3"],
			omitted: 0,
		});
		expect(data.matches[0].text).toContain("ENOENT");
	});

	it.each([
		["a prompt", prompt("x"), { kind: "user", origin: "user" }],
		["a host's text", prompt("x", { host: true, leads: false }), { kind: "user", origin: "host" }],
		["an unsent reply", failed("abc"), { sent: false, chars: 3, images: 1, image_bytes: 50 }],
		["a protected atom", custom, { protected: true, reason: "unsupported_kind", origin: null }],
		["an exchange with the user's words", exchange("a", "{}", "b", { userText: true }), { user_text: true }],
	])("tells %s", async (_what, atom, expected) => {
		expect((await show(madeSurvey([atom]), { ref: "a0001" })).data.matches[0]).toMatchObject(expected);
	});

	it("shows image sizes", async () => {
		const { data } = await show(madeSurvey([picture]), { ref: "a0001" });
		expect(data.matches[0].image_sizes).toEqual([{ mime: "image/png", bytes: 1000, width: 640, height: 480 }]);
	});

	it("keeps a landmark of 700 units in brief, what fits in full, and tells how to see more", async () => {
		const survey = madeSurvey([reply(`begin ${"x".repeat(20_000)} end`)]);
		const brief = await show(survey, { ref: "a0001" });
		const full = await show(survey, { ref: "a0001", detail: "full" });
		for (const { data } of [brief, full]) {
			const [{ text: shown, omitted }] = data.matches;
			expect(shown).toMatch(/^begin [\s\S]*omitted[\s\S]* end$/);
			expect(shown.replace(/\n\[….*…\]\n/, "").length + omitted).toBe(20_010);
		}
		expect(brief.data.matches[0].text.length).toBeLessThanOrEqual(700);
		expect(full.data.matches[0].text.length).toBeGreaterThan(9_000);
		expect(full.text.length).toBeLessThanOrEqual(12_000);
		expect(brief.text).toContain('detail "full"');
	});
});

describe("the rest of a long text", () => {
	it.each([
		[false, true],
		[true, false],
	])("of an atom with a giant record (%s) is promised to a search: %s", async (giant, promised) => {
		const long = reply("x".repeat(20_000), { giant });
		const { text: shown } = await show(madeSurvey([long]), { ref: "a0001", detail: "full" });
		expect(shown.includes("locate_search with a pattern shows other places")).toBe(promised);
		expect(shown.includes("64 MiB")).toBe(giant);
		expect((await show(madeSurvey([long]), { ref: "a0001" })).text).toContain('detail "full" shows more');
	});
});

describe("locate_search", () => {
	const survey = madeSurvey(mixed());

	it.each([
		[{ pattern: "the BUILD" }, ["a0002"]],
		[{ tool_name: "bash" }, ["a0004"]],
		[{ source: "user" }, ["a0002", "a0006", "a0010"]],
		[{ source: "tool_result", pattern: "noent" }, ["a0003"]],
		[{ source: "user", pattern: "noent" }, []],
		[{ source: "assistant", direction: "newest" }, ["a0007", "a0005", "a0001"]],
		[{ source: "assistant", direction: "newest", limit: 1 }, ["a0007"]],
		[{ pattern: ".*" }, []],
	])("%j finds %j", async (fields, refs) => {
		const { data } = await find(survey, fields);
		expect(data.matches.map((match) => match.ref)).toEqual(refs);
		expect(data.returned).toBe(refs.length);
	});

	it("tells the total and how to narrow when more match", async () => {
		const { data, text: shown } = await find(survey, { pattern: "", limit: 2 });
		expect(data).toMatchObject({ total: 10, returned: 2, direction: "oldest" });
		expect(shown).toMatch(/10 matches.*the 2 oldest shown/);
		expect(shown).toMatch(/to narrow, use a longer pattern, add tool_name, add source/);
	});

	describe("beside atoms of which only the heads are searched", () => {
		const heads = madeSurvey([...mixed(), exchange("read", "{}", "the head", { giant: true })]);

		it.each(["the head", "nowhere at all"])("says so with the pattern %j", async (pattern) => {
			const { data, text: shown } = await find(heads, { pattern });
			expect(data.unsearched_atoms).toBe(1);
			expect(shown).toMatch(/1 atom .* above 64 MiB, .*only the heads are searched/);
			expect(shown).not.toMatch(/nothing matches/i);
		});

		it("says nothing of it where no text is searched, or all of it", async () => {
			expect((await find(heads, { tool_name: "read" })).data.unsearched_atoms).toBe(0);
			expect((await find(heads, { tool_name: "read" })).text).not.toContain("MiB");
			expect((await find(survey, { pattern: "nowhere" })).data.unsearched_atoms).toBe(0);
			expect((await find(survey, { pattern: "nowhere" })).text).toMatch(/Nothing matches/);
		});
	});

	it("names the tools there are when the one asked for is not", async () => {
		expect((await find(survey, { tool_name: "grep" })).text).toContain("2 tools here: read 1, Bash 1");
		expect((await find(survey, { tool_name: "READ", pattern: "zzz" })).text).toContain("shorter pattern");
	});
});
