/** Worker task: what inside single records would keep the host from resuming a session. */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { CHECKS } from "../src/session/formats/checks.js";
import { GIANT_RECORD } from "../src/session/giant.js";
import { countFinding, type RecordFinding, type RuleCount } from "../src/session/resume.js";
import { RecordReader, type RowPlaces, type RowSource } from "../src/session/rows.js";

export interface ResumeTask {
	from: RowSource;
	places: RowPlaces;
}

/** Findings by the index of the place, as far as they are kept: the first of each rule are. */
export interface ResumeResult {
	findings: { index: number; finding: RecordFinding }[];
	/** All of them, kept or not, by rule and severity. */
	counts: RuleCount[];
}

/** Findings of one task that are kept. */
const KEPT = 100;

/** Records above 64 MiB are not looked into. Errors: `unreadable` when the session changed. */
export default async function resume(task: ResumeTask): Promise<ResumeResult> {
	try {
		return await checkRows(task);
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

async function checkRows({ from, places }: ResumeTask): Promise<ResumeResult> {
	const { record: check } = CHECKS[from.format];
	const reader = new RecordReader(from);
	const result: ResumeResult = { findings: [], counts: [] };
	try {
		for (let index = 0; index < places.start.length; index++) {
			// The items of one record stand beside each other: it is looked at once.
			const again = index > 0 && places.start[index - 1] === places.start[index];
			if (again || places.end[index] - places.start[index] > GIANT_RECORD) continue;
			const { value, field } = await reader.at(places, index);
			if (field) continue;
			for (const finding of check(value)) {
				const sameRule = countFinding(result.counts, finding);
				if (result.findings.length < KEPT || sameRule === 1) result.findings.push({ index, finding });
			}
		}
	} finally {
		reader.close();
	}
	return result;
}
