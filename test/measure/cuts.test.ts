import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FORCED_CUT } from "#src/measure/cuts.js";
import { ENCODINGS, type Encoding, tokenizerOf } from "#src/measure/encodings.js";
import { hardText, piecesOf, segmentsOf } from "./texts.js";

describe("segments end where the tokenizer's pattern ends a piece", () => {
	const both: [string, string[]][] = [
		["the quick fox", ["the", " quick", " fox"]],
		["foo(bar);\n", ["foo", "(bar", ");\n"]],
		["foo((bar", ["foo", "((", "bar"]],
		["x (bar", ["x", " (", "bar"]],
		["if (a)\n    return b", ["if", " (", "a", ")\n", "   ", " return", " b"]],
		["a\n\n  \n  b", ["a", "\n\n  \n", " ", " b"]],
		["ab12345678cd", ["ab", "123", "456", "78", "cd"]],
		["v  1234", ["v", " ", " 123", "4"]],
		["x=1", ["x", "=", "1"]],
		["中文,字", ["中文", ",字"]],
	];
	for (const encoding of ENCODINGS) {
		test.each(both)(`${encoding}: %j`, (text, pieces) => {
			expect(piecesOf(text, encoding)).toEqual(pieces);
		});
	}

	const one: [Encoding, string, string[]][] = [
		["o200k_base", "fooBar HTTPServer", ["foo", "Bar", " HTTPServer"]],
		["cl100k_base", "fooBar", ["fooBar"]],
		["o200k_base", "don't 'a'.b", ["don't", " '", "a", "'.", "b"]],
		["cl100k_base", "don't", ["don", "'t"]],
		["o200k_base", "we'rE", ["we'rE"]],
		["o200k_base", ")\n/x", [")\n/x"]],
	];
	test.each(one)("%s: %j", (encoding, text, pieces) => {
		expect(piecesOf(text, encoding)).toEqual(pieces);
	});

	test("no cut beside a surrogate, a combining mark, U+FEFF or U+0085", () => {
		for (const unit of ["\ud83d", "\ude00", "\u0301", "\ufeff", "\u0085"])
			for (const text of [`${unit} `, `${unit}1`, `${unit}\n`, `a${unit}`, `\n${unit}`, `1${unit}`])
				for (const encoding of ENCODINGS) expect(piecesOf(text, encoding)).toEqual([text]);
	});
});

describe.each(ENCODINGS)("%s", (encoding) => {
	const tokenizer = tokenizerOf(encoding);
	const seen = new Map<string, number>();
	const tokensOf = (segment: string) => {
		const known = seen.get(segment);
		if (known !== undefined) return known;
		const tokens = tokenizer.encode_ordinary(segment).length;
		if (seen.size < 300_000) seen.set(segment, tokens);
		return tokens;
	};

	test("every UTF-16 unit stands in the class that the tokenizer puts it in", () => {
		const wrong: string[] = [];
		for (let unit = 0; unit < 0x10000; unit += strideAt(unit)) {
			const x = String.fromCharCode(unit);
			for (const text of [`a${x}'s`, `!!${x}a`, ` ${x}a`, `  ${x}a1`, `12${x}34`, `\n ${x}!`, `a'${x}b`, `aB${x}C`]) {
				let sum = 0;
				for (const piece of piecesOf(text, encoding)) sum += tokensOf(piece);
				if (sum !== tokenizer.encode_ordinary(text).length) wrong.push(JSON.stringify(text));
			}
		}
		expect(wrong).toEqual([]);
	});

	test("pieces are the text, and no longer than a forced cut allows", () => {
		fc.assert(
			fc.property(hardText, fc.integer({ min: 1, max: 200 }), (text, times) => {
				const segments = segmentsOf(text.repeat(times), encoding);
				expect(segments.map((segment) => segment.text).join("")).toBe(text.repeat(times));
				for (const segment of segments) {
					expect(segment.text.length).toBeLessThanOrEqual(FORCED_CUT);
					if (segment.forced) expect(segment.text.length).toBeGreaterThanOrEqual(FORCED_CUT - 1);
				}
			}),
			{ numRuns: 300 },
		);
	});

	test.each([
		["a text of exactly the bound is not cut", "a".repeat(1024), [1024], 0],
		["one unit more is", "a".repeat(1025), [1024, 1], 1],
		["a pair on the place goes to the second piece", `a${"😀".repeat(600)}`, [1023, 178], 1],
		["a pair before the place stays whole", "😀".repeat(600), [1024, 176], 1],
		["a low surrogate without a high one is no pair", "\ude00".repeat(1030), [1024, 6], 1],
		["a safe place there is not forced", `${"a".repeat(1024)} b`, [1024, 2], 0],
	])("forced cut: %s", (_, text, lengths, forced) => {
		const segments = segmentsOf(text, encoding);
		expect(segments.map((segment) => segment.text.length)).toEqual(lengths);
		expect(segments.filter((segment) => segment.forced)).toHaveLength(forced);
	});
});

/** Every unit but in large blocks of one kind: unified ideographs, Hangul syllables, private use. */
function strideAt(unit: number): number {
	if (unit >= 0x3400 && unit < 0x9ff0) return 16;
	return unit >= 0xac00 && unit < 0xd790 ? 16 : unit >= 0xe000 && unit < 0xf8f0 ? 64 : 1;
}
