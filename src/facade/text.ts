/** Rendering for agents: numbers, short quotes, and the bounds that every reply keeps. All bounds are UTF-16 units. */
import { mendedText } from "../session/well-formed.js";

/** Units of a reply's `text` at most, whatever the session holds (CONTRACT section 7). */
export const REPLY_BOUND = 12_000;
/** The same where a text is read whole: `plan_read` and full `recall_read`. */
export const READ_BOUND = 40_000;
/** Units of a name in a reply's text: a tool, a mime type, an entry id. */
const NAME_BOUND = 60;
/** Units of a name in a reply's data. */
const KEY_BOUND = 256;
/** Entries of a map or list in a reply's data; what is left out stands in the `*_total` beside it. */
export const LIST_BOUND = 50;

/** What hosts and APIs refuse does not stand in a reply either. */
export const wellFormed = mendedText;

/** At most `bound` units, the last one an ellipsis when something was cut; a surrogate pair is never cut in half. */
export function clip(text: string, bound: number): string {
	if (text.length <= bound) return text;
	if (bound < 1) return "";
	let end = bound - 1;
	const last = text.charCodeAt(end - 1);
	if (last >= 0xd800 && last <= 0xdbff) end--;
	return `${text.slice(0, end)}…`;
}

/** A name on one line, short enough for a sentence. */
export function shortName(name: string): string {
	return oneLine(name, NAME_BOUND);
}

/** Well-formed text on one line of at most `bound` units, runs of white space and control characters as one space. */
export function oneLine(text: string, bound: number): string {
	// Looking at a little more than fits is enough, and keeps a giant text from being rewritten as a whole.
	const head = text.length > bound * 4 ? `${text.slice(0, bound * 4)}…` : text;
	return clip(wellFormed(head.replace(/[\s\p{Cc}]+/gu, " ").trim()), bound);
}

/** Any value as it may stand in an error message. */
export function quoted(value: unknown, bound = 80): string {
	if (typeof value === "string") return JSON.stringify(oneLine(value, bound));
	if (Array.isArray(value)) return "an array";
	if (typeof value === "object" && value !== null) return "an object";
	return String(value);
}

/** `1234567` as `1,234,567`. */
export function count(n: number): string {
	return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 atom`, `2 atoms`. */
export function plural(n: number, word: string): string {
	return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

/** Bytes in decimal units with three digits at most: `812 B`, `1.2 MB`. */
export function bytesText(n: number): string {
	let value = n;
	for (const unit of ["B", "kB", "MB", "GB"]) {
		if (value < 999.5 || unit === "GB")
			return `${unit === "B" || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${unit}`;
		value /= 1000;
	}
	return "";
}

/** A fraction 0-1 as `12.3 %`; what is not nothing never reads as `0.0 %`. */
export function percentText(share: number): string {
	return share > 0 && share < 0.0005 ? "<0.1 %" : `${(share * 100).toFixed(1)} %`;
}

/** Tokens as a phrase; `missing` where they are not counted. */
export function tokensText(tokens: number | null, missing: string): string {
	return tokens === null ? missing : plural(tokens, "token");
}

/** `read 12, bash 5` of a map that is already bounded, with `and 7 more` for what `total` says is missing. */
export function mapText(map: Readonly<Record<string, number>>, total: number, shown: number): string {
	const names = Object.entries(map).slice(0, shown);
	const listed = names.map(([name, n]) => `${shortName(name)} ${count(n)}`).join(", ");
	return total > names.length ? `${listed} and ${count(total - names.length)} more` : listed;
}

/** Joins as many leading lines as fit into `bound` units; answers how many did. */
export function fitting(lines: readonly string[], bound: number): number {
	let used = 0;
	for (let i = 0; i < lines.length; i++) {
		used += lines[i].length + 1;
		if (used > bound) return i;
	}
	return lines.length;
}

/** A map of names to counts with at most {@link LIST_BOUND} entries, biggest first, and how many names there are in all. */
export function boundedMap(counts: Iterable<readonly [string, number]>): {
	map: Record<string, number>;
	total: number;
} {
	const top: [string, number][] = [];
	let total = 0;
	for (const [name, n] of counts) {
		total++;
		if (top.length === LIST_BOUND && n <= top[LIST_BOUND - 1][1]) continue;
		let at = top.length;
		while (at > 0 && top[at - 1][1] < n) at--;
		top.splice(at, 0, [name, n]);
		if (top.length > LIST_BOUND) top.pop();
	}
	const merged = new Map<string, number>();
	for (const [name, n] of top) {
		const key = clip(wellFormed(name), KEY_BOUND);
		merged.set(key, (merged.get(key) ?? 0) + n);
	}
	// fromEntries makes own properties of every name, `__proto__` included.
	return { map: Object.fromEntries(merged), total };
}
