import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { Piscina } from "piscina";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AtomTable, SOURCES } from "#src/atoms/table.js";
import { asMidcompactError } from "#src/errors.js";
import { measureParts } from "#src/measure/parts.js";
import { buildIndex } from "#src/search/build.js";
import { columnFilter } from "#src/search/filters.js";
import { planPages } from "#src/search/pages.js";
import { type AtomRows, atomBytes, atomPlaces } from "#src/search/places.js";
import { renderContent } from "#src/search/render.js";
import { searchAtoms } from "#src/search/search.js";
import type { FindResult, ShardCandidates, ShardState, ViewResult } from "#src/search/tasks.js";
import { piReader } from "#src/session/formats/pi/read.js";
import { contentTexts, type JsonObject, type RecordFacts } from "#src/session/record.js";
import type { RowSource } from "#src/session/rows.js";
import type { SourceSpec } from "#src/session/source.js";
import { RecordTable } from "#src/session/table.js";
import { matchesNaively, planOf, text } from "./texts.js";

const fileOf = (name: string) => fileURLToPath(import.meta.resolve(`#workers/${name}.js`));

interface Session {
	table: RecordTable;
	rows: AtomRows;
	facts: RecordFacts[];
	from: RowSource;
	bytes: Float64Array;
	chars: Float64Array;
	contentOf(atom: number): string[];
}

/** Writes Pi records as a file and reads its rows; `sizes`: how many rows each atom has, over and over. */
function write(path: string, records: readonly JsonObject[], sizes: readonly number[], memory = false): Session {
	const table = new RecordTable();
	const facts: RecordFacts[] = [];
	let at = 0;
	const lines = records.map((record, n) => {
		const line = JSON.stringify(record);
		const end = at + Buffer.byteLength(line);
		const read = piReader.read(record);
		if (!read) throw new TypeError("a record that Pi does not know");
		facts.push(read);
		table.add(read, { start: at, end, record: n, line: n + 1, item: 0 }, measureParts(read));
		at = end + 1;
		return `${line}\n`;
	});
	const bytes = Buffer.from(lines.join(""));
	const start = [0];
	for (let a = 0; start[start.length - 1] < records.length; a++)
		start.push(Math.min(records.length, start[start.length - 1] + sizes[a % sizes.length]));
	const rows = { rows: Int32Array.from(records, (_, row) => row), start: Uint32Array.from(start) };
	const chars = new Float64Array(start.length - 1);
	for (let atom = 0; atom < chars.length; atom++)
		for (let row = start[atom]; row < start[atom + 1]; row++) chars[atom] += table.chars.at(row);
	return {
		table,
		rows,
		facts,
		from: { sources: [memory ? memorySource(bytes) : fileSource(path, bytes)], format: "pi" },
		bytes: atomBytes(table, rows),
		chars,
		contentOf: (atom) => facts.slice(start[atom], start[atom + 1]).flatMap((row) => contentTexts(row.parts)),
	};
}

function fileSource(path: string, bytes: Buffer): SourceSpec {
	writeFileSync(path, bytes);
	const { dev, ino, size } = statSync(path);
	return { kind: "file", path, size, device: dev, inode: ino };
}

function memorySource(bytes: Buffer): SourceSpec {
	const shared = new SharedArrayBuffer(bytes.length);
	new Uint8Array(shared).set(bytes);
	return { kind: "memory", bytes: shared, size: bytes.length };
}

const message = (role: string, content: JsonObject[], n: number, more: JsonObject = {}): JsonObject => ({
	type: "message",
	id: `e${n}`,
	parentId: n === 0 ? null : `e${n - 1}`,
	timestamp: "2026-01-01T00:00:00.000Z",
	message: { role, content, ...more },
});

/** A message of a role that fits its texts: one text a part. */
function messageOf(texts: readonly string[], n: number): JsonObject {
	const content = texts.map((value) => ({ type: "text", text: value }));
	return n % 2 === 0 ? message("user", content, n) : message("assistant", content, n);
}

