/** The bound of a reply's text, kept by leaving out whole lines. */
import { clip, count, fitting, REPLY_BOUND, wellFormed } from "../../facade/text.js";

/** Lines at the end that are kept: what to do next stands there. */
const LAST = 4;
const MARK_BOUND = 80;

/** The text within 12,000 UTF-16 units: its first lines and its last, a mark between that says how many are left out. */
export function boundedLines(text: string): string {
	const whole = wellFormed(text);
	if (whole.length <= REPLY_BOUND) return whole;
	const lines = whole.split("\n");
	const last = lines.slice(-LAST);
	const room = REPLY_BOUND - MARK_BOUND - last.join("\n").length;
	const first = lines.slice(0, -LAST);
	const kept = first.slice(0, fitting(first, room));
	const left = first.length - kept.length;
	return clip([...kept, `[… ${count(left)} lines omitted …]`, ...last].join("\n"), REPLY_BOUND);
}
