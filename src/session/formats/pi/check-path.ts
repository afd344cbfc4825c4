/** What is wrong with the way to the anchor: links, what a compaction kept, and messages that Pi sends otherwise than they stand. */
import { MESSAGE } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import type { DamageKind } from "../../damage.js";
import type { ResumeFinding, ResumeView } from "../../resume.js";
import { RecordTable } from "../../table.js";
import { aboutRow } from "../check-finding.js";
import { type CompactionMeta, FIRST_TREE_VERSION, type HeaderMeta, TYPE } from "./codes.js";

const LINKS: Partial<Record<DamageKind, string>> = {
	missing_parent: "The entry's parent is not in the file: Pi sends nothing of what stood before it",
	parent_cycle: "The entry is its own ancestor: Pi does not come to an end when it opens the file",
	duplicate_id: "Another entry has the same id: Pi leaves the earlier one out",
};

export async function pathFindings(view: ResumeView): Promise<ResumeFinding[]> {
	return [...linkFindings(view), ...(await compactionFindings(view)), ...(await messageFindings(view))];
}

function linkFindings({ table, branch }: ResumeView): ResumeFinding[] {
	const findings = branch.damage.flatMap(({ kind, row, onAnchor }) => {
		const said = onAnchor ? LINKS[kind] : undefined;
		return said === undefined ? [] : [aboutRow(table, row, kind, "refused", `${said}.`)];
	});
	// Without a single id the entries are read in the order of the file, which Pi does not do either.
	if (branch.leaf >= 0 && table.id.at(branch.leaf) < 0 && isTree(table))
		findings.push(
			aboutRow(
				table,
				branch.leaf,
				"missing_id",
				"refused",
				"The last entry has no id: Pi loses everything before it with the next one.",
			),
		);
	return findings;
}

/** The newest compaction: what it kept must begin before it. */
async function compactionFindings({ table, branch }: ResumeView): Promise<ResumeFinding[]> {
	const pause = pacer();
	let last = -1;
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (branch.walked[row] === 1 && table.type.at(row) === TYPE.COMPACTION) last = row;
	}
	if (last < 0) return [];
	const { kept, keptIndex } = table.metas.get(last) as CompactionMeta;
	const tree = isTree(table);
	const named = kept === null ? -1 : table.lookup(kept);
	if (tree && named >= 0 && named === table.id.at(last)) return [];
	for (let row = 0; row < last; row++) {
		if (pause()) await breathe();
		if (branch.walked[row] !== 1) continue;
		if (tree ? named >= 0 && table.id.at(row) === named : table.record.at(row) === keptIndex) return [];
	}
	return [
		aboutRow(
			table,
			last,
			"kept_entry",
			"refused",
			`What the compaction kept begins with no entry before it (${tree ? (kept ?? "none") : (keptIndex ?? "none")}): Pi keeps nothing.`,
		),
	];
}

async function messageFindings({ table, branch }: ResumeView): Promise<ResumeFinding[]> {
	const { messages } = branch;
	const pause = pacer();
	const findings: ResumeFinding[] = [];
	for (let m = 0; m < messages.length; m++) {
		if (pause()) await breathe();
		const [row] = messages.entriesOf(m);
		if (messages.roleOf(m) === "other")
			findings.push(
				aboutRow(
					table,
					row,
					"unknown_role",
					"repaired",
					"Pi does not know the role of the message, and leaves it out.",
				),
			);
		const failed = messages.roleOf(m) === "assistant" && (messages.marks.at(m) & MESSAGE.UNSENT) !== 0;
		const [from, to] = RecordTable.rangeOf(table.callRow, row);
		if (failed && from < to && m + 1 < messages.length && messages.roleOf(m + 1) === "tool_result")
			findings.push(
				aboutRow(
					table,
					messages.entriesOf(m + 1)[0],
					"result_of_failed_reply",
					"refused",
					"Pi sends the result but not the reply that failed with its call, which models' APIs refuse.",
				),
			);
	}
	return findings;
}

function isTree(table: RecordTable): boolean {
	for (const [row, meta] of table.metas)
		if (table.type.at(row) === TYPE.HEADER) return (meta as HeaderMeta).version >= FIRST_TREE_VERSION;
	return true;
}
