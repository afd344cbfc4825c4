/**
 * Texts of giant records are loaded only up to a bound. What stands in for the rest is a mark at the end of the loaded head that carries the
 * true lengths, so that every later step stays free of state: measures add the numbers, people read the mark.
 */

/** UTF-16 units of a text that are loaded from a record above the size limit. */
export const CUT_HEAD = 1 << 20;

const MARK = /\0\[midcompact: (\d+) more UTF-16 units, (\d+) more characters, not loaded\]$/;
const MARK_END = ", not loaded]";
const MARK_MAX = 120;

/** A head with the mark behind it; `units` and `chars` (code points) are what is missing. */
export function cutText(head: string, units: number, chars: number): string {
	return `${head}\0[midcompact: ${units} more UTF-16 units, ${chars} more characters, not loaded]`;
}

/** Splits a text into what is loaded and how much is not; `missing` is null for an ordinary text. */
export function splitCutText(text: string): { head: string; missing: { units: number; chars: number } | null } {
	if (!text.endsWith(MARK_END)) return { head: text, missing: null };
	const found = MARK.exec(text.slice(-MARK_MAX));
	if (!found) return { head: text, missing: null };
	return {
		head: text.slice(0, text.length - found[0].length),
		missing: { units: Number(found[1]), chars: Number(found[2]) },
	};
}