describe("workers of search and texts", () => {
	let folder: string;
	let pool: Piscina;
	let shard: Piscina;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "midcompact-search-"));
		pool = new Piscina({ filename: fileOf("find"), minThreads: 2, maxThreads: 2 });
		shard = new Piscina({ filename: fileOf("shard"), minThreads: 1, maxThreads: 1 });
	});
	afterAll(async () => {
		await pool.destroy();
		await shard.destroy();
		rmSync(folder, { recursive: true, force: true });
	});

	const find = (session: Session, atoms: ArrayLike<number>, pattern: string): Promise<FindResult> =>
		pool.run(
			{ from: session.from, atoms: atomPlaces(session.table, session.rows, atoms), pattern },
			{ filename: fileOf("find") },
		);
	const view = (session: Session, atoms: ArrayLike<number>, how: object): Promise<ViewResult> =>
		pool.run(
			{ from: session.from, atoms: atomPlaces(session.table, session.rows, atoms), view: how },
			{ filename: fileOf("view") },
		);
	const build = (session: Session, key: string, budget: number, plan = planPages(session, budget)) => {
		const done = buildIndex(plan, {
			bytes: session.bytes,
			pagesToAdd: (first, end) => {
				const from = plan.start[first];
				const atoms = Array.from({ length: plan.start[end] - from }, (_, i) => from + i);
				return {
					first,
					pageStart: plan.start.slice(first, end + 1).map((atom) => atom - from),
					atoms: atomPlaces(session.table, session.rows, atoms),
				};
			},
			add: (pages) => shard.run({ op: "add", key, from: session.from, budget, pages }) as Promise<ShardState>,
		});
		return { plan, done };
	};

	const sessions = fc.record({
		records: fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 24 }),
		sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
		pageSizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
		patterns: fc.array(
			text.filter((pattern) => pattern !== ""),
			{ minLength: 3, maxLength: 3 },
		),
		picks: fc.array(fc.record({ record: fc.nat(), from: fc.nat(), length: fc.integer({ min: 1, max: 7 }) }), {
			minLength: 4,
			maxLength: 4,
		}),
		budget: fc.constantFrom(0, 12 * 1024 * 1024 + 30_000, 256 * 1024 * 1024),
		memory: fc.boolean(),
	});

	test("a search through threads equals the naive scan on random sessions and patterns", async () => {
		let n = 0;
		await fc.assert(
			fc.asyncProperty(sessions, async ({ records, sizes, pageSizes, patterns, picks, budget, memory }) => {
				const session = write(join(folder, `random-${n}.jsonl`), records.map(messageOf), sizes, memory);
				const key = `random-${n++}`;
				const { plan, done } = build(session, key, budget, planOf(session.chars.length, pageSizes));
				const space = { chars: session.chars, bytes: session.bytes, pages: plan };
				const own = picks.map(({ record, from, length }) => {
					const joined = records[record % records.length].join("\n");
					return joined.slice(from % (joined.length + 1)).slice(0, length) || "\n";
				});
				const ask = async (pattern: string) => {
					const found = await searchAtoms(
						space,
						{ pattern, accepts: null, direction: "oldest", limit: 1000 },
						{
							inFlight: 2,
							candidates: (p) =>
								shard.run({ op: "candidates", key, pattern: p, pages: plan.pages }) as Promise<ShardCandidates>,
							find: (atoms, p) => find(session, atoms, p),
						},
					);
					const naive: number[] = [];
					for (let atom = 0; atom < session.chars.length; atom++)
						if (matchesNaively(session.contentOf(atom), pattern)) naive.push(atom);
					expect(found).toEqual({ total: naive.length, atoms: naive });
				};
				// While the index is being built, and once it stands.
				await ask(own[0]);
				await done;
				for (const pattern of [...patterns, ...own]) await ask(pattern);
				await shard.run({ op: "drop", key });
			}),
			{ numRuns: 60 },
		);
	});

	test("a session of many pages and batches: rare patterns read little, all answers are the naive ones", async () => {
		const word = (n: number) => `word${(n * 7919) % 4001}`;
		const records = Array.from({ length: 4000 }, (_, n) =>
			messageOf(
				[Array.from({ length: 60 }, (_, i) => word(n * 3 + i)).join(" "), n % 500 === 7 ? "Needle=> {" : ""],
				n,
			),
		);
		const session = write(join(folder, "large.jsonl"), records, [1, 2]);
		const { plan, done } = build(session, "large", 256 * 1024 * 1024);
		expect(plan.pages).toBeGreaterThan(50);
		expect((await done)?.pages).toBe(plan.pages);
		const space = { chars: session.chars, bytes: session.bytes, pages: plan };
		for (const [pattern, most] of [
			["needle=> {", 0.2],
			["word12 ", 1],
			["no such thing", 0.01],
			["{", 1],
		] as const) {
			let looked = 0;
			const found = await searchAtoms(
				space,
				{ pattern, accepts: null, direction: "newest", limit: 3 },
				{
					inFlight: 4,
					candidates: (p) =>
						shard.run({ op: "candidates", key: "large", pattern: p, pages: plan.pages }) as Promise<ShardCandidates>,
					find: (atoms, p) => {
						looked += atoms.length;
						return find(session, atoms, p);
					},
				},
			);
			const naive = Array.from(session.chars.keys()).filter((atom) => matchesNaively(session.contentOf(atom), pattern));
			expect(found, pattern).toEqual({ total: naive.length, atoms: naive.toReversed().slice(0, 3) });
			expect(looked / session.chars.length, pattern).toBeLessThanOrEqual(most);
		}
		await shard.run({ op: "drop", key: "large" });
	});

	test("the thread of the index keeps sessions apart and forgets what is dropped", async () => {
		const a = write(join(folder, "a.jsonl"), [messageOf(["alpha"], 0)], [1]);
		const b = write(join(folder, "b.jsonl"), [messageOf(["beta"], 0)], [1]);
		await Promise.all([build(a, "a", 1e9).done, build(b, "b", 1e9).done]);
		const ask = (key: string, pattern: string): Promise<ShardCandidates> =>
			shard.run({ op: "candidates", key, pattern, pages: 1 });
		expect(await ask("a", "ALPHA")).toEqual(Uint32Array.of(0));
		expect(await ask("b", "alpha")).toEqual(new Uint32Array());
		expect(await ask("b", "al")).toBeNull();
		expect(await shard.run({ op: "drop", key: "a" })).toMatchObject({ pages: 1, postings: 3, full: false });
		expect(await ask("a", "alpha")).toBeNull();
		expect(await ask("b", "beta")).toEqual(Uint32Array.of(0));
	});

	test("texts come back rendered as the pure functions do, in the order asked for", async () => {
		const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } };
		const records = [
			messageOf(["fix the bug"], 0),
			message("assistant", [{ type: "thinking", thinking: "hm" }, call], 1),
			message("toolResult", [{ type: "text", text: "z".repeat(50_000) }], 2, { toolCallId: "c1", toolName: "read" }),
			messageOf(["done"], 3),
		];
		const session = write(join(folder, "view.jsonl"), records, [1, 2, 1]);
		const contents = await view(session, [1, 0], { shape: "content", budget: 500 });
		expect(contents).toEqual([
			renderContent(session.facts.slice(1, 3), 500),
			renderContent(session.facts.slice(0, 1), 500),
		]);
		expect(contents[0].text).toContain('[tool_call read]\n{"path":"a.ts"}\n[tool_result]\nzzz');
		expect(contents[0].text.length).toBeLessThanOrEqual(500);
		const leads = await view(session, [0, 1, 2], { shape: "lead", budget: 80 });
		expect(leads.map((lead) => lead.text)).toEqual(["fix the bug", "hm", "done"]);
		const [hit, miss] = await view(session, [1, 2], { shape: "excerpt", pattern: "A.TS", budget: 300 });
		expect(hit.text).toContain('{"path":"a.ts"}');
		expect(hit.text.length).toBeLessThanOrEqual(300);
		expect(miss).toEqual({ text: "[assistant]\ndone", omitted: 0 });
	});

	test("an atom without rows has an empty text and no match", async () => {
		const session = write(join(folder, "empty.jsonl"), [messageOf(["one"], 0)], [1]);
		const rows = { rows: session.rows.rows, start: Uint32Array.of(0, 0, 1, 1) };
		const empty = { ...session, rows };
		expect([...(await find(empty, [0, 1, 2], "one"))]).toEqual([0, 1, 0]);
		const texts = await view(empty, [0, 1, 2], { shape: "lead", budget: 50 });
		expect(texts.map((t) => t.text)).toEqual(["", "one", ""]);
	});

	test("a file that became shorter is `unreadable`, through the thread border", async () => {
		const path = join(folder, "cut.jsonl");
		const session = write(path, [messageOf(["one"], 0), messageOf(["two"], 1)], [1]);
		truncateSync(path, 20);
		for (const work of [() => find(session, [0], "one"), () => view(session, [0], { shape: "lead", budget: 9 })]) {
			const error = await work().then(
				() => null,
				(thrown: unknown) => asMidcompactError(thrown),
			);
			expect(error?.code).toBe("unreadable");
		}
	});

	test("filters by tool name in any case, and by source", () => {
		const call = (name: string) => ({ type: "toolCall", id: `c-${name}`, name, arguments: {} });
		const records = [
			messageOf(["Read"], 0),
			message("assistant", [call("Read"), call("bash")], 1),
			message("toolResult", [], 2, { toolCallId: "c-Read", toolName: "Read" }),
			message("assistant", [call("read_all")], 3),
		];
		const session = write(join(folder, "tools.jsonl"), records, [1, 2, 1]);
		const atoms = new AtomTable();
		for (const [messageEnd, source] of [
			[1, "user"],
			[3, "tool_call"],
			[4, "tool_call"],
		] as const)
			atoms.push({
				kind: source === "user" ? "user" : "tool_exchange",
				protocol: "none",
				reason: null,
				marks: 0,
				sources: 1 << SOURCES.indexOf(source),
				messageEnd,
				chars: 0,
				images: 0,
				imageBytes: 0,
			});
		const passing = (toolName: string | null, source: "user" | "tool_call" | null) => {
			const accepts = columnFilter(session.table, atoms, session.rows, { toolName, source });
			return accepts && [0, 1, 2].filter(accepts);
		};
		expect(passing("READ", null)).toEqual([1]);
		expect(passing("bash", "tool_call")).toEqual([1]);
		expect(passing("read", "user")).toEqual([]);
		expect(passing("rea", null)).toEqual([]);
		expect(passing(null, "tool_call")).toEqual([1, 2]);
		expect(passing(null, null)).toBeNull();
	});
});
