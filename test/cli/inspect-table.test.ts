import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { handleRequest } from "#src/facade/handle.js";
import type { InspectData } from "#src/facade/inspect.js";
import type { OkReply } from "#src/facade/reply.js";
import { inspectTable, type TableFrame } from "#src/hosts/cli/inspect-table.js";
import { painter, widthOf } from "#src/hosts/cli/terminal.js";
import { exchange, image, type MadeAtom, madeSurvey, prompt, text } from "../facade/made-survey.js";

const LONG = `Begin ${"word ".repeat(4_000)}the very end`;

/** Every column has something to show, every header line stands. */
function wideSession(): MadeAtom[] {
	return Array.from({ length: 30 }, (_, i): MadeAtom[] => [
		prompt(i % 3 === 0 ? LONG : `Frage ${i} 数据库连接超时，请重试。`.repeat(3), {
			messages: [
				{ role: "user", parts: [text(i % 3 === 0 ? LONG : `数据库 ${i}`.repeat(30)), image("image/png", 9e6)] },
			],
		}),
		exchange("read", "{}", "x".repeat(100_000), { reason: "ambiguous_tool_protocol" }),
	]).flat();
}

const survey = madeSurvey(wideSession(), {
	usage: { usage: { input: 123_456, output: 5, cacheRead: 1, cacheWrite: 3, window: 200_000 }, row: 1 },
	system: { messages: 2, chars: 99_999 },
	damage: {
		count: 3,
		onAnchor: 1,
		kinds: { glued: 1, torn_tail: 2 },
		first: [{ kind: "glued", offset: 123_456_789, line: 4, record: 3 }],
	},
	notices: [`A notice ${"with many words ".repeat(12)}and/${"a".repeat(90)}`],
});

async function dataOf(request: object = {}, from = survey): Promise<InspectData> {
	const reply = (await handleRequest(from, { request: { action: "inspect", ...request } })) as OkReply<InspectData>;
	return reply.data;
}

const frame = (columns: number, more: Partial<TableFrame> = {}): TableFrame => ({
	name: "session.jsonl",
	options: [],
	path: `/home/somebody/${"folder/".repeat(20)}session.jsonl`,
	parts: 30,
	sort: "time",
	columns,
	terminal: true,
	paint: painter(false),
	...more,
});

const rowsOf = (table: string) => table.split("\n").filter((line) => /a\d{4}\.\.a\d{4}/.test(line));

describe("the table of inspect on a terminal", () => {
	it.each([200, 120, 100, 80, 70, 60, 50, 40, 30, 25, 20])("of %i columns has no line that wraps", async (columns) => {
		const table = inspectTable(await dataOf({ page_size: 10 }), frame(columns));
		for (const line of table.split("\n")) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
		expect(table).toContain("session.jsonl");
		if (columns >= 30) expect(rowsOf(table)).toHaveLength(10);
	});

	it.each([
		[200, ["group", "refs", "share", "atoms", "chars", "tokens", "images", "protected"]],
		[120, ["group", "refs", "share", "atoms", "chars", "tokens", "images", "protected"]],
		[80, ["group", "refs", "share", "atoms", "chars", "protected"]],
		[60, ["group", "refs", "share", "atoms"]],
		[40, ["refs", "share"]],
		[30, ["refs", "share"]],
	])("of %i columns keeps the columns %j and some of every landmark", async (columns, titles) => {
		const lines = inspectTable(await dataOf({ page_size: 10 }), frame(columns)).split("\n");
		const title = lines.find((line) => line.includes("share") && line.includes("refs")) ?? "";
		expect(title.trim().split(/ {2,}/).slice(0, titles.length)).toEqual(titles);
		const landmarks = lines.filter((line) => line.includes("..a")).map((line) => line.split(" %").at(1));
		for (const landmark of landmarks) expect(landmark).toMatch(/\p{L}/u);
	});

	it("loses no fact of its header, however narrow", async () => {
		const squeezed = (columns: number) =>
			inspectTable(data, frame(columns, { path: "s" }))
				.split(/\n\n/)[0]
				.replace(/[\s█▉▊▋▌▍▎▏]|·/g, "");
		const data = await dataOf();
		expect(squeezed(60)).toBe(squeezed(400));
		expect(squeezed(30)).toBe(squeezed(400));
	});

	it("colours what it shows, without a colour that ends in the middle", async () => {
		const plain = inspectTable(await dataOf(), frame(60));
		const colours = inspectTable(await dataOf(), frame(60, { paint: painter(true) }));
		expect(colours).not.toBe(plain);
		expect(stripVTControlCharacters(colours)).toBe(plain);
	});

	it.each([160, 80, 60])("of %i columns names a next page that can be pasted", async (columns) => {
		const data = await dataOf({ page_size: 10 });
		const table = inspectTable(data, frame(columns)).replaceAll("\\\n", " ");
		expect(table.replace(/\s+/g, " ")).toContain(`midcompact inspect session.jsonl --cursor ${data.cursor}`);
	});

	it.each([40, 30])("of %i columns never breaks a cursor", async (columns) => {
		const data = await dataOf({ page_size: 10 });
		const table = inspectTable(data, frame(columns));
		expect(table).toContain("--all");
		if (table.includes("--cursor")) expect(table).toContain(String(data.cursor));
	});
});

describe("a landmark in the table", () => {
	it.each([90, 110, 130, 150, 160, 180])(
		"of %i columns has one mark of what is left out, and the text's end where there is room",
		async (columns) => {
			const [row] = rowsOf(inspectTable(await dataOf(), frame(columns)));
			const landmark = row.slice(row.indexOf("Begin"));
			expect(landmark.match(/…/g)?.length, landmark).toBeLessThanOrEqual(landmark.includes("omitted") ? 2 : 1);
			expect(landmark).toMatch(landmark.length < 24 ? /^Begin.*…$/ : /^Begin.*end$/);
		},
	);
});

describe("figures of the table", () => {
	it("a group that is not nothing is never 0.0 %", async () => {
		const tiny = madeSurvey([
			prompt("x"),
			prompt("y".repeat(100_000)),
			prompt("", { messages: [{ role: "user", parts: [image("image/png", 1)] }] }),
		]);
		const rows = inspectTable(await dataOf({}, tiny), frame(120))
			.split("\n")
			.filter((line) => /^g0/.test(line));
		expect(rows.map((row) => /[<\d.]+ %/.exec(row)?.[0])).toEqual(["<0.1 %", "100.0 %", "0.0 %"]);
		expect(new Set(rows.map((row) => row.indexOf(" %"))).size).toBe(1);
	});

	it("says where tokens are approximate", async () => {
		const approximate = { ...survey, tokens: { ...survey.tokens, approximateAtoms: 1 } };
		const table = inspectTable(await dataOf({}, approximate), frame(200));
		expect(table).toMatch(/[\d,]+ tokens \(o200k_base, approximate in 1 atom\)/);
	});

	it("smaller groups without a char hold 0.0 %", async () => {
		const none = prompt("", { messages: [{ role: "user", parts: [image("image/png", 1)] }] });
		const data = await dataOf({}, madeSurvey([prompt("abc"), prompt("abcdefg"), prompt("ab"), none]));
		const shown = { ...data, groups: data.groups.slice(0, 3), cursor: null };
		expect(inspectTable(shown, frame(120, { sort: "size", parts: 4 }))).toContain("1 smaller group holds 0.0 %");
	});
});
