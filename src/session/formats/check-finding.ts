/** Findings of a check in the words of its rules. */
import type { ResumeFinding, Severity } from "../resume.js";
import type { RecordTable } from "../table.js";
import { mendedText } from "../well-formed.js";

const EXCERPT = 60;

export function aboutFile(rule: string, severity: Severity, message: string): ResumeFinding {
	return { rule, severity, offset: null, entry: null, message };
}

export function aboutRow(
	table: RecordTable,
	row: number,
	rule: string,
	severity: Severity,
	message: string,
): ResumeFinding {
	return { rule, severity, offset: table.start.at(row), entry: table.entryOf(row), message };
}

/** The text from shortly before the place that matters, without halves of surrogate pairs. */
export function excerpt(text: string, place?: RegExp): string {
	const at = place ? text.search(place) : 0;
	const start = Math.max(at - EXCERPT / 2, 0);
	const cut = mendedText(text.slice(start, start + EXCERPT));
	return `${start > 0 ? "…" : ""}${cut}${start + EXCERPT < text.length ? "…" : ""}`;
}
