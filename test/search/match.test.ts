import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Excerpt } from "#src/search/excerpt.js";
import { Matcher, originalOffset, originalUnitsFromEnd, searchTexts } from "#src/search/match.js";
import { CUT_HEAD, cutText } from "#src/session/cut-text.js";
import { emptyFacts, type Part } from "#src/session/record.js";
import { contents, contentsAndPattern, countCodePoints, matchesNaively, text } from "./texts.js";

describe("matching", () => {
	test("text by text as over the joined content", () => {
		fc.assert(
			fc.property(contentsAndPattern, ({ atoms, pattern }) => {
				const matcher = new Matcher(pattern);
				for (const content of atoms) {
					matcher.reset();
					const found = content.some((value) => matcher.add(value) !== null);
					expect(found).toBe(matchesNaively(content, pattern));
				}
			}),
			{ numRuns: 2000 },
		);
	});

	test.each([
		["over the border of two texts", ["one", "two"], "E\nT", true],
		["over a whole short text", ["ab", "c", "de"], "b\nc\nd", true],
		["a line end between empty texts", ["", ""], "\n", true],
		["a line end that is not there", ["ab"], "\n", false],
		["not over the border without a line end", ["ab", "cd"], "bc", false],
		["a final sigma", ["ΟΔΟΣ"], "ς", true],
		["a sigma inside a word", ["ΟΔΟΣΑ"], "ς", false],
		["a final sigma before the next text", ["ΟΔΟΣ", "Α"], "ς\nα", true],
		["a dotted I", ["İstanbul"], "i\u0307s", true],
		["half a pair", ["😀"], "\ude00", true],
	])("%s", (_name, content, pattern, expected) => {
		const matcher = new Matcher(pattern);
		expect(content.some((value) => matcher.add(value) !== null)).toBe(expected);
		expect(matchesNaively(content, pattern)).toBe(expected);
	});

	test("only İ changes its length in lower case, which the offsets rely on", () => {
		const others: string[] = [];
		for (let point = 0; point <= 0x10ffff; point++) {
			const letter = String.fromCodePoint(point);
			if (letter.toLowerCase().length !== letter.length) others.push(letter);
		}
		expect(others).toEqual(["İ"]);
	});

	test("offsets of the lower-cased text lead back to the text", () => {
		fc.assert(
			fc.property(text, (value) => {
				const lower = value.toLowerCase();
				for (let at = 0; at < lower.length; at++) {
					const original = originalOffset(value, at);
					const before = value.slice(0, original).toLowerCase().length;
					expect(before <= at && at < before + value[original].toLowerCase().length).toBe(true);
					const end = value.length - originalUnitsFromEnd(value, lower.length - at);
					expect(end).toBe(original);
				}
			}),
		);
	});

	test("the mark of a cut text is never searched", () => {
		const part: Part = { type: "text", text: cutText("x".repeat(CUT_HEAD), 5, 5), from: "own" };
		const texts = searchTexts({ ...emptyFacts(0), parts: [part] });
		expect(texts).toEqual(["x".repeat(CUT_HEAD)]);
	});
});

