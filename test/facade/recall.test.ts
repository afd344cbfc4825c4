import { describe, expect, it } from "vitest";
import { MidcompactError } from "#src/errors.js";
import { handleRequest } from "#src/facade/handle.js";
import type { RecallListData } from "#src/facade/recall-list.js";
import type { RecallReadData } from "#src/facade/recall-read.js";
import type { OkReply } from "#src/facade/reply.js";
import type { BlockArchive, BlockFacts } from "#src/plan/archive.js";
import { landmark } from "#src/search/landmark.js";
import { madeSurvey, prompt } from "./made-survey.js";

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

interface Kept extends Partial<BlockFacts> {
	id: string;
	originals?: string;
}

/** An archive of originals in memory. */
function archiveOf(kept: readonly Kept[]): BlockArchive {
	return {
		list: async () =>
			kept.map(({ originals, ...facts }) => ({
				topic: "",
				summary: "",
				atoms: originals === undefined ? null : 3,
				chars: originals === undefined ? null : originals.length,
				images: originals === undefined ? null : 0,
				createdAt: "2026-01-02T03:04:05.000Z",
				archived: originals !== undefined,
				...facts,
			})),
		read: async (id, budget) => {
			const found = kept.find((block) => block.id === id);
			if (!found) throw new MidcompactError("unknown_block", `There is no block ${id}.`);
			if (found.originals === undefined) throw new MidcompactError("archive_damaged", `Block ${id} is not archived.`);
			return landmark(found.originals, budget);
		},
	};
}

function askWith(kept: readonly Kept[] | null) {
	const survey = madeSurvey([prompt("Fix it")], { archive: kept && archiveOf(kept) });
	return async <D extends object>(request: object): Promise<OkReply<D>> => {
		const answer = await handleRequest(survey, { request });
		if (!answer.ok) throw new Error(answer.text);
		expect(answer.text).not.toMatch(LONE);
		return answer as OkReply<D>;
	};
}

const list = (kept: readonly Kept[] | null, fields: object = {}) =>
	askWith(kept)<RecallListData>({ action: "recall_list", ...fields });
const read = (kept: readonly Kept[], fields: object) =>
	askWith(kept)<RecallReadData>({ action: "recall_read", ...fields });

const three: readonly Kept[] = [
	{ id: "c10000", topic: "Deploy", summary: "All went out", originals: "deploying" },
	{ id: "c0002", topic: "Build", summary: "Uses PNPM", originals: "npm run" },
	{ id: "c0001", topic: "", summary: "Read the readme" },
];

describe("recall_list", () => {
	it("lists blocks by id, without a transaction", async () => {
		const { data, text } = await list(three);
		expect(data).toMatchObject({ total: 3, returned: 3 });
		expect(data.blocks.map(({ id }) => id)).toEqual(["c0001", "c0002", "c10000"]);
		expect(data.blocks[1]).toEqual({
			id: "c0002",
			topic: "Build",
			summary: "Uses PNPM",
			summary_omitted: 0,
			atoms: 3,
			chars: 7,
			images: 0,
			created_at: "2026-01-02T03:04:05.000Z",
			archived: true,
		});
		expect(text).toMatch(/c0001 .*originals not archived/);
		expect(text).toContain('recall_read with block "c0002" shows its originals');
	});

	it.each([
		["deploy", ["c10000"]],
		["pnpm", ["c0002"]],
		["C000", ["c0001", "c0002"]],
		["npm run", []],
		[".*", []],
		["", ["c0001", "c0002", "c10000"]],
	])(
		"the pattern %j is looked for in id, topic and summary, in any case, not in originals: %j",
		async (pattern, ids) => {
			const { data } = await list(three, { pattern });
			expect(data.blocks.map(({ id }) => id)).toEqual(ids);
			expect(data.total).toBe(ids.length);
		},
	);

	const many = Array.from({ length: 50 }, (_, i) => ({
		id: `c${String(i + 1).padStart(4, "0")}`,
		summary: `s${i}`,
		originals: "x",
	}));

	it.each([
		[undefined, 8],
		[0, 1],
		[-3, 1],
		[20, 20],
		[1e9, 20],
	])("a limit of %s shows %s of many and says how to see others", async (limit, shown) => {
		const { data, text } = await list(many, { limit });
		expect(data).toMatchObject({ total: 50, returned: shown, blocks: { length: shown } });
		expect(text).toContain(`${50 - shown} more: a pattern, or a higher limit up to 20, shows others`);
	});

	it("keeps 12,000 units with the longest blocks there are", async () => {
		const giant = "😀\n\0".repeat(30_000);
		const blocks = many.map(({ id }) => ({ id, topic: giant, summary: `${giant}\ud83d`, originals: "x" }));
		const { data, text } = await list(blocks, { limit: 20, pattern: "😀" });
		expect(text.length).toBeLessThanOrEqual(12_000);
		expect(JSON.stringify(data).length).toBeLessThan(150_000);
		expect(JSON.stringify(data)).not.toMatch(/\\ud83d(?!\\u)/);
		expect(data.blocks[19].summary_omitted).toBeGreaterThan(80_000);
		for (const { id } of data.blocks) expect(text).toContain(id);
	});

	it.each([[[]], [null]])("says so where there is nothing: %j", async (kept) => {
		const { data, text } = await list(kept);
		expect(data).toEqual({ total: 0, returned: 0, blocks: [] });
		expect(text).toMatch(/no archive of it is here/);
	});
});

