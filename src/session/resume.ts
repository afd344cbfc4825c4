/** Would the host take a session up again? What a format's `check.ts` finds (FORMATS: "to be resumed"). */
import type { Branch } from "./branch.js";
import type { JsonObject } from "./record.js";
import type { RecordTable } from "./table.js";

/**
 * `refused`: the host, or the model's API behind it, refuses the session or loses part of it; `repaired`: the host mends it by itself, and sends something else than the file
 * says.
 */
export type Severity = "refused" | "repaired";

export interface ResumeFinding {
	/** Stable name of the rule, such as `empty_text`. */
	rule: string;
	severity: Severity;
	/** First byte of the record it is about; null where it is about the file. */
	offset: number | null;
	/** Entry of that record; null likewise. */
	entry: string | null;
	/** One sentence with the smallest excerpt that shows it. */
	message: string;
}

/** What is wrong inside one record. */
export type RecordFinding = Pick<ResumeFinding, "rule" | "severity" | "message">;

export interface ResumeView {
	table: RecordTable;
	/** As in a survey: messages in sending order, without system messages. */
	branch: Branch;
	/** File name without its folder; null for a list in memory. */
	name: string | null;
	/** Session id that the records give; null where the format has none. */
	session: string | null;
}

export interface ResumeCheck {
	/** How bad a broken pair of call and result is for this host; null where `whole` judges them. */
	pairs: Readonly<Record<"abandoned" | "orphan" | "ambiguous", Severity>> | null;
	/** Worker's half: findings inside one record of the anchor. Pure. */
	record(record: JsonObject): RecordFinding[];
	/** Main thread's half: findings about order, ids, links, the file and its name. Yields to the event loop on large tables. */
	whole(view: ResumeView): Promise<ResumeFinding[]>;
}

/** How often a rule was broken. */
export interface RuleCount {
	rule: string;
	severity: Severity;
	count: number;
	/** Of the first one. */
	message: string;
}

/** Counts findings of one rule; returns how many there are now. */
export function countFinding(counts: RuleCount[], { rule, severity, message }: RecordFinding, more = 1): number {
	const known = counts.find((one) => one.rule === rule && one.severity === severity);
	if (known) known.count += more;
	else counts.push({ rule, severity, count: more, message });
	return known?.count ?? more;
}
