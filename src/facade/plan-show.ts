/** `plan_show`: the whole plan, every range with landmarks of what it takes away and of what it puts there. */
import type { Transaction } from "../plan/transaction.js";
import { defineAction } from "./action.js";
import { openTransaction } from "./open-plan.js";
import { type UsageFigures, usageOf, usageText } from "./overview.js";
import { END_BOUND, type PlanFacts, PlanFigures, type RangeFigures, type ShownRange } from "./plan-figures.js";
import { compactLine, rangeLines, totalsText } from "./plan-text.js";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import { count, fitting, plural, REPLY_BOUND } from "./text.js";
import { type TransactionFacts, transactionLines, transactionOf } from "./transaction-facts.js";
import type { Words } from "./words.js";

/** Ranges in data at most. */
const RANGES_LISTED = 500;
/** Units of a summary in data, and in the text. */
const SUMMARY_IN_DATA = 700;
const SUMMARY_IN_TEXT = { most: 600, least: 60 };
/** Units of end landmarks: the longest that leave room for summaries. */
const ENDS_IN_TEXT = [END_BOUND, 40];

export interface PlanData extends PlanFacts {
	transaction: TransactionFacts;
	usage: UsageFigures;
	/** In the order of the anchor; `totals.ranges` says how many there are in all. */
	ranges: RangeFigures[];
}

export const planShow = defineAction({
	name: "plan_show",
	description:
		"Show the plan that you share with the user: every range with its ends, size before and after, and its summary or <pending>.",
	fields: {},
	run: show,
});

async function show(survey: Survey, _request: object, words: Words): Promise<Answer<PlanData>> {
	const transaction = await openTransaction(survey, words);
	const figures = await PlanFigures.of(survey, transaction);
	const shown = await figures.ranges(transaction.plan.ranges.slice(0, RANGES_LISTED), SUMMARY_IN_DATA);
	const usage = usageOf(survey);
	const facts = transactionOf(transaction);
	const head = [`Usage: ${usageText(usage)}`, ...transactionLines(facts), totalsText(figures.facts, words)];
	const room = REPLY_BOUND - head.join("\n").length - 400;
	const lines = rangesText(shown, room, words);
	const text = [...head, "", ...lines, ...wayOn(transaction, lines.length, words)].join("\n");
	return { text, data: { ...figures.facts, transaction: facts, usage, ranges: shown.map((each) => each.figures) } };
}

/** One text a range: as many as fit, with landmarks as long as they all have room for, else on a line each. */
function rangesText(ranges: readonly ShownRange[], room: number, words: Words): string[] {
	for (const end of ENDS_IN_TEXT) {
		const blocks = (summary: number) => ranges.map((each) => rangeLines(each, { end, summary }, words).join("\n"));
		const bare = blocks(0).reduce((sum, block) => sum + block.length + 1, 0);
		const summary = Math.min(SUMMARY_IN_TEXT.most, Math.floor((room - bare) / Math.max(1, ranges.length)));
		if (summary >= SUMMARY_IN_TEXT.least) return blocks(summary);
	}
	const lines = ranges.map(({ figures }) => compactLine(figures));
	return lines.slice(0, fitting(lines, room));
}

function wayOn({ plan: { ranges } }: Transaction, shown: number, words: Words): string[] {
	if (ranges.length === 0) return [`No ranges yet: add them with ${words.addRange}.`];
	const ways = [""];
	if (shown < ranges.length) {
		const next = ranges[shown].id;
		ways.push(
			`${plural(ranges.length - shown, "more range")} not shown, in the order of the session from ${next} on; ${words.range(next)} shows one.`,
		);
	}
	const pending = ranges.filter(({ summary }) => summary === "");
	ways.push(
		pending.length > 0
			? `${count(pending.length)} pending: give the first its summary by ${words.summarise(pending[0].id)}.`
			: `Every range has its summary; only the user commits, with ${words.commitCommand}.`,
	);
	return ways;
}