describe("recall_read", () => {
	it("brings originals back whole where they fit", async () => {
		const { data, text } = await read(three, { block: "c0002" });
		expect(data).toEqual({ block: "c0002", text: "npm run", truncated: false, omitted: 0, retry: null });
		expect(text).toBe("Originals of block c0002:\n\nnpm run");
	});

	const long = `begin ${"字😀".repeat(40_000)} end`;

	it("brief keeps 12,000 units and names the request that gives more", async () => {
		const kept = [{ id: "c0001", originals: long.slice(0, 30_000) }];
		const brief = await read(kept, { block: "c0001" });
		expect(brief.text.length).toBeLessThanOrEqual(12_000);
		expect(brief.data.truncated).toBe(true);
		expect(brief.text).toContain('chars not shown; recall_read with block "c0001" and detail "full" shows more');
		const full = await askWith(kept)<RecallReadData>(brief.data.retry?.request ?? {});
		expect(full.data).toMatchObject({ text: kept[0].originals, truncated: false, retry: null });
	});

	it("full keeps 40,000 units and says that recall can give no more", async () => {
		const { data, text } = await read([{ id: "c0001", originals: long }], { block: "c0001", detail: "full" });
		expect(text.length).toBeLessThanOrEqual(40_000);
		expect(text.length).toBeGreaterThan(39_000);
		expect(data).toMatchObject({ truncated: true, retry: null });
		expect(data.text).toMatch(/^begin [\s\S]* end$/);
		expect(text).toMatch(/chars not shown; recall can give no more than this\.$/);
	});

	it("claude-code#56064: half a surrogate pair of an original becomes U+FFFD", async () => {
		const { data } = await read([{ id: "c0001", originals: "cut \ud83d here" }], { block: "c0001" });
		expect(data.text).toBe("cut \ufffd here");
	});

	it.each([
		["a block nobody made", three, "c0009", "unknown_block", /c0009/],
		["an atom's ref", three, "a0001", "unknown_block", /locate_ref/],
		["a range's id", three, "d1", "unknown_block", /when the user commits/],
		["a label", three, "g0001.2", "unknown_block", /display only/],
		["too few digits", three, "c1", "unknown_block", /c0001/],
		["a path", three, "../c0001", "unknown_block", /c0001/],
		["nothing", three, "", "unknown_block", /c0001/],
		["a giant id", three, "c".repeat(1e6), "unknown_block", /c0001/],
		["a block whose originals are gone", three, "c0001", "archive_damaged", /not archived/],
		["no archive at all", null, "c0001", "unknown_block", /no archive/],
	])("refuses %s", async (_what, kept, block, code, names) => {
		const survey = madeSurvey([prompt("Fix it")], { archive: kept && archiveOf(kept) });
		const answer = await handleRequest(survey, { request: { action: "recall_read", block, detail: "full" } });
		expect(answer).toMatchObject({ ok: false, error: { code } });
		expect(answer.text).toMatch(names);
		expect(answer.text.length).toBeLessThan(1_000);
	});
});
