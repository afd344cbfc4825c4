/** The answer to a change of the plan: the range it was about, and compact totals. */
import type { PlanRange } from "../plan/plan.js";
import type { Transaction } from "../plan/transaction.js";
import { END_BOUND, PlanFigures, type RangeData } from "./plan-figures.js";
import { rangeLines, totalsText } from "./plan-text.js";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import type { Words } from "./words.js";

/** Units of the summary in data, and in the text. */
const SUMMARY_IN_DATA = 2_000;
const SUMMARY_IN_TEXT = 300;

/** `range`: as it stands in the plan, or as it stood there before it was removed. */
export async function changedAnswer(
	survey: Survey,
	transaction: Transaction,
	range: PlanRange,
	done: "Added" | "Changed" | "Removed",
	words: Words,
): Promise<Answer<RangeData>> {
	const figures = await PlanFigures.of(survey, transaction, done === "Removed" ? [range] : []);
	const shown = await figures.range(range, SUMMARY_IN_DATA);
	const [head, ...lines] = rangeLines(shown, { end: END_BOUND, summary: SUMMARY_IN_TEXT }, words);
	const way =
		shown.figures.pending && done !== "Removed"
			? [`${range.id} is pending: give it its summary by ${words.summarise(range.id)}.`]
			: [];
	const text = [`${done} ${head}`, ...lines, totalsText(figures.facts, words), ...way].join("\n");
	return { text, data: { ...figures.facts, range: shown.figures } };
}
