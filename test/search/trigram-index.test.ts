import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planPages } from "#src/search/pages.js";
import { TrigramIndex } from "#src/search/trigram-index.js";
import { TrigramCollector } from "#src/search/trigrams.js";
import { contentsAndPattern, matchesNaively } from "./texts.js";

/** Cuts a list into pages of the given sizes, over and over. */
function cut<T>(items: readonly T[], sizes: readonly number[]): T[][] {
	const pages: T[][] = [];
	for (let at = 0, p = 0; at < items.length; p++) {
		const size = sizes[p % sizes.length];
		pages.push(items.slice(at, at + size));
		at += size;
	}
	return pages;
}

const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });
const TINY = 12 * 1024 * 1024 + 40_000;

describe("trigram index", () => {
	test.each([
		["with room for all", 64 * 1024 * 1024],
		["full after some pages", TINY],
		["full from the start", 0],
	])("no page that matches is missing: %s", (_name, budget) => {
		fc.assert(
			fc.property(contentsAndPattern, sizes, ({ atoms, pattern }, pageSizes) => {
				const pages = cut(atoms, pageSizes);
				const index = new TrigramIndex(budget);
				for (const [number, page] of pages.entries()) index.add(number, page);
				expect(index.bytes).toBeLessThanOrEqual(Math.max(budget, 12 * 1024 * 1024));
				const candidates = index.candidates(pattern, pages.length);
				if (candidates === null) {
					expect(pattern.toLowerCase().length).toBeLessThan(3);
					return;
				}
				for (let p = 0; p < pages.length; p++) {
					const matches = pages[p].some((content) => matchesNaively(content, pattern));
					if (matches) expect(candidates).toContain(p);
				}
				expect([...candidates]).toEqual([...new Set(candidates)].sort((a, b) => a - b));
			}),
			{ numRuns: budget > TINY ? 300 : 100 },
		);
	});

	test("pages that were never taken are candidates, others only with all trigrams", () => {
		const index = new TrigramIndex();
		index.add(0, [["alpha beta"]]);
		index.add(1, [["gamma", "delta"]]);
		expect([...(index.candidates("BETA", 4) ?? [])]).toEqual([0, 2, 3]);
		expect([...(index.candidates("a\nd", 2) ?? [])]).toEqual([1]);
		expect([...(index.candidates("nothing like it", 2) ?? [])]).toEqual([]);
		expect(index.candidates("ab", 2)).toBeNull();
	});

	test("more than the hundred results that FlexSearch gives by default", () => {
		const index = new TrigramIndex();
		for (let page = 0; page < 350; page++) index.add(page, [[`page ${page} of many`]]);
		expect(index.candidates("of many", 350)).toHaveLength(350);
		expect(index.candidates("of ", 350)).toHaveLength(350);
	});

	test("a spent budget stops the index for good", () => {
		const index = new TrigramIndex(TINY);
		const random = Array.from({ length: 40 }, (_, i) => [
			[`${i}-${"abcdefghij".repeat(3)}${String.fromCharCode(97 + (i % 26)).repeat(30)}${i * 7919}`],
		]);
		const taken = random.map((page, number) => index.add(number, page));
		expect(taken[0]).toBe(true);
		expect(index.full).toBe(true);
		expect(taken.lastIndexOf(true)).toBeLessThan(taken.indexOf(false));
		expect(index.pages).toBe(taken.filter(Boolean).length);
		expect([...(index.candidates("no such text", 40) ?? [])]).toEqual(
			taken.flatMap((was, number) => (was ? [] : [number])),
		);
	});

	test("no trigram reaches from one atom into the next", () => {
		const index = new TrigramIndex();
		index.add(0, [["abc"], ["def"]]);
		expect([...(index.candidates("bcd", 1) ?? [])]).toEqual([]);
		expect([...(index.candidates("c\nd", 1) ?? [])]).toEqual([]);
	});
});

describe("trigram collector", () => {
	test("each distinct trigram of a page once, on any number of pages", () => {
		const collector = new TrigramCollector();
		for (let page = 0; page < 600; page++) {
			collector.beginPage();
			collector.addText("abcabcabc");
			expect(collector.pageTerms().toSorted()).toEqual(["abc", "bca", "cab"]);
		}
		expect(collector.distinct).toBe(3);
	});

	test("the number of terms is bounded whatever the text", () => {
		const collector = new TrigramCollector();
		let state = 1;
		for (let page = 0; page < 20; page++) {
			collector.beginPage();
			let value = "";
			for (let i = 0; i < 20_000; i++) {
				state = (Math.imul(state, 1103515245) + 12345) >>> 0;
				value += String.fromCharCode(0x4e00 + ((state >>> 8) % 20_000));
			}
			collector.addText(value);
		}
		expect(collector.distinct).toBeGreaterThan(100_000);
		expect(collector.distinct).toBeLessThanOrEqual(1 << 17);
	});
});

describe("page plan", () => {
	const BUDGET = 256 * 1024 * 1024;
	const plan = (chars: number[], bytes: number[], budget = BUDGET) =>
		planPages({ chars: Float64Array.from(chars), bytes: Float64Array.from(bytes) }, budget);

	test("pages are consecutive and cover every atom once", () => {
		const sizesOf = fc.array(fc.record({ chars: fc.nat({ max: 60_000 }), bytes: fc.nat({ max: 3_000_000 }) }), {
			maxLength: 60,
		});
		fc.assert(
			fc.property(sizesOf, (atoms) => {
				const { start, pages } = plan(
					atoms.map((a) => a.chars),
					atoms.map((a) => a.bytes),
				);
				expect(start).toHaveLength(pages + 1);
				expect(start[0]).toBe(0);
				expect(start[pages]).toBe(atoms.length);
				for (let p = 0; p < pages; p++) expect(start[p + 1]).toBeGreaterThan(start[p]);
			}),
		);
	});

	test("the page grows with the session, so that the postings do not outgrow the budget", () => {
		for (const total of [1e6, 1e7, 1e8, 1e9, 4e9]) {
			const atoms = Math.ceil(total / 8000);
			const { start, pages } = plan(new Array(atoms).fill(8000), new Array(atoms).fill(10_000));
			let postings = 0;
			for (let p = 0; p < pages; p++) postings += 80 * ((start[p + 1] - start[p]) * 8000) ** 0.4;
			expect(postings * 10).toBeLessThan(BUDGET * 0.8);
		}
	});

	test("an atom with megabytes of image does not share its page with words", () => {
		const { start } = plan([500, 500, 10, 500, 500], [700, 700, 9_000_000, 700, 700]);
		expect([...start]).toEqual([0, 2, 3, 5]);
	});

	test("codex#28866: items of one record stay together where only the first pays for the bytes", () => {
		const { start } = plan([10, 10, 10, 10], [9_000_000, 0, 0, 0]);
		expect([...start]).toEqual([0, 4]);
	});
});
