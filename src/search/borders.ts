/** Where a text may be cut without leaving half a character on either side. */

/** Units that a cut moves at most to stay off the marks of one character; behind that only a surrogate pair is kept whole. */
const REACH = 32;
const ZERO_WIDTH_JOINER = 0x200d;
/** Combining marks and variation selectors, joiner, skin tones, tags: what hangs on the character before it. */
const HANGS_ON = /^(?:\p{M}|\u200d|[\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}])/u;
/** Below this unit nothing hangs on the character before it, but the second half of a CRLF. */
const FIRST_MARK = 0x300;

/** The largest cut position ≤ `at` that splits no character. */
export function borderBefore(text: string, at: number): number {
	if (at <= 0) return 0;
	if (at >= text.length) return text.length;
	const last = Math.max(0, at - REACH);
	for (let i = at; i > last; i--) if (!splitsCharacter(text, i)) return i;
	return last === 0 ? 0 : splitsPair(text, at) ? at - 1 : at;
}

/** The smallest cut position ≥ `at` that splits no character. */
export function borderAfter(text: string, at: number): number {
	if (at <= 0) return 0;
	if (at >= text.length) return text.length;
	const last = Math.min(text.length, at + REACH);
	for (let i = at; i < last; i++) if (!splitsCharacter(text, i)) return i;
	return last === text.length ? last : splitsPair(text, at) ? at + 1 : at;
}

/** Whether a cut before unit `at` leaves half a surrogate pair on each side (claude-code#56064, context-mode#903). */
export function splitsPair(text: string, at: number): boolean {
	if (at <= 0 || at >= text.length) return false;
	return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function splitsCharacter(text: string, at: number): boolean {
	const before = text.charCodeAt(at - 1);
	const after = text.charCodeAt(at);
	if (before === ZERO_WIDTH_JOINER) return true;
	if (after < FIRST_MARK) return before === 13 && after === 10;
	return splitsPair(text, at) || HANGS_ON.test(text.slice(at, at + 2));
}
