import { beforeAll, describe, expect, it } from "vitest";
import { handleRequest } from "#src/facade/handle.js";
import type { InspectData } from "#src/facade/inspect.js";
import type { LocateData } from "#src/facade/match.js";
import type { MeasureData } from "#src/facade/measure.js";
import type { OkReply } from "#src/facade/reply.js";
import type { Survey } from "#src/facade/survey.js";
import { exchange, image, type MadeAtom, madeSurvey, prompt, reply, text } from "./made-survey.js";

const BOUND = 12_000;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

async function ask<D extends object>(survey: Survey, request: object): Promise<OkReply<D>> {
	const answer = await handleRequest(survey, { request });
	if (!answer.ok) throw new Error(answer.text);
	expect(answer.text.length).toBeLessThanOrEqual(BOUND);
	expect(answer.text).not.toMatch(LONE);
	return answer as OkReply<D>;
}

/** 100,000 atoms: prompts, exchanges of many tools, protected atoms, images; every text longer than any landmark. */
function large(): MadeAtom[] {
	const long = "word ".repeat(60);
	return Array.from({ length: 100_000 }, (_, i): MadeAtom => {
		if (i % 7 === 0) return prompt(`${i} ${long}`);
		if (i % 7 === 1)
			return { kind: "custom", reason: "unsupported_kind", messages: [{ role: "custom", parts: [text(long)] }] };
		if (i % 7 === 2)
			return prompt(long, {
				leads: false,
				messages: [{ role: "user", parts: [text(long), image(`image/${i % 90}`, 9e9)] }],
			});
		return exchange(`tool${i % 3_000}`, long, long);
	});
}

describe("replies on a session of 100,000 atoms", () => {
	let survey: Survey;

	beforeAll(async () => {
		survey = madeSurvey(large(), { tokens: () => 123_456_789 });
		await ask(survey, { action: "inspect" });
	});

	it("pages of 50 groups fit, and hold 50", async () => {
		let cursor: string | null = null;
		for (let page = 0; page < 20; page++) {
			const { data }: OkReply<InspectData> = await ask(survey, {
				action: "inspect",
				page_size: 50,
				cursor: cursor ?? undefined,
			});
			expect(data.groups).toHaveLength(50);
			cursor = data.cursor;
		}
	});

	it("4,000 candidates answer as many whole ones as fit", async () => {
		const candidates = Array.from({ length: 4_000 }, (_, i) => ({
			start: `a${String(i + 1).padStart(4, "0")}`,
			end: "a100000",
		}));
		const { data, text: shown } = await ask<MeasureData>(survey, { action: "measure", candidates });
		expect(data.requested).toBe(4_000);
		expect(data.reported).toBe(data.candidates.length);
		expect(data.reported).toBeGreaterThan(3);
		for (const { start, protected: listed, protected_total, tools, tools_total } of data.candidates) {
			expect(shown).toContain(`${start}..a100000: `);
			expect(listed.length).toBe(50);
			expect(protected_total).toBeGreaterThan(14_000);
			expect(Object.keys(tools).length).toBe(50);
			expect(tools_total).toBe(3_000);
		}
		expect(shown).toContain(`Measure the other ${(4_000 - data.reported).toLocaleString("en-US")} in another call`);
	});

	it("candidates of one atom fit by the dozen", async () => {
		const candidates = Array.from({ length: 200 }, () => ({ start: "a0004", end: "a0004" }));
		expect((await ask<MeasureData>(survey, { action: "measure", candidates })).data.reported).toBeGreaterThan(15);
	});

	it("a search that matches everything shows three", async () => {
		const { data } = await ask<LocateData>(survey, { action: "locate_search", pattern: "word" });
		expect(data).toMatchObject({ total: 100_000, returned: 3 });
	});

	it("any request takes 10 ms at most once the sums stand", async () => {
		const everything = { start: "a0001", end: "a100000" };
		const requests = [
			{ action: "inspect", page_size: 50 },
			{ action: "measure", candidates: Array.from({ length: 4_000 }, () => everything) },
			{ action: "locate_ref", ref: "a99999", detail: "full" },
		];
		for (const request of requests) {
			const times: number[] = [];
			for (let i = 0; i < 15; i++) {
				const start = performance.now();
				await handleRequest(survey, { request });
				times.push(performance.now() - start);
			}
			// The quickest of several: a busy machine delays some of them, none makes one quicker than it is.
			expect(Math.min(...times), request.action).toBeLessThan(10);
		}
	});

	it("the sums are made in many short stretches, between which the event loop turns", async () => {
		let turns = 0;
		const timer = setInterval(() => turns++, 0);
		await ask({ ...survey }, { action: "inspect" });
		clearInterval(timer);
		expect(turns).toBeGreaterThan(2);
	});
});

