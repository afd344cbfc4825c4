/** What a terminal needs: texts without control characters, columns of the right width, colours where they are wanted. */
import { styleText } from "node:util";

/** Control characters other than line end and tab, and the marks that reverse the order of what follows on a line. */
const UNSAFE = /(?![\n\t])\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text that a terminal shows and never obeys: session texts may hold escape sequences. Control characters become their pictures (`␛`), those
 * without one become U+FFFD.
 */
export function safe(text: string): string {
	return text.replace(UNSAFE, (char) => {
		const code = char.charCodeAt(0);
		if (code < 0x20) return String.fromCharCode(0x2400 + code);
		return code === 0x7f ? "\u2421" : "\ufffd";
	});
}

/** JSON on one line with every character escaped that a terminal could obey; `JSON.stringify` itself leaves DEL and U+0080-009F as they are. */
export function safeJson(value: unknown): string {
	return JSON.stringify(value).replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Code points that take two columns, as ranges (East Asian Width W and F, without emoji). */
const WIDE: readonly (readonly [number, number])[] = [
	[0x1100, 0x115f],
	[0x2e80, 0x303e],
	[0x3041, 0x4dbf],
	[0x4e00, 0xa4cf],
	[0xa960, 0xa97f],
	[0xac00, 0xd7a3],
	[0xf900, 0xfaff],
	[0xfe10, 0xfe19],
	[0xfe30, 0xfe6f],
	[0xff00, 0xff60],
	[0xffe0, 0xffe6],
	[0x16fe0, 0x18cff],
	[0x1b000, 0x1b2ff],
	[0x1f200, 0x1f2ff],
	[0x20000, 0x3fffd],
];
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Columns that one grapheme takes: 0, 1 or 2. */
function graphemeWidth(grapheme: string): number {
	const code = grapheme.codePointAt(0) ?? 0;
	if (code < 0x300) return 1;
	if (EMOJI.test(grapheme)) return 2;
	if (INVISIBLE.test(grapheme)) return 0;
	return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Texts of one column a unit: Latin letters, dashes, quotes, the ellipsis, block elements. They need no segmenter, which is slow on long tables. */
const PLAIN = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2026\u2580-\u259f]*$/;

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
	if (PLAIN.test(text)) return text.length;
	let width = 0;
	for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
	return width;
}

/** The longest start of a text within `columns`; wide characters are never cut in half. */
export function startOf(text: string, columns: number): string {
	if (PLAIN.test(text)) return text.slice(0, Math.max(0, columns));
	let width = 0;
	let end = 0;
	for (const { segment } of segmenter.segment(text)) {
		width += graphemeWidth(segment);
		if (width > columns) break;
		end += segment.length;
	}
	return text.slice(0, end);
}

/** The longest end of a text within `columns`; wide characters are never cut in half. */
export function endOf(text: string, columns: number): string {
	if (PLAIN.test(text)) return text.slice(Math.max(0, text.length - Math.max(0, columns)));
	let width = 0;
	let start = text.length;
	for (const { segment } of [...segmenter.segment(text)].reverse()) {
		width += graphemeWidth(segment);
		if (width > columns) break;
		start -= segment.length;
	}
	return text.slice(start);
}

/** The text within `columns`, its end an ellipsis when it does not fit. */
export function cutTo(text: string, columns: number): string {
	if (fits(text, columns)) return text;
	return columns < 1 ? "" : `${startOf(text, columns - 1)}…`;
}

/** The text within `columns`, its start an ellipsis when it does not fit. */
export function cutFront(text: string, columns: number): string {
	if (fits(text, columns)) return text;
	return columns < 1 ? "" : `…${endOf(text, columns - 1)}`;
}

function fits(text: string, columns: number): boolean {
	return startOf(text, columns).length === text.length;
}

/** Where a line may end, best places first. */
const SEAMS = [" · ", " "];

/** A text on lines of at most `columns` (at least 2), broken between its facts, else between words, else inside a word. */
export function fold(text: string, columns: number, seams: readonly string[] = SEAMS): string[] {
	if (widthOf(text) <= columns) return [text];
	const [seam, ...finer] = seams;
	const lines: string[] = [];
	if (seam === undefined) {
		for (let rest = text; rest !== ""; ) {
			const line = startOf(rest, columns);
			lines.push(line);
			rest = line === "" ? "" : rest.slice(line.length);
		}
		return lines;
	}
	let line: string | null = null;
	for (const piece of text.split(seam)) {
		const joined: string = line === null ? piece : line + seam + piece;
		if (widthOf(joined) <= columns) line = joined;
		else {
			if (line !== null) lines.push(line);
			const parts = fold(piece, columns, finer);
			line = parts.pop() ?? "";
			lines.push(...parts);
		}
	}
	return line === null ? lines : [...lines, line];
}

export function padEnd(text: string, columns: number): string {
	return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
	return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of `columns` columns, filled to a fraction 0-1 in steps of an eighth; anything above 0 shows. */
export function bar(fraction: number, columns: number): string {
	const steps = Math.min(columns * 8, Math.max(fraction > 0 ? 1 : 0, Math.round(fraction * columns * 8)));
	return padEnd("█".repeat(Math.floor(steps / 8)) + EIGHTHS[steps % 8], columns);
}

type Colour = "bold" | "dim" | "cyan" | "yellow" | "red";
export type Paint = (colour: Colour, text: string) => string;

/** Paints only where colours are wanted. */
export function painter(colours: boolean): Paint {
	return colours ? (colour, text) => styleText(colour, text, { validateStream: false }) : (_colour, text) => text;
}