describe("excerpt", () => {
	const excerptOf = (content: readonly string[], pattern: string, budget: number) => {
		const excerpt = new Excerpt(pattern, budget);
		for (const value of content) excerpt.add(value);
		return excerpt.render();
	};
	const inner = (shown: string) =>
		shown.replace(/^(?:\[… [\d,]+ omitted …\] |…)/, "").replace(/(?: \[… [\d,]+ omitted …\]|…)$/, "");

	test("the first hit in the middle, the rest counted", () => {
		const shown = excerptOf(
			["x".repeat(5000), `${"y".repeat(3000)}NEEDLE${"z".repeat(4000)}`, "needle"],
			"needle",
			300,
		);
		expect(shown?.text).toMatch(/^\[… 7,\d\d\d omitted …\] y+NEEDLEz+ \[… 3,\d\d\d omitted …\]$/);
		expect(shown?.text.length).toBeLessThanOrEqual(300);
		expect(shown?.text.length).toBeGreaterThan(290);
		expect(shown?.omitted).toBe(12_012 - inner(shown?.text ?? "").length);
	});

	test("a short content stands whole, texts joined by line ends", () => {
		expect(excerptOf(["ab", "cd"], "B\nC", 100)).toEqual({ text: "ab\ncd", omitted: 0 });
	});

	test("room that one side does not need goes to the other", () => {
		const shown = excerptOf([`needle${"z".repeat(4000)}`], "needle", 300)?.text ?? "";
		expect(shown.startsWith("needlezzz")).toBe(true);
		expect(shown.length).toBeGreaterThan(270);
	});

	test("no hit, no excerpt", () => {
		expect(excerptOf(["abc"], "d", 100)).toBeNull();
	});

	test("a hit behind dotted capital I stands in the middle all the same", () => {
		const shown = excerptOf([`${"İ".repeat(4000)}needle${"İ".repeat(4000)}`], "NEEDLE", 200)?.text ?? "";
		const at = shown.indexOf("needle");
		expect(Math.abs(at - (shown.length - at - 6))).toBeLessThan(6);
	});

	test("what was not loaded counts as omitted", () => {
		const shown = excerptOf([cutText("x".repeat(CUT_HEAD), 900, 800), "needle"], "needle", 200);
		expect(shown?.omitted).toBe(CUT_HEAD + 806 - countCodePoints(inner(shown?.text ?? "").replace("\n", "")));
	});

	test("holds the hit, keeps the budget, splits no pair, counts exactly", () => {
		const repeated = fc.record({ found: contentsAndPattern, pad: fc.nat({ max: 80 }), budget: fc.nat({ max: 260 }) });
		fc.assert(
			fc.property(repeated, ({ found: { atoms, pattern }, pad, budget }) => {
				for (const content of atoms) {
					const padded = [..."pq".repeat(pad)].map((c) => `😀${c}`).concat(content, "-😀".repeat(pad));
					const joined = padded.join("\n");
					const shown = excerptOf(padded, pattern, budget);
					expect(shown !== null).toBe(matchesNaively(padded, pattern));
					if (!shown) continue;
					expect(shown.text.length).toBeLessThanOrEqual(budget);
					const window = inner(shown.text);
					expect(joined.includes(window)).toBe(true);
					if (budget >= 120) expect(window.toLowerCase()).toContain(pattern.toLowerCase());
					const whole = padded.reduce((sum, value) => sum + countCodePoints(value), 0);
					if (shown.omitted === 0) expect(countCodePoints(window)).toBe(whole + padded.length - 1);
					const counts = [...shown.text.matchAll(/\[… ([\d,]+) omitted …\]/g)].map((m) =>
						Number(m[1].replaceAll(",", "")),
					);
					if (counts.length > 0) expect(counts.reduce((a, b) => a + b)).toBe(shown.omitted);
				}
			}),
			{ numRuns: 400 },
		);
	});

	test("claude-code#56064, context-mode#903: pairs beside the hit stay whole at every budget", () => {
		const content = [`${"😀".repeat(200)}needle${"😀".repeat(200)}`];
		for (let budget = 2; budget < 160; budget++) {
			const shown = excerptOf(content, "needle", budget);
			expect(inner(shown?.text ?? "")).not.toMatch(/(?:^[\udc00-\udfff]|[\ud800-\udbff]$)/);
		}
		const half = excerptOf(content, "\ude00needle", 100)?.text ?? "";
		expect(inner(half)).not.toMatch(/(?:^[\udc00-\udfff]|[\ud800-\udbff]$)/);
	});

	test("long content before and behind is let go while it streams", () => {
		fc.assert(
			fc.property(contents, fc.integer({ min: 30, max: 120 }), (atoms, budget) => {
				const content = atoms.flat();
				const many = [...content, "needle", ...content];
				const shown = excerptOf(many, "needle", budget);
				const window = inner(shown?.text ?? "");
				expect(many.join("\n")).toContain(window);
			}),
		);
	});
});