describe("replies on texts that were made to break them", () => {
	const giant = "字\ud83d".repeat(50_000);
	const wide = "😀".repeat(1_000);
	const evil = (n: number): MadeAtom =>
		exchange(`${n}${giant}`, giant, giant, {
			leads: true,
			reason: "ambiguous_tool_protocol",
			messages: [
				{
					role: "assistant",
					id: `${n}${wide}`,
					parts: [
						text(n % 2 === 0 ? wide : `\u001b[31m\r\n\0${wide}`),
						...Array.from({ length: 70 }, (_, i) => image(`image/${i}${wide}`, Number.MAX_SAFE_INTEGER)),
						...Array.from({ length: 70 }, (_, i) => ({
							type: "tool_call" as const,
							id: null,
							name: `${i}${wide}`,
							arguments: null,
							answer: "result" as const,
						})),
						{ type: "tool_call", id: null, name: "__proto__", arguments: null, answer: "result" },
						{ type: "tool_call", id: null, name: "__proto__", arguments: null, answer: "result" },
					],
				},
				...Array.from({ length: 300 }, (_, i) => ({
					role: "tool_result" as const,
					id: `r${n}.${i}${wide}`,
					parts: [],
				})),
			],
		});
	const kinds = {
		torn_tail: 1e9,
		invalid_json: 1e9,
		not_an_object: 1e9,
		glued: 1e9,
		spliced: 1e9,
		nul_run: 1e9,
		invalid_utf8: 1e9,
		missing_id: 1e9,
		missing_parent: 1e9,
		parent_cycle: 1e9,
		several_roots: 1e9,
		duplicate_id: 1e9,
	};
	const first = Array.from({ length: 1_000 }, (_, i) => ({
		kind: "glued" as const,
		offset: 1e15 + i,
		line: 1e9,
		record: i,
	}));
	const survey = madeSurvey(
		Array.from({ length: 60 }, (_, i) => evil(i)),
		{
			damage: { count: 12e9, onAnchor: 1e9, kinds, first },
			notices: Array.from({ length: 400 }, (_, i) => `${i} ${giant}`),
			system: { messages: 1e9, chars: 1e15 },
			tokens: () => 1e15,
			usage: { usage: { input: 1e15, output: 1, cacheRead: 1, cacheWrite: 1, window: 1 }, row: 0 },
		},
	);

	it("inspect", async () => {
		const { data, text: shown } = await ask<InspectData>(survey, { action: "inspect", page_size: 50 });
		expect(data.groups.length).toBeGreaterThan(30);
		expect(shown).toContain(data.groups[data.groups.length - 1].start);
		expect(data.cursor === null).toBe(data.groups.length === 60);
		expect(data.damage.first).toHaveLength(20);
		expect(data.notices).toHaveLength(50);
		expect(data.notices_total).toBe(400);
		for (const group of data.groups) {
			expect(group.landmark).not.toMatch(LONE);
			expect(group.landmark.length).toBeLessThanOrEqual(160);
			expect(group.image_types).toHaveLength(50);
			expect(group.image_types_total).toBe(70);
		}
		// Nothing is lost between pages, however many groups fitted into the first.
		const rest = await ask<InspectData>(survey, { action: "inspect", page_size: 50, cursor: data.cursor });
		expect(rest.data.groups[0].label).toBe(`g${String(data.groups.length + 1).padStart(4, "0")}`);
	});

	it("measure", async () => {
		const candidates = Array.from({ length: 60 }, () => ({ start: "a0001", end: "a0060" }));
		const { data } = await ask<MeasureData>(survey, { action: "measure", candidates });
		expect(data.reported).toBeGreaterThan(0);
		expect(Object.keys(data.candidates[0].tools)).toHaveLength(50);
		expect(data.candidates[0].tools_total).toBe(71);
		expect(JSON.stringify(data.candidates[0]).length).toBeLessThan(60_000);
		for (const name of Object.keys(data.candidates[0].tools)) expect(name.length).toBeLessThanOrEqual(256);
	});

	it("counts a tool by the name of an object's own field", async () => {
		const { tools } = (
			await ask<MeasureData>(survey, { action: "measure", candidates: [{ start: "a0001", end: "a0001" }] })
		).data.candidates[0];
		expect(Object.getOwnPropertyDescriptor(tools, "__proto__")?.value).toBe(2);
	});

	it.each(["brief", "full"])("locate_ref %s", async (detail) => {
		const { data } = await ask<LocateData>(survey, { action: "locate_ref", ref: "a0030", detail });
		expect(data.matches[0].entries).toHaveLength(50);
		expect(data.matches[0].entries_total).toBe(301);
		expect(data.matches[0].image_sizes).toHaveLength(50);
		expect(data.matches[0].text).not.toMatch(LONE);
	});

	it("locate_search", async () => {
		const { data } = await ask<LocateData>(survey, { action: "locate_search", pattern: "😀" });
		expect(data.returned).toBe(3);
		for (const match of data.matches) expect(match.text.length).toBeLessThanOrEqual(700);
		await ask(survey, { action: "locate_search", pattern: giant, tool_name: giant });
	});

	it("claude-code#56064: a lone surrogate of a text becomes U+FFFD in a reply", async () => {
		const broken = madeSurvey([prompt("cut \ud83d here")]);
		const { data } = await ask<LocateData>(broken, { action: "locate_ref", ref: "a0001" });
		expect(data.matches[0].text).toBe("cut \ufffd here");
		expect((await ask<InspectData>(broken, { action: "inspect" })).data.groups[0].landmark).toBe("cut \ufffd here");
	});

	it("a long run of replies stays within the bound when every line is at its longest", async () => {
		const words = "M".repeat(400);
		const many = madeSurvey(
			Array.from({ length: 3_000 }, (_, i) => (i % 60 === 0 ? prompt(words) : reply(words))),
			{ tokens: () => 1e12 },
		);
		const { data } = await ask<InspectData>(many, { action: "inspect", page_size: 50 });
		expect(data.groups).toHaveLength(50);
	});
});
