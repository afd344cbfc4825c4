/** Landmarks: bounded renderings that keep head and tail of a text, with an explicit omission mark between. */
import { codePoints } from "../session/code-points.js";
import { splitCutText } from "../session/cut-text.js";
import { borderAfter, borderBefore } from "./borders.js";
import { detached } from "./detached.js";

/** A bounded text; `omitted` is the number of code points of the original that are not in it. */
export interface Landmark {
	text: string;
	omitted: number;
}

/** The two ends of a text, its middle let go, so that many large texts can wait for their share of a budget. */
export interface Ends {
	/** The whole text when `tail` is null. */
	head: string;
	tail: string | null;
	/** Code points of the whole text. */
	chars: number;
	/** The end of the text was never loaded (a giant record): there is no tail to show. */
	endless: boolean;
}

/** Share of the room that the head of a landmark gets. */
const HEAD_SHARE = 0.6;
/** With less room than this beside it, the worded mark gives way to a bare `…`. */
const LEAST_ROOM = 24;
const BARE_MARK = "…";

/** Keeps `keep` units of each end; a text of up to twice that is kept whole. */
export function endsOf(text: string, keep: number): Ends {
	const chars = codePoints(text);
	const { head, missing } = splitCutText(text);
	if (missing) return { head: detached(head.slice(0, borderBefore(head, keep))), tail: "", chars, endless: true };
	if (text.length <= keep * 2) return { head: text, tail: null, chars, endless: false };
	return {
		head: detached(text.slice(0, borderBefore(text, keep))),
		tail: detached(text.slice(borderAfter(text, text.length - keep))),
		chars,
		endless: false,
	};
}

/** A text within `budget` UTF-16 units: whole when it fits, else head and tail with a mark on a line of its own between. */
export function landmark(text: string, budget: number): Landmark {
	return landmarkOf(endsOf(text, Math.max(budget, 0)), budget);
}

/** The landmark of kept ends. They must have been kept for at least this budget. */
export function landmarkOf({ head, tail, chars, endless }: Ends, budget: number): Landmark {
	if (tail === null && head.length <= budget) return { text: head, omitted: 0 };
	const [mark, room] = markFor(budget, chars, lineMark);
	if (room < 0) return { text: "", omitted: chars };
	const headRoom = endless ? room : Math.ceil(room * HEAD_SHARE);
	const first = head.slice(0, borderBefore(head, headRoom));
	const end = tail ?? head;
	const last = endless ? "" : end.slice(borderAfter(end, end.length - (room - headRoom)));
	const omitted = chars - codePoints(first) - codePoints(last);
	return { text: first + mark(omitted) + last, omitted };
}

/** A text on one line: every run of white space is one space, none at the ends. */
export function oneLine(text: string): string {
	return text.replace(/\s+/g, " ").trim();
}

/** Landmark of a text on one line, white space as in {@link oneLine}. `omitted` counts in the text as it was given. */
export function lineLandmark(text: string, budget: number): Landmark {
	const { head: loaded, missing } = splitCutText(text);
	if (!missing) {
		const end = lineEnd(loaded, budget);
		if (end === loaded.length) return { text: oneLine(loaded), omitted: 0 };
	}
	const chars = codePoints(text);
	const [mark, room] = markFor(budget, chars, inlineMark);
	if (room < 0) return { text: "", omitted: chars };
	const headRoom = missing ? room : Math.ceil(room * HEAD_SHARE);
	const first = loaded.slice(0, borderBefore(loaded, lineEnd(loaded, headRoom)));
	const last = missing ? "" : loaded.slice(borderAfter(loaded, lineStart(loaded, room - headRoom)));
	const omitted = chars - codePoints(first) - codePoints(last);
	return { text: oneLine(first) + mark(omitted) + oneLine(last), omitted };
}

/** `12,345 characters` in the words of a mark. */
export function characters(count: number): string {
	return `${grouped(count)} ${count === 1 ? "character" : "characters"}`;
}

/** A number with its thousands set apart. */
export function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** The mark inside a line. */
export function inlineMark(omitted: number): string {
	return ` [… ${grouped(omitted)} omitted …] `;
}

function lineMark(omitted: number): string {
	return `\n[… ${characters(omitted)} omitted …]\n`;
}

/** The mark that fits a budget and the units left beside it at its longest; room below 0: not even the bare mark fits. */
function markFor(
	budget: number,
	chars: number,
	worded: (omitted: number) => string,
): [mark: (omitted: number) => string, room: number] {
	// A count of 1 has the shorter noun, so the longest mark is that of the largest count with at least two.
	const room = budget - worded(Math.max(chars, 2)).length;
	return room >= LEAST_ROOM ? [worded, room] : [() => BARE_MARK, budget - BARE_MARK.length];
}

/** End of the longest start of a text that takes up to `units` on one line; the text's length when all of it does. */
function lineEnd(text: string, units: number): number {
	let at = skipSpace(text, 0);
	for (let used = 0; at < text.length; used++) {
		const after = skipSpace(text, at);
		if (after === text.length) return after;
		if (used >= units) return at;
		at = after > at ? after : at + 1;
	}
	return text.length;
}

/** Start of the longest end of a text that takes up to `units` on one line. */
function lineStart(text: string, units: number): number {
	let at = skipSpaceBack(text, text.length);
	for (let used = 0; at > 0 && used < units; used++) {
		const before = skipSpaceBack(text, at);
		at = before < at ? before : at - 1;
	}
	return at;
}

function skipSpace(text: string, from: number): number {
	let at = from;
	while (at < text.length && isSpace(text.charCodeAt(at))) at++;
	return at;
}

function skipSpaceBack(text: string, from: number): number {
	let at = from;
	while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
	return at;
}

/** White space as `\s` has it. */
function isSpace(unit: number): boolean {
	if (unit < 0x80) return unit === 32 || (unit >= 9 && unit <= 13);
	return unit >= 0xa0 && /\s/.test(String.fromCharCode(unit));
}
