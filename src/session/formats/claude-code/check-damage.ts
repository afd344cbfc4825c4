/** What Claude Code does about damaged lines. */
import type { DamageKind } from "../../damage.js";
import type { ResumeFinding, ResumeView } from "../../resume.js";
import { damageFindings } from "../check-damage.js";
import { isChainLine } from "./kinds.js";

const SAID: Partial<Record<DamageKind, string>> = {
	torn_tail: "The last line is torn: Claude Code leaves it out and goes on behind it",
	invalid_json: "A line is no JSON: Claude Code leaves it out",
	not_an_object: "A line is no object: Claude Code leaves it out",
	invalid_utf8: "A line is not valid UTF-8: what cannot be read is sent as U+FFFD",
	nul_run: "Zeros stand in a line: Claude Code leaves it out",
	glued: "Two records stand on one line: Claude Code leaves it out",
	spliced: "A line holds a record and something else: Claude Code leaves it out",
};

export function lineFindings(view: ResumeView): ResumeFinding[] {
	const { table, branch } = view;
	return damageFindings(view, {
		said: SAID,
		lost: ", and a message that is on it",
		needs: (row) => branch.walked[row] === 1 && isChainLine(table.type.at(row)),
	});
}
