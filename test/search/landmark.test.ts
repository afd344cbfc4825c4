import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endsOf, grouped, landmark, landmarkOf, lineLandmark, oneLine } from "#src/search/landmark.js";
import { CUT_HEAD, cutText } from "#src/session/cut-text.js";
import { countCodePoints, text } from "./texts.js";

const LINE_MARK = /\n\[… ([\d,]+) characters? omitted …\]\n/;
const INLINE_MARK = / \[… ([\d,]+) omitted …\] /;
const long = fc.array(text, { maxLength: 60 }).map((texts) => texts.join("-"));

describe("landmark", () => {
	test("a text that fits stands whole", () => {
		expect(landmark("abc", 3)).toEqual({ text: "abc", omitted: 0 });
		expect(landmark("", 0)).toEqual({ text: "", omitted: 0 });
	});

	test("head and tail stay, the mark says how much is between", () => {
		const { text: shown, omitted } = landmark(`${"h".repeat(6000)}${"t".repeat(6000)}`, 200);
		expect(shown.length).toBe(200);
		expect(shown).toMatch(/^h+\n\[… 11,8\d\d characters omitted …\]\nt+$/);
		expect(omitted).toBe(12_000 - (shown.match(/[ht]/g)?.length ?? 0) + "charactersomitted".match(/[ht]/g)!.length);
	});

	test.each([
		[0, ""],
		[1, "…"],
		[2, "a…"],
		[5, "aaa…b"],
	])("a budget of %i units is kept", (budget, expected) => {
		expect(landmark(`${"a".repeat(50)}${"b".repeat(50)}`, budget).text).toBe(expected);
	});

	test("never longer than the budget, `omitted` exact, ends kept", () => {
		fc.assert(
			fc.property(long, fc.integer({ min: 0, max: 400 }), (value, budget) => {
				const { text: shown, omitted } = landmark(value, budget);
				expect(shown.length).toBeLessThanOrEqual(Math.max(0, budget));
				if (value.length <= budget) {
					expect(shown).toBe(value);
					return;
				}
				const mark = LINE_MARK.exec(shown)?.[0] ?? (shown === "" ? "" : "…");
				const at = mark === "" ? 0 : shown.indexOf(mark);
				const head = shown.slice(0, at);
				const tail = shown.slice(at + mark.length);
				expect(value.startsWith(head)).toBe(true);
				expect(value.endsWith(tail)).toBe(true);
				const between = value.slice(head.length, value.length - tail.length);
				expect(omitted).toBe(countCodePoints(between));
				expect(countCodePoints(head) + omitted + countCodePoints(tail)).toBe(countCodePoints(value));
				const words = LINE_MARK.exec(shown);
				if (words) expect(words[1]).toBe(grouped(omitted));
			}),
		);
	});

	test.each([
		["a surrogate pair", "😀"],
		["a letter and its accents", "e\u0301\u0302"],
		["a joined emoji", "👩\u200d👩\u200d👧"],
		["a skin tone", "👍🏽"],
		["a CRLF", "\r\n"],
	])("claude-code#56064, context-mode#903: a cut never goes through %s", (_name, cluster) => {
		const value = cluster.repeat(300);
		for (let budget = 40; budget < 80; budget++) {
			const { text: shown } = landmark(value, budget);
			const [head, tail] = shown.split(LINE_MARK.exec(shown)?.[0] ?? "…");
			expect(head.length % cluster.length, `head at ${budget}`).toBe(0);
			expect(tail.length % cluster.length, `tail at ${budget}`).toBe(0);
		}
	});

	test("a character of a thousand marks does not take the cut along", () => {
		const { text: shown } = landmark(`e${"\u0301".repeat(5000)}`, 500);
		expect(shown.length).toBeGreaterThan(400);
	});

	test("what a giant record did not load counts as omitted, and its mark is not shown", () => {
		const value = cutText("x".repeat(CUT_HEAD), 500, 400);
		const { text: shown, omitted } = landmark(value, 300);
		expect(shown).toMatch(/^x+\n\[… [\d,]+ characters omitted …\]\n$/);
		expect(omitted).toBe(CUT_HEAD + 400 - shown.indexOf("\n"));
		expect(landmark(value, CUT_HEAD * 2).omitted).toBe(400);
	});

	test("kept ends give the same landmark as the text", () => {
		fc.assert(
			fc.property(long, fc.integer({ min: 0, max: 200 }), (value, budget) => {
				expect(landmarkOf(endsOf(value, budget), budget)).toEqual(landmark(value, budget));
				expect(landmarkOf(endsOf(value, budget + 77), budget)).toEqual(landmark(value, budget));
			}),
		);
	});
});

describe("one line", () => {
	test("white space becomes single spaces", () => {
		expect(oneLine("  a\r\n\tb \u2028 c\u00a0 ")).toBe("a b c");
	});

	test("a text that fits on the line is whole, whatever white space it has", () => {
		expect(lineLandmark(` a${"\n".repeat(5000)}b  `, 3)).toEqual({ text: "a b", omitted: 0 });
	});

	test("`omitted` counts in the text as given", () => {
		fc.assert(
			fc.property(long, fc.integer({ min: 0, max: 300 }), (value, budget) => {
				const { text: shown, omitted } = lineLandmark(value, budget);
				expect(shown.length).toBeLessThanOrEqual(budget);
				expect(shown).not.toMatch(/[\n\r\u2028\t]/);
				const line = oneLine(value);
				if (line.length <= budget) {
					expect({ shown, omitted }).toEqual({ shown: line, omitted: 0 });
					return;
				}
				const mark = INLINE_MARK.exec(shown)?.[0] ?? (shown === "" ? "" : "…");
				const at = mark === "" ? 0 : shown.indexOf(mark);
				const head = shown.slice(0, at);
				const tail = shown.slice(at + mark.length);
				expect(line.startsWith(head)).toBe(true);
				expect(line.endsWith(tail)).toBe(true);
				const unseen = countCodePoints(line) - countCodePoints(head) - countCodePoints(tail);
				// White space at the borders of what is left out belongs to it or not; each run is at most a few units here.
				expect(omitted).toBeGreaterThanOrEqual(unseen - 2);
				expect(omitted).toBeLessThanOrEqual(countCodePoints(value));
				const words = INLINE_MARK.exec(shown);
				if (words) expect(words[1]).toBe(grouped(omitted));
			}),
		);
	});
});
