/**
 * What it means that an atom matches a pattern: `content.join("\n").toLowerCase().includes(pattern.toLowerCase())`, decided text by text so
 * that the content is never joined. Lower-casing looks at neighbours only for a final sigma, and a line end stops that look: the
 * texts lower-cased one by one and then joined are the joined text lower-cased.
 */
import { splitCutText } from "../session/cut-text.js";
import { contentTexts, type RecordFacts } from "../session/record.js";

/** The one letter whose lower case is longer than itself, in UTF-16 units. */
const LONGER_IN_LOWER_CASE = "İ";

/** The content texts of a row as they are searched: of a giant record what is loaded, without the mark that stands for the rest. */
export function searchTexts(facts: RecordFacts): string[] {
	return contentTexts(facts.parts).map((text) => splitCutText(text).head);
}

/** Place of a hit in lower-cased units from the start of the text that completed it; `from` is negative when it began in an earlier text. */
export interface Hit {
	from: number;
	to: number;
}

/** Looks for one pattern in the content of one atom after another. */
export class Matcher {
	readonly pattern: string;
	/** Only a pattern with a line end can reach over the border of two texts. */
	readonly #spans: boolean;
	/** The last units of what was seen, one less than the pattern has; null before the first text. */
	#carry: string | null = null;

	constructor(pattern: string) {
		this.pattern = pattern.toLowerCase();
		this.#spans = this.pattern.includes("\n");
	}

	/** Begins another atom. */
	reset(): void {
		this.#carry = null;
	}

	/** The first hit that ends in this text (or at the border before it); null when there is none. */
	add(text: string): Hit | null {
		const lower = text.toLowerCase();
		if (!this.#spans) return hitAt(lower.indexOf(this.pattern), this.pattern.length);
		const before = this.#carry === null ? "" : `${this.#carry}\n`;
		const seen = before + lower;
		this.#carry = seen.slice(Math.max(0, seen.length - this.pattern.length + 1));
		const at = seen.indexOf(this.pattern);
		return at < 0 ? null : hitAt(at - before.length, this.pattern.length, true);
	}
}

function hitAt(from: number, length: number, found = from >= 0): Hit | null {
	return found ? { from, to: from + length } : null;
}

/** The unit of a text whose lower case holds unit `lower` of the lower-cased text: offsets differ behind an `İ`. */
export function originalOffset(text: string, lower: number): number {
	let extra = 0;
	let at = text.indexOf(LONGER_IN_LOWER_CASE);
	while (at >= 0 && at + extra < lower) {
		extra++;
		at = text.indexOf(LONGER_IN_LOWER_CASE, at + 1);
	}
	return lower - extra;
}

/** Units at the end of a text whose lower case holds the last `lower` units of the lower-cased text. */
export function originalUnitsFromEnd(text: string, lower: number): number {
	let at = text.length;
	for (let seen = 0; seen < lower && at > 0; at--) seen += text[at - 1] === LONGER_IN_LOWER_CASE ? 2 : 1;
	return text.length - at;
}
