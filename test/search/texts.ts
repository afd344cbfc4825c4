/** Random texts of the kinds that break searches, and the naive definition of a match (CONTRACT section 7). */
import fc from "fast-check";

/** Few distinct pieces, so that random patterns hit: any case, CJK, pairs and halves of pairs, `İ`, sigmas, marks, line ends. */
const PIECES = [
	"a",
	"A",
	"b",
	"aB",
	" ",
	"=> {",
	"\n",
	"é",
	"漢",
	"字",
	"😀",
	"\ud83d",
	"\ude00",
	"İ",
	"i",
	"\u0307",
	"Σ",
	"σ",
	"ς",
	"ΑΣ",
	"\u200d",
	"\u0301",
	"123",
	"\0",
	"\u2028",
];

export const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(""));

/** Content of atoms: texts, some of them empty. */
export const contents = fc.array(fc.array(text, { maxLength: 4 }), { minLength: 1, maxLength: 12 });

/** Contents and a pattern that often is a piece of one of them, in any case, over the borders of texts too. */
export const contentsAndPattern = contents.chain((atoms) =>
	fc.record({
		atoms: fc.constant(atoms),
		pattern: fc.oneof(
			text.filter((pattern) => pattern !== ""),
			fc
				.record({ atom: fc.nat(), from: fc.nat(), length: fc.integer({ min: 1, max: 9 }), upper: fc.boolean() })
				.map(({ atom, from, length, upper }) => {
					const joined = atoms[atom % atoms.length].join("\n");
					const start = joined.length === 0 ? 0 : from % joined.length;
					const piece = joined.slice(start, start + length) || "a";
					return upper ? piece.toUpperCase() : piece;
				}),
		),
	}),
);

export function matchesNaively(content: readonly string[], pattern: string): boolean {
	return content.join("\n").toLowerCase().includes(pattern.toLowerCase());
}

/** Code points, a lone surrogate being one. */
export function countCodePoints(value: string): number {
	return [...value].length;
}

export function pairsIn(value: string): number {
	return value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
}

/** Pages of the given numbers of atoms, over and over. */
export function planOf(atoms: number, sizes: readonly number[]): { start: Uint32Array; pages: number } {
	const start = [0];
	for (let p = 0; start[start.length - 1] < atoms; p++)
		start.push(Math.min(atoms, start[start.length - 1] + sizes[p % sizes.length]));
	return { start: Uint32Array.from(start), pages: start.length - 1 };
}
