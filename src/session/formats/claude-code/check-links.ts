/** Links between lines that the host follows in another way than they say, or not at all. */
import { breathe, pacer } from "../../breathe.js";
import { ROOT } from "../../chain.js";
import type { ResumeFinding, ResumeView } from "../../resume.js";
import { aboutRow } from "../check-finding.js";
import { LINE } from "./kinds.js";
import { hasLinks, type Lines, lastConversationBefore } from "./lines.js";

export async function linkFindings(view: ResumeView, lines: Lines): Promise<ResumeFinding[]> {
	const first = await firstTime(lines);
	const pause = pacer();
	const findings: ResumeFinding[] = [];
	for (const { kind, row } of view.branch.damage) {
		if (pause()) await breathe();
		const found = view.branch.walked[row] === 1 ? linkFinding(lines, kind, row, first) : null;
		if (found) findings.push(found);
	}
	return findings.concat(await lostStarts(view, lines));
}

/** Earliest time of a line that a broken link can be joined to. */
async function firstTime(lines: Lines): Promise<number> {
	const pause = pacer();
	let first = Number.POSITIVE_INFINITY;
	for (let row = 0; row < lines.table.rows; row++) {
		if (pause()) await breathe();
		if (lines.lost[row] === 0 && lines.isOwn(row) && lines.table.time.at(row) < first) first = lines.table.time.at(row);
	}
	return first;
}

function linkFinding(lines: Lines, kind: string, row: number, first: number): ResumeFinding | null {
	const { table } = lines;
	if (kind === "duplicate_id") return twice(lines, row);
	if (kind === "missing_id")
		return aboutRow(
			table,
			row,
			"missing_uuid",
			"repaired",
			"A line without uuid: no other line can name it as parent.",
		);
	if (kind !== "missing_parent" && kind !== "parent_cycle") return null;
	if (table.type.at(row) === LINE.BOUNDARY) {
		const message = "A compaction's logicalParentUuid leads nowhere: older versions fail at it (claude-code#40027).";
		return aboutRow(table, row, "logical_parent", "repaired", message);
	}
	const parent = table.string(table.parent.at(row));
	const what =
		kind === "missing_parent" ? `The parent ${parent} is not in the file` : `The parent ${parent} leads back here`;
	return first < table.time.at(row)
		? aboutRow(table, row, kind, "repaired", `${what}: Claude Code goes on at the line before it in time.`)
		: aboutRow(table, row, kind, "refused", `${what}, and no line is earlier in time: all before it is lost.`);
}

/** The same line twice is read once; of two lines with one uuid the earlier is lost. */
function twice(lines: Lines, row: number): ResumeFinding {
	const { table } = lines;
	const other = lines.firstCopy(row);
	const size = (at: number) => table.end.at(at) - table.start.at(at);
	const same = [table.type, table.parent, table.group, table.chars, table.flags].every(
		(c) => c.at(row) === c.at(other),
	);
	return same && size(row) === size(other)
		? aboutRow(table, row, "same_line", "repaired", "A line stands twice in the file and is read once.")
		: aboutRow(
				table,
				row,
				"duplicate_uuid",
				"refused",
				`The line ${table.line.at(other)} has the uuid of this one too, and is lost.`,
			);
}

/** A history that starts in the middle of a conversation. What a person typed may start one: going back to the first prompt looks like that. */
async function lostStarts({ table, branch }: ResumeView, lines: Lines): Promise<ResumeFinding[]> {
	const pause = pacer();
	const untied = branch.leaf >= 0 && !(await hasLinks(lines));
	let roots = 0;
	let last = -1;
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (branch.walked[row] === 0 || lines.chain.parent[row] !== ROOT || table.roleOf(row) === null) continue;
		if (table.type.at(row) === LINE.SNAPSHOT) continue;
		roots++;
		last = row;
	}
	if (roots === 0) return [];
	if (untied && roots > 1)
		return [
			aboutRow(
				table,
				last,
				"no_links",
				"refused",
				"No line names its parent: of the conversation only the last line is sent.",
			),
		];
	const role = table.roleOf(last);
	if (role !== "assistant" && role !== "tool_result") return [];
	if (lastConversationBefore(lines, last, () => false) < 0) return [];
	const message = "This line names no parent: all that stands before it is lost.";
	return [aboutRow(table, last, "null_parent", "refused", message)];
}
