import { describe, expect, it } from "vitest";
import { bar, cutFront, cutTo, fold, padEnd, painter, safe, safeJson, widthOf } from "#src/hosts/cli/terminal.js";

describe("a text for the terminal", () => {
	it.each([
		["\u001b[31mred", "␛[31mred"],
		["a\u0000b\r\n\tc", "a␀b␍\n\tc"],
		["\u007f", "␡"],
		["\u009b31m\u0085", "\ufffd31m\ufffd"],
		["\u202eabc\u2066", "\ufffdabc\ufffd"],
		["é 字 👩‍👩‍👧 عربي", "é 字 👩‍👩‍👧 عربي"],
	])("%j is shown as %j", (text, shown) => {
		expect(safe(text)).toBe(shown);
	});

	it("keeps its value in JSON", () => {
		const value = { "k\u009b": "\u001b \u007f \u0085 \u2028 \u202e \ud83d 字\n" };
		const json = safeJson(value);
		expect(json).toMatch(/^[\x20-\x7e字]*$/);
		expect(JSON.parse(json)).toEqual(value);
	});
});

describe("columns", () => {
	it.each([
		["", 0],
		["abc", 3],
		["字符", 4],
		["한글", 4],
		["é", 1],
		["e\u0301", 1],
		["😀", 2],
		["👩‍👩‍👧", 2],
		["❤\ufe0f", 2],
		["a\u200bb", 2],
		["ｆｕｌｌ", 8],
		["█▌", 2],
	])("%j takes %i", (text, width) => {
		expect(widthOf(text)).toBe(width);
	});

	it.each([
		["abcdef", 6, "abcdef"],
		["abcdef", 4, "abc…"],
		["字符集", 6, "字符集"],
		["字符集", 5, "字符…"],
		["字符集", 4, "字…"],
		["a👩‍👩‍👧b", 3, "a…"],
		["abc", 1, "…"],
		["abc", 0, ""],
	])("%j cut to %i is %j", (text, columns, cut) => {
		expect(cutTo(text, columns)).toBe(cut);
		expect(widthOf(cut)).toBeLessThanOrEqual(columns);
	});

	it.each([
		["abcdef", 6, "abcdef"],
		["abcdef", 4, "…def"],
		["字符集", 5, "…符集"],
		["字符集", 4, "…集"],
		["b👩‍👩‍👧a", 3, "…a"],
		["abc", 1, "…"],
		["abc", 0, ""],
	])("%j cut to its last %i is %j", (text, columns, cut) => {
		expect(cutFront(text, columns)).toBe(cut);
	});

	it.each([
		["", 5, [""]],
		["abc", 3, ["abc"]],
		["one two three", 7, ["one two", "three"]],
		["12 records · 11 messages", 14, ["12 records", "11 messages"]],
		["1 a · 22 bbb · 3", 9, ["1 a", "22 bbb", "3"]],
		["a · a very long fact · b", 9, ["a", "a very", "long fact", "b"]],
		["abcdefgh ij", 3, ["abc", "def", "gh", "ij"]],
		["字符集合", 5, ["字符", "集合"]],
	])("%j folded at %i", (text, columns, lines) => {
		expect(fold(text, columns)).toEqual(lines);
	});

	it.each([
		[0, "    "],
		[1e-9, "▏   "],
		[0.5, "██  "],
		[0.6, "██▍ "],
		[1, "████"],
		[7, "████"],
	])("a bar of %d", (fraction, shown) => {
		expect(bar(fraction, 4)).toBe(shown);
	});

	it("pads by width, not by length", () => {
		expect(padEnd("字", 4)).toBe("字  ");
	});

	it("paints only when asked to", () => {
		expect(painter(false)("red", "x")).toBe("x");
		expect(painter(true)("red", "x")).toContain("\u001b[31m");
	});
});
