/** Texts that are hard to cut right, and the segments that the walker makes of a text. */
import fc from "fast-check";
import { cutRules, nextCut } from "#src/measure/cuts.js";
import type { Encoding } from "#src/measure/encodings.js";

const FRAGMENTS = {
	spaces: [
		" ",
		" ",
		"  ",
		"    ",
		"\t",
		"\t\t",
		"\v",
		"\f",
		"\u00a0",
		"\u1680",
		"\u2003",
		"\u2028",
		"\u2029",
		"\u3000",
	],
	breaks: ["\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\n    ", "\r\n\t", "\n/", "\n//", "\u0085", "\ufeff"],
	marks: ["\u0301", "\u0308", "\u20dd", "\ufe0f", "\u200d", "\u0903", "\u0e31", "\u093e", "\u064b", "\u05b0", "\u0345"],
	signs: [
		"'",
		"'",
		"’",
		"''",
		"/",
		"//",
		"(",
		"((",
		")",
		".",
		"...",
		",",
		"--",
		"_",
		'"',
		"{",
		"=>",
		"::",
		"\\",
		"。",
		"，",
		"“",
		"—",
		"€",
		"$",
	],
	special: [
		"<|endoftext|>",
		"<|fim_prefix|>",
		"<|",
		"|>",
		"https://a.b/c?d=e",
		"const fooBar = (x) => x;",
		"});\n",
		"\t\t// don't\n",
	],
	words: [
		"a",
		"foo",
		"Bar",
		"fooBar",
		"HTTPServer",
		"é",
		"É",
		"ß",
		"ǅ",
		"ʰ",
		"ª",
		"中",
		"文字",
		"カ",
		"ｱ",
		"한국",
		"д",
		"Д",
		"α",
		"א",
		"ع",
		"ก",
		"ह",
		"ա",
		"ა",
		"Ꭰ",
	],
	contractions: [
		"s",
		"S",
		"t",
		"re",
		"rE",
		"Re",
		"ve",
		"vE",
		"ll",
		"lL",
		"d",
		"M",
		"'s",
		"'T",
		"'rE",
		"'lL",
		"don't",
		"I'M",
		"ſ",
		"'ſ",
	],
	digits: ["0", "1", "12", "123", "1234", "12345678901", "²", "½", "٣", "१", "Ⅷ", "①", "〇"],
	pairs: ["👩", "👩‍💻", "🏳️‍🌈", "👍🏽", "𝒜", "𝟘", "𝟙𝟚", "𠀀", "𐐀", "𐐨", "🇺🇸", "\u{e0020}"],
	lone: ["\ud83d", "\ude00", "\ud800", "\udfff"],
};

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));
const fragment = fc.oneof(
	...Object.values(FRAGMENTS).map((list) => ({ weight: 3, arbitrary: fc.constantFrom(...list) })),
	{ weight: 1, arbitrary: anyUnit },
);

/** Up to 30 fragments in a row; shorter than a forced cut. */
export const hardText = fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join(""));

/** Any UTF-16 units, lone surrogates included. */
export const anyText = fc.array(anyUnit, { maxLength: 40 }).map((parts) => parts.join(""));

export function unitsOf(text: string): Uint16Array {
	return Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
}

/** The segments of a text, each with whether it ends in a forced cut. */
export function segmentsOf(text: string, encoding: Encoding): { text: string; forced: boolean }[] {
	const units = unitsOf(text);
	const segments = [];
	for (let from = 0; from < text.length; ) {
		const cut = nextCut(cutRules(encoding), units, from, text.length);
		segments.push({ text: text.slice(from, Math.abs(cut)), forced: cut < 0 });
		from = Math.abs(cut);
	}
	return segments;
}

export const piecesOf = (text: string, encoding: Encoding) => segmentsOf(text, encoding).map((segment) => segment.text);

/** `n` Chinese characters without punctuation, the same ones every time. */
export function hanText(n: number): string {
	let seed = 9;
	const units = Array.from({ length: n }, () => {
		seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
		return 0x4e00 + ((seed >>> 8) % 20_000);
	});
	return units.map((unit) => String.fromCharCode(unit)).join("");
}
