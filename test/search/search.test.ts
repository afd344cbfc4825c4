import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BuildPorts, buildIndex, pageBatches } from "#src/search/build.js";
import { BATCH_BYTES, type PagePlan } from "#src/search/pages.js";
import { type AtomQuery, type SearchPorts, type SearchSpace, searchAtoms } from "#src/search/search.js";
import type { PagesToAdd, ShardState } from "#src/search/tasks.js";
import { TrigramIndex } from "#src/search/trigram-index.js";
import { contentsAndPattern, countCodePoints, matchesNaively, planOf } from "./texts.js";

const query = (changes: Partial<AtomQuery>): AtomQuery => ({
	pattern: null,
	accepts: null,
	direction: "oldest",
	limit: 3,
	...changes,
});

/** A session in memory: contents are looked at after a turn of the event loop, later batches sometimes first. */
function made(contents: readonly (readonly string[])[], pages: PagePlan | null, bytesEach = BATCH_BYTES / 3) {
	const space: SearchSpace = {
		chars: Float64Array.from(contents, (content) => content.reduce((sum, value) => sum + countCodePoints(value), 0)),
		bytes: new Float64Array(contents.length).fill(bytesEach),
		pages,
	};
	const index = new TrigramIndex();
	for (let p = 0; p < (pages?.pages ?? 0); p++) index.add(p, contents.slice(pages?.start[p], pages?.start[p + 1]));
	const seen: number[][] = [];
	let flying = 0;
	const log = { seen, mostFlying: 0 };
	const ports: SearchPorts = {
		inFlight: 2,
		candidates: async (pattern) => index.candidates(pattern, pages?.pages ?? 0),
		find: async (atoms, pattern) => {
			log.mostFlying = Math.max(log.mostFlying, ++flying);
			const batch = seen.push([...atoms]);
			if (batch % 2 === 1) await sleep(1);
			flying--;
			return Uint8Array.from(atoms, (atom) => (matchesNaively(contents[atom], pattern) ? 1 : 0));
		},
	};
	return { space, ports, log };
}

describe("search", () => {
	test("answers as the naive definition does, with and without an index, in both directions", async () => {
		const cases = fc.record({
			found: contentsAndPattern,
			sizes: fc.option(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })),
			accepted: fc.option(fc.array(fc.boolean(), { minLength: 12, maxLength: 12 })),
			direction: fc.constantFrom("oldest" as const, "newest" as const),
			limit: fc.integer({ min: 1, max: 3 }),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ found: { atoms, pattern }, sizes, accepted, direction, limit }) => {
				const { space, ports } = made(atoms, sizes && planOf(atoms.length, sizes));
				const accepts = accepted && ((atom: number) => accepted[atom]);
				const answer = await searchAtoms(space, query({ pattern, accepts, direction, limit }), ports);
				const naive = atoms.flatMap((content, atom) =>
					matchesNaively(content, pattern) && (accepted?.[atom] ?? true) ? [atom] : [],
				);
				const ordered = direction === "oldest" ? naive : naive.toReversed();
				expect(answer).toEqual({ total: naive.length, atoms: ordered.slice(0, limit) });
			}),
			{ numRuns: 300 },
		);
	});

	test("without a pattern the columns decide alone", async () => {
		const { space, ports, log } = made(new Array(10).fill(["x"]), null);
		const answer = await searchAtoms(space, query({ accepts: (atom) => atom % 2 === 1, direction: "newest" }), ports);
		expect(answer).toEqual({ total: 5, atoms: [9, 7, 5] });
		expect(await searchAtoms(space, query({ pattern: "", limit: 1 }), ports)).toEqual({ total: 10, atoms: [0] });
		expect(log.seen).toEqual([]);
	});

	test("only atoms that the filters, the index and their size leave are read", async () => {
		const contents = [["needle"], ["hay"], ["hay", "needle"], ["needle"], ["needles"]];
		const { space, ports, log } = made(contents, planOf(5, [1]), 10);
		await searchAtoms(space, query({ pattern: "needles", accepts: (atom) => atom !== 3 }), ports);
		expect(log.seen).toEqual([[4]]);
		const scan = made(contents, null, 10);
		await searchAtoms(scan.space, query({ pattern: "needles" }), scan.ports);
		// "hay" is too short to hold the pattern, even if every letter became two.
		expect(scan.log.seen).toEqual([[0, 2, 3, 4]]);
	});

	test("batches of about 1 MB, a bounded number on the way", async () => {
		const { space, ports, log } = made(new Array(40).fill(["needle"]), null);
		const answer = await searchAtoms(space, query({ pattern: "needle" }), ports);
		expect(answer.total).toBe(40);
		expect(log.seen.map((batch) => batch.length)).toEqual([...new Array(13).fill(3), 1]);
		expect(log.mostFlying).toBe(2);
	});

	test("codex#28866: atoms that are items of one record are read in one batch", async () => {
		const { space, ports, log } = made(new Array(9).fill(["needle"]), null);
		space.bytes.set([9 * BATCH_BYTES, 0, 0, 0, 0, 0, 50, 50, 50]);
		await searchAtoms(space, query({ pattern: "needle" }), ports);
		expect(log.seen).toEqual([
			[0, 1, 2, 3, 4, 5],
			[6, 7, 8],
		]);
	});

	test("an aborted search rejects with `cancelled` and asks for nothing more", async () => {
		const { space, ports, log } = made(new Array(40).fill(["needle"]), null);
		const controller = new AbortController();
		const { find } = ports;
		ports.find = async (atoms, pattern) => {
			controller.abort();
			return find(atoms, pattern);
		};
		await expect(searchAtoms(space, query({ pattern: "needle" }), ports, controller.signal)).rejects.toMatchObject({
			code: "cancelled",
		});
		expect(log.seen.length).toBeLessThanOrEqual(2);
		await expect(searchAtoms(space, query({}), ports, controller.signal)).rejects.toMatchObject({ code: "cancelled" });
	});

	test("a failure of a thread ends the search with its own error", async () => {
		const { space, ports } = made(new Array(40).fill(["needle"]), null);
		ports.find = async () => {
			throw new Error("gone");
		};
		await expect(searchAtoms(space, query({ pattern: "needle" }), ports)).rejects.toThrow("gone");
	});

	test("a hundred thousand atoms do not hold the event loop", async () => {
		const contents = new Array(100_000).fill(["x"]);
		const { space, ports } = made(contents, null, 100);
		ports.find = async (atoms) => new Uint8Array(atoms.length).fill(1);
		const delays: number[] = [];
		// Best of three: another process may hold the processor for longer than that.
		for (let run = 0; run < 3; run++) {
			let longest = 0;
			let last = performance.now();
			const timer = setInterval(() => {
				longest = Math.max(longest, performance.now() - last);
				last = performance.now();
			}, 1);
			const answer = await searchAtoms(space, query({ pattern: "x", direction: "newest" }), ports);
			clearInterval(timer);
			expect(answer).toEqual({ total: 100_000, atoms: [99_999, 99_998, 99_997] });
			delays.push(Math.max(longest, performance.now() - last));
		}
		expect(Math.min(...delays)).toBeLessThan(50);
	});
});

