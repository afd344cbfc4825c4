import { describe, expect, it } from "vitest";
import { handleRequest } from "#src/facade/handle.js";
import type { ErrorReply } from "#src/facade/reply.js";
import { exchange, madeSurvey, prompt, reply } from "./made-survey.js";

const survey = madeSurvey([
	prompt("Fix it"),
	exchange("read", '{"path":"a"}', "text"),
	reply("Done"),
	prompt("Thanks"),
]);

async function refused(envelope: unknown): Promise<ErrorReply> {
	const answer = await handleRequest(survey, envelope);
	if (answer.ok) throw new Error(`was accepted: ${answer.text}`);
	return answer;
}

const range = { start: "a0001", end: "a0002" };
const CASES: [what: string, envelope: unknown, code: string, names: RegExp][] = [
	["nothing", undefined, "invalid_request", /undefined/],
	["null", null, "invalid_request", /null/],
	["a number", 7, "invalid_request", /number/],
	["an array", [], "invalid_request", /array/],
	["the JSON text of an envelope", '{"request":{"action":"inspect"}}', "invalid_request", /string/],
	["an empty object", {}, "invalid_request", /"request"/],
	["an action without the envelope", { action: "inspect" }, "invalid_request", /"action"/],
	["a request that is text", { request: '{"action":"inspect"}' }, "invalid_request", /string/],
	["a request that is null", { request: null }, "invalid_request", /null/],
	["a field beside request", { request: { action: "inspect" }, version: 1 }, "unknown_field", /"version"/],
	["no action", { request: {} }, "missing_field", /"action"/],
	["an action that is a number", { request: { action: 1 } }, "invalid_field", /"action"/],
	["an action nobody knows", { request: { action: "plan_drop" } }, "unknown_action", /"plan_drop"/],
	["an action of an object's own methods", { request: { action: "toString" } }, "unknown_action", /toString/],
	["a field of another action", { request: { action: "inspect", ref: "a0001" } }, "unknown_field", /"ref"/],
	["a method name as a field", { request: { action: "inspect", constructor: 1 } }, "unknown_field", /"constructor"/],
	["__proto__ as a field", JSON.parse('{"request":{"action":"inspect","__proto__":1}}'), "unknown_field", /__proto__/],
	[
		"a page size that is text",
		{ request: { action: "inspect", page_size: "20" } },
		"invalid_field",
		/"page_size".*integer.*"20"/,
	],
	[
		"a page size that is no integer",
		{ request: { action: "inspect", page_size: 2.5 } },
		"invalid_field",
		/integer.*2\.5/,
	],
	["a page size that is null", { request: { action: "inspect", page_size: null } }, "invalid_field", /null/],
	["a page size that is not finite", { request: { action: "inspect", page_size: Number.NaN } }, "invalid_field", /NaN/],
	["a cursor that is a number", { request: { action: "inspect", cursor: 1 } }, "invalid_field", /"cursor"/],
	["a cursor that is no cursor", { request: { action: "inspect", cursor: "next" } }, "invalid_cursor", /cursor/],
	["an empty cursor", { request: { action: "inspect", cursor: "" } }, "invalid_cursor", /cursor/],
	["a giant cursor", { request: { action: "inspect", cursor: "A".repeat(1e6) } }, "invalid_cursor", /cursor/],
	["no candidates field", { request: { action: "measure" } }, "missing_field", /"candidates"/],
	["no candidate", { request: { action: "measure", candidates: [] } }, "invalid_field", /at least one.*empty/],
	["candidates that are an object", { request: { action: "measure", candidates: range } }, "invalid_field", /array/],
	[
		"a candidate that is text",
		{ request: { action: "measure", candidates: ["a0001"] } },
		"invalid_field",
		/candidates\[0\]/,
	],
	[
		"a candidate without an end",
		{ request: { action: "measure", candidates: [range, { start: "a0001" }] } },
		"missing_field",
		/candidates\[1\]\.end/,
	],
	[
		"a candidate with a topic",
		{ request: { action: "measure", candidates: [{ ...range, topic: "x" }] } },
		"unknown_field",
		/candidates\[0\]\.topic/,
	],
	[
		"a ref that is a number",
		{ request: { action: "measure", candidates: [{ start: 1, end: "a0002" }] } },
		"invalid_field",
		/candidates\[0\]\.start/,
	],
	[
		"a ref from nowhere",
		{ request: { action: "measure", candidates: [range, { start: "a0001", end: "a9999" }] } },
		"unknown_ref",
		/candidates\[1\]\.end.*"a9999".*a0001 to a0004/,
	],
	[
		"a label as a ref",
		{ request: { action: "measure", candidates: [{ start: "g0001", end: "a0002" }] } },
		"label_not_ref",
		/candidates\[0\]\.start.*"g0001"/,
	],
	["a part's label as a ref", { request: { action: "locate_ref", ref: "g0001.2" } }, "label_not_ref", /g0001\.2/],
	[
		"a reversed candidate",
		{ request: { action: "measure", candidates: [range, { start: "a0003", end: "a0002" }] } },
		"reversed",
		/candidates\[1\].*a0003.*a0002/,
	],
	["no ref", { request: { action: "locate_ref" } }, "missing_field", /"ref"/],
	["a ref with too few digits", { request: { action: "locate_ref", ref: "a1" } }, "unknown_ref", /"a1"/],
	["a ref with a zero too many", { request: { action: "locate_ref", ref: "a00001" } }, "unknown_ref", /"a00001"/],
	[
		"a detail nobody knows",
		{ request: { action: "locate_ref", ref: "a0001", detail: "all" } },
		"invalid_field",
		/"brief", "full".*"all"/,
	],
	[
		"a search for nothing",
		{ request: { action: "locate_search" } },
		"missing_field",
		/"pattern", "tool_name" and "source"/,
	],
	[
		"a search with a direction alone",
		{ request: { action: "locate_search", direction: "newest", limit: 1 } },
		"missing_field",
		/pattern/,
	],
	["a source nobody knows", { request: { action: "locate_search", source: "system" } }, "invalid_field", /"tool_call"/],
	[
		"a pattern that is a number",
		{ request: { action: "locate_search", pattern: 5 } },
		"invalid_field",
		/string, got 5/,
	],
];

