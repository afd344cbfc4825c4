/**
 * Where a text may be cut so that the counts of the pieces add up to the count of the whole. Both tokenizers first split a text by a pattern and
 * then encode each piece by itself: a cut is safe where the pattern ends a piece whatever stands around, and where neither side would have
 * been split differently without the other.
 */
import type { Encoding } from "./encodings.js";
import { CLASS_BITS, UNIT, UNIT_CLASS } from "./unit-classes.js";

/** Units of a segment at most: both tokenizers take quadratic time for one piece, so beyond this a segment is cut anyway (RULINGS 22). */
export const FORCED_CUT = 1024;

/** Units behind the start of a segment that must be at hand (unless the text ends before) to find its end. */
export const LOOK_AHEAD = 2 * FORCED_CUT + 2;

/** What a pair of neighbouring classes says about the place between them. */
const KEEP = 0;
const CUT = 1;
/** Lower before upper case ends a word of o200k_base, unless both are a contraction such as `'rE`. */
const CAMEL = 2;
/** A run of digits is taken in threes from its start. */
const DIGITS = 3;
/** A mark before a letter belongs to the word (`(foo`), unless a mark or U+0020 before it made it part of a run of marks (`((` `foo`). */
const WORD_PREFIX = 4;
/** The last white space before anything else stands with what follows, or alone. */
const LAST_SPACE = 5;
/** `\s*[\r\n]+` takes white space up to the last line end of the run. */
const LAST_BREAK = 6;
/** A quote behind a letter may open a contraction, but only before a letter. */
const CONTRACTION = 7;

/** Rules of an encoding: a verdict for each pair of classes. */
export type CutRules = Uint8Array;

const LETTERS: readonly number[] = [UNIT.LETTER, UNIT.LOWER, UNIT.UPPER];
const NUMBERS: readonly number[] = [UNIT.NUMBER, UNIT.DIGIT];
const MARKS: readonly number[] = [UNIT.OTHER, UNIT.QUOTE, UNIT.SLASH];

const isLetter = (unitClass: number) => LETTERS.includes(unitClass);
const isNumber = (unitClass: number) => NUMBERS.includes(unitClass);
const isMark = (unitClass: number) => MARKS.includes(unitClass);

const rulesByEncoding: Record<Encoding, CutRules> = {
	o200k_base: buildRules("o200k_base"),
	cl100k_base: buildRules("cl100k_base"),
};

export function cutRules(encoding: Encoding): CutRules {
	return rulesByEncoding[encoding];
}

function buildRules(encoding: Encoding): CutRules {
	const rules = new Uint8Array(1 << (2 * CLASS_BITS));
	const classes = Object.values(UNIT).filter((unitClass) => unitClass !== UNIT.JOINT);
	for (const a of classes) for (const b of classes) rules[(a << CLASS_BITS) | b] = verdict(a, b, encoding);
	return rules;
}

function verdict(a: number, b: number, encoding: Encoding): number {
	if (b === UNIT.SPACE) {
		if (a === UNIT.SPACE) return LAST_SPACE;
		return a === UNIT.BREAK ? LAST_BREAK : CUT;
	}
	// Marks take line ends behind them, and white space does before them.
	if (b === UNIT.BREAK) return isLetter(a) || isNumber(a) ? CUT : KEEP;
	if (a === UNIT.BREAK) return b === UNIT.SLASH ? KEEP : CUT;
	// Not even before a number, which never takes white space: two spaces are one piece by themselves and two pieces before a number.
	if (a === UNIT.SPACE) return KEEP;
	if (isLetter(a)) {
		if (isNumber(b)) return CUT;
		if (isMark(b)) return b === UNIT.QUOTE && encoding === "o200k_base" ? CONTRACTION : CUT;
		return a === UNIT.LOWER && b === UNIT.UPPER && encoding === "o200k_base" ? CAMEL : KEEP;
	}
	if (isNumber(a)) {
		if (!isNumber(b)) return CUT;
		return a === UNIT.DIGIT && b === UNIT.DIGIT ? DIGITS : KEEP;
	}
	if (isNumber(b)) return CUT;
	return isLetter(b) ? WORD_PREFIX : KEEP;
}

/**
 * End of the segment that starts at `from`, which must be the start of the text or the end of another segment. `end` is the end of the text in
 * `units`, or a place at least {@link LOOK_AHEAD} behind `from`. A forced cut comes back negative (`-end`).
 */
export function nextCut(rules: CutRules, units: Uint16Array, from: number, end: number): number {
	const limit = Math.min(end, from + FORCED_CUT + 1);
	let a = UNIT_CLASS[units[from]];
	for (let i = from + 1; i < limit; i++) {
		const b = UNIT_CLASS[units[i]];
		const rule = rules[(a << CLASS_BITS) | b];
		if (rule === CUT || (rule !== KEEP && confirmed(rule, units, from, i, end))) return i;
		a = b;
	}
	if (end - from <= FORCED_CUT) return end;
	const forced = from + FORCED_CUT;
	return isLow(units[forced]) && isHigh(units[forced - 1]) ? 1 - forced : -forced;
}

/** Settles the rules that need more than the two units beside the place `i`. Looks at nothing before `from`: what stands there is cut off. */
function confirmed(rule: number, units: Uint16Array, from: number, i: number, end: number): boolean {
	switch (rule) {
		case CAMEL:
			return i - 2 < from || units[i - 2] !== QUOTE_UNIT;
		case DIGITS:
			return threeDigits(units, from, i);
		case WORD_PREFIX: {
			if (i - 2 < from) return false;
			const before = UNIT_CLASS[units[i - 2]];
			return before === UNIT.OTHER || before === UNIT.QUOTE || units[i - 2] === SPACE_UNIT;
		}
		case LAST_SPACE:
			return i + 1 < end && isSolid(UNIT_CLASS[units[i + 1]]);
		case LAST_BREAK: {
			const stop = Math.min(end, i + FORCED_CUT);
			let j = i + 1;
			while (j < stop && UNIT_CLASS[units[j]] === UNIT.SPACE) j++;
			return j < stop && isSolid(UNIT_CLASS[units[j]]);
		}
		default: {
			if (i + 1 >= end) return false;
			const after = UNIT_CLASS[units[i + 1]];
			return after !== UNIT.JOINT && !isLetter(after);
		}
	}
}

const QUOTE_UNIT = 0x27;
const SPACE_UNIT = 0x20;

/** Whether the three units before `i` are the whole segment, or the first three of a run of digits behind white space. */
function threeDigits(units: Uint16Array, from: number, i: number): boolean {
	if (i - from < 3 || UNIT_CLASS[units[i - 2]] !== UNIT.DIGIT || UNIT_CLASS[units[i - 3]] !== UNIT.DIGIT) return false;
	if (i - from === 3) return true;
	const before = UNIT_CLASS[units[i - 4]];
	return before === UNIT.SPACE || before === UNIT.BREAK;
}

/** Certainly no white space and no mark that joins. */
function isSolid(unitClass: number): boolean {
	return unitClass !== UNIT.JOINT && unitClass !== UNIT.SPACE && unitClass !== UNIT.BREAK;
}

function isHigh(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
