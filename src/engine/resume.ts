/** Would the host resume a session? The format's rules on the table, its rules on single records, and the pairs of calls and results. */
import type { ResumeResult, ResumeTask } from "../../workers/resume.js";
import { ATOM, type Protocol } from "../atoms/table.js";
import { CHECKS } from "../session/formats/checks.js";
import { placesOf } from "../session/places.js";
import { countFinding, type ResumeFinding, type RuleCount } from "../session/resume.js";
import { batchesOf } from "./batches.js";
import { inOrder } from "./pool.js";
import type { OpenSurvey } from "./survey.js";

/** Findings that are kept one by one. */
const KEPT = 1_000;

export interface ResumeReport {
	/** Those that are kept one by one, the first of each rule among them; by place in the file, those about the file as a whole first. */
	findings: readonly ResumeFinding[];
	/** All, kept or not, by rule. */
	rules: readonly RuleCount[];
	/** All, kept or not, and those that the host does not mend by itself. */
	count: number;
	refused: number;
}

/** What of the anchor the host would refuse, lose or mend. `name`: that of the file, where it counts for the host; null for none. Errors: `unreadable`, `cancelled`. */
export async function checkResume(survey: OpenSurvey, name: string | null, signal: AbortSignal): Promise<ResumeReport> {
	const { table, branch, format, session } = survey;
	const found = await CHECKS[format].whole({
		table,
		branch,
		name,
		session,
	});
	const findings = [...found, ...brokenPairs(survey)];
	const rules: RuleCount[] = [];
	for (const finding of findings) countFinding(rules, finding);
	await inOrder(
		batchesOf(table, anchorRows(survey)),
		survey.pool.width,
		async (batch) => {
			const task: ResumeTask = { from: survey.source, places: placesOf(table, batch) };
			return survey.pool.run<ResumeResult>("resume", task, signal);
		},
		(result, batch) => {
			for (const counted of result.counts) countFinding(rules, counted, counted.count);
			for (const { index, finding } of result.findings) {
				const row = batch[index];
				const first = !findings.some((one) => one.rule === finding.rule && one.severity === finding.severity);
				if (findings.length < KEPT || first)
					findings.push({ ...finding, offset: table.start.at(row), entry: table.entryOf(row) });
			}
		},
	);
	const sum = (counts: readonly RuleCount[]) => counts.reduce((total, { count }) => total + count, 0);
	return {
		findings: findings.sort((a, b) => (a.offset ?? -1) - (b.offset ?? -1)),
		rules,
		count: sum(rules),
		refused: sum(rules.filter(({ severity }) => severity === "refused")),
	};
}

/** Every row whose content or link the host reads for the anchor, in the order of the table. */
function anchorRows({ table, branch, systemRows }: OpenSurvey): Int32Array {
	const read = new Uint8Array(table.rows);
	for (const row of branch.messages.rows.view()) read[row] = 1;
	for (const row of systemRows) read[row] = 1;
	const rows: number[] = [];
	for (let row = 0; row < read.length; row++) if (read[row] === 1) rows.push(row);
	return Int32Array.from(rows);
}

const SAID: Partial<Record<Protocol, { rule: "abandoned" | "orphan" | "ambiguous"; what: string }>> = {
	abandoned: { rule: "abandoned", what: "a call has no result" },
	orphan: { rule: "orphan", what: "a result answers no call beside it" },
	ambiguous: { rule: "ambiguous", what: "calls and results do not pair one to one" },
};

function brokenPairs({ atoms, branch, table, format }: OpenSurvey): ResumeFinding[] {
	const { pairs } = CHECKS[format];
	const findings: ResumeFinding[] = [];
	if (pairs === null) return findings;
	for (let atom = 0; atom < atoms.length; atom++) {
		const said = SAID[atoms.protocolOf(atom)];
		// A call in a reply that is not sent is not there for anybody to answer.
		if (!said || (said.rule === "abandoned" && !atoms.has(atom, ATOM.SENT))) continue;
		const row = branch.messages.entriesOf(atoms.messageStart.at(atom))[0];
		findings.push({
			rule: said.rule,
			severity: pairs[said.rule],
			offset: table.start.at(row),
			entry: table.entryOf(row),
			message: `In ${atoms.refOf(atom)} ${said.what}.`,
		});
	}
	return findings;
}