describe("building the index", () => {
	const state = (changes: Partial<ShardState> = {}): ShardState => ({
		pages: 0,
		postings: 0,
		bytes: 0,
		full: false,
		...changes,
	});
	const portsOf = (bytes: Float64Array, add: (first: number) => Promise<ShardState>) => {
		const added: number[] = [];
		const ports: BuildPorts = {
			bytes,
			pagesToAdd: (first, end) => ({ first, pageStart: new Uint32Array(end - first + 1) }) as PagesToAdd,
			add: ({ first }) => {
				added.push(first);
				return add(first);
			},
		};
		return { ports, added };
	};

	test("batches begin with a record of their own", () => {
		const bytes = Float64Array.of(BATCH_BYTES, 0, 0, 5, 5, BATCH_BYTES, 5);
		expect(pageBatches(planOf(7, [1]), bytes)).toEqual([0, 3, 6, 7]);
		expect(pageBatches({ start: Uint32Array.of(0), pages: 0 }, new Float64Array())).toEqual([0]);
	});

	test("all pages in order, progress up to 1", async () => {
		const { ports, added } = portsOf(new Float64Array(9).fill(BATCH_BYTES), async (first) =>
			state({ pages: first + 1 }),
		);
		const progress: number[] = [];
		ports.progress = (done) => progress.push(done);
		expect(await buildIndex(planOf(9, [2]), ports)).toEqual(state({ pages: 5 }));
		expect(added).toEqual([0, 1, 2, 3, 4]);
		expect(progress.at(-1)).toBe(1);
		expect(progress).toEqual(progress.toSorted((a, b) => a - b));
	});

	test("a full index and an aborted signal end it early", async () => {
		const full = portsOf(new Float64Array(50).fill(BATCH_BYTES), async (first) => state({ full: first >= 3 }));
		expect((await buildIndex(planOf(50, [1]), full.ports))?.full).toBe(true);
		expect(full.added.length).toBeLessThan(8);
		const controller = new AbortController();
		const cancelled = portsOf(new Float64Array(50).fill(BATCH_BYTES), async (first) => {
			if (first === 2) controller.abort();
			return state();
		});
		await buildIndex(planOf(50, [1]), cancelled.ports, controller.signal);
		expect(cancelled.added.length).toBeLessThan(6);
	});

	test("a failure of the thread is the build's failure", async () => {
		const { ports } = portsOf(new Float64Array(9).fill(BATCH_BYTES), async (first) => {
			if (first === 3) throw new Error("gone");
			return state();
		});
		await expect(buildIndex(planOf(9, [1]), ports)).rejects.toThrow("gone");
	});
});