describe("a request that is wrong is refused with code, sentence and hint", () => {
	it.each(CASES)("%s", async (_what, envelope, code, names) => {
		const answer = await refused(envelope);
		expect(answer.error.code).toBe(code);
		expect(answer.error.message).toMatch(names);
		expect(answer.error.message).toMatch(/\.$/);
		expect(answer.error.hint).not.toBe("");
		expect(answer.text).toContain(answer.error.message);
		expect(answer.text).not.toMatch(/\n\s+at /);
	});

	it("lists the actions there are, and the fields an action takes", async () => {
		expect((await refused({ request: { action: "recall" } })).error.hint).toContain(
			"inspect, measure, locate_ref, locate_search",
		);
		expect((await refused({ request: { action: "locate_ref", id: 1 } })).error.hint).toContain("ref, detail");
		expect((await refused({ request: { action: "measure", candidates: [{ ...range, x: 1 }] } })).error.hint).toContain(
			"start, end",
		);
	});

	it("keeps giant field names, actions and refs out of the reply", async () => {
		const giant = "x".repeat(5e6);
		for (const request of [
			{ action: giant },
			{ action: "inspect", [giant]: 1 },
			{ action: "locate_ref", ref: giant },
			{ action: "locate_ref", ref: `g1${giant}` },
			{ action: "locate_ref", ref: "a0001", detail: giant },
			{ action: "measure", candidates: [{ ...range, [giant]: 1 }] },
		]) {
			expect(JSON.stringify(await refused({ request })).length).toBeLessThan(12_000);
		}
	});
});

describe("what is not wrong is accepted", () => {
	it.each([
		[0, 1],
		[-5, 1],
		[1, 1],
		[1e21, 2],
	])("a page size of %s is clamped", async (size, groups) => {
		const answer = await handleRequest(survey, { request: { action: "inspect", page_size: size } });
		expect(answer).toMatchObject({ ok: true, data: { groups: { length: groups } } });
	});

	it("a limit out of range is clamped", async () => {
		const find = (limit: number) => handleRequest(survey, { request: { action: "locate_search", pattern: "", limit } });
		expect(await find(0)).toMatchObject({ ok: true, data: { total: 4, returned: 1 } });
		expect(await find(100)).toMatchObject({ ok: true, data: { total: 4, returned: 3 } });
	});

	it("a field that is undefined is a field left out", async () => {
		expect(
			await handleRequest(survey, { request: { action: "inspect", page_size: undefined, x: undefined } }),
		).toMatchObject({ ok: true });
	});
});
