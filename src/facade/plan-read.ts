/** `plan_read`: one range with its whole summary, and what of the originals would be lost. */
import type { LossReport } from "../plan/losses.js";
import { rangeOf } from "../plan/plan.js";
import { defineAction } from "./action.js";
import { boundedLosses, lossLines } from "./losses.js";
import { openTransaction } from "./open-plan.js";
import { RANGE_ID, SUMMARY_BOUND } from "./plan-fields.js";
import { PlanFigures, type RangeData } from "./plan-figures.js";
import { headText, sizesText, totalsText } from "./plan-text.js";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import { plural, READ_BOUND } from "./text.js";
import type { Words } from "./words.js";

export interface RangeReadData extends RangeData {
	/** What of the originals stands neither in the summary nor in what is kept; null while the range is pending, and where it cannot be told. */
	losses: LossReport | null;
}

export const planRead = defineAction({
	name: "plan_read",
	description:
		"Read one range of the plan with its whole summary, and which paths, commands, errors, numbers and identifiers of its originals the summary leaves out.",
	fields: { range_id: RANGE_ID },
	bound: READ_BOUND,
	run: read,
});

async function read(
	survey: Survey,
	{ range_id: id }: { range_id: string },
	words: Words,
): Promise<Answer<RangeReadData>> {
	const transaction = await openTransaction(survey, words);
	const range = rangeOf(transaction.plan.ranges, id);
	const figures = await PlanFigures.of(survey, transaction);
	const [{ figures: shown }, found] = await Promise.all([
		figures.range(range, SUMMARY_BOUND),
		range.summary === "" ? null : survey.losses(range, transaction.plan),
	]);
	const losses = found && boundedLosses(found);
	const text = [
		`${headText(shown)}${shown.topic === "" ? "" : ` | ${shown.topic}`}`,
		`   from: ${shown.from}`,
		`   to:   ${shown.to}`,
		`   ${sizesText(shown, words)}`,
		totalsText(figures.facts, words),
		...(losses === null ? [] : ["", ...lossLines(losses)]),
		"",
		...(shown.pending
			? [`Summary: <pending>; give it one by ${words.summarise(id)}.`]
			: [
					`Summary${shown.summary_omitted > 0 ? `, ${plural(shown.summary_omitted, "char")} not shown` : ""}:`,
					shown.summary,
				]),
	].join("\n");
	return { text, data: { ...figures.facts, range: shown, losses } };
}
