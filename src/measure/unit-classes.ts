/** Classes of UTF-16 units, as far as the split patterns of the tokenizers tell units apart. */

export const UNIT = {
	/** Never cut beside it: surrogates, combining marks, U+FEFF, U+0085, and what Unicode versions disagree about. */
	JOINT: 0,
	/** Letter that is not ASCII. */
	LETTER: 1,
	/** a-z */
	LOWER: 2,
	/** A-Z */
	UPPER: 3,
	/** Number that is not ASCII. */
	NUMBER: 4,
	/** 0-9 */
	DIGIT: 5,
	/** White space but CR and LF. */
	SPACE: 6,
	/** CR or LF. */
	BREAK: 7,
	/** Everything else. */
	OTHER: 8,
	/** `'`, which may open a contraction. */
	QUOTE: 9,
	/** `/`, which o200k_base lets follow a line end. */
	SLASH: 10,
} as const;

/** Bits that a class takes: `a << CLASS_BITS | b` numbers a pair of classes. */
export const CLASS_BITS = 4;

/** Letters and signs of Unicode 17: a newer Node knows them, the tokenizers (Unicode 16) take them for unassigned. */
const AFTER_UNICODE_16 = /[\u088f\u0c5c\u0cdc\u20c1\u2b96\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1]/;

/** Class of every UTF-16 unit. */
export const UNIT_CLASS: Uint8Array = buildClasses();

function buildClasses(): Uint8Array {
	const classes = new Uint8Array(0x10000);
	for (let unit = 0; unit < classes.length; unit++) classes[unit] = classOf(unit);
	return classes;
}

function classOf(unit: number): number {
	if (unit < 0x80) return asciiClass(unit);
	if (unit >= 0xd800 && unit <= 0xdfff) return UNIT.JOINT;
	// JavaScript calls U+FEFF white space and U+0085 not; the tokenizers see it the other way round.
	if (unit === 0xfeff || unit === 0x85) return UNIT.JOINT;
	const text = String.fromCharCode(unit);
	if (/\p{M}|\p{Cn}/u.test(text) || AFTER_UNICODE_16.test(text)) return UNIT.JOINT;
	if (/\s/.test(text)) return UNIT.SPACE;
	if (/\p{L}/u.test(text)) return UNIT.LETTER;
	return /\p{N}/u.test(text) ? UNIT.NUMBER : UNIT.OTHER;
}

function asciiClass(unit: number): number {
	const text = String.fromCharCode(unit);
	if (text >= "a" && text <= "z") return UNIT.LOWER;
	if (text >= "A" && text <= "Z") return UNIT.UPPER;
	if (text >= "0" && text <= "9") return UNIT.DIGIT;
	if (text === "\r" || text === "\n") return UNIT.BREAK;
	if (/\s/.test(text)) return UNIT.SPACE;
	if (text === "'") return UNIT.QUOTE;
	return text === "/" ? UNIT.SLASH : UNIT.OTHER;
}
