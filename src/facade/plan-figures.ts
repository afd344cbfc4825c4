/** The figures of a plan: what its ranges hold now, and what would stand in their place. */
import type { Plan, PlanRange } from "../plan/plan.js";
import type { Transaction } from "../plan/transaction.js";
import { type Ends, endsOf, type Landmark, landmarkOf } from "../search/landmark.js";
import { breathe } from "../session/breathe.js";
import { TOPIC_BOUND } from "./plan-fields.js";
import { type ReplacementSize, replacementSizes, textPacer } from "./replacements.js";
import { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { oneLine, wellFormed } from "./text.js";
import { leadsOf } from "./texts.js";

/** Units of an end landmark. */
export const END_BOUND = 120;

/** One range, in the field names of the reply. Chars, images and tokens are those of sent atoms, as in `measure`. */
export interface RangeFigures {
	id: string;
	start: string;
	end: string;
	/** Empty: none. */
	topic: string;
	/** A landmark where it is longer than the reply shows; empty: pending. */
	summary: string;
	/** Code points of the summary that are not shown. */
	summary_omitted: number;
	pending: boolean;
	from: string;
	to: string;
	atoms: number;
	chars: number;
	/** Of the whole message that replaces the range; 0 while it is pending. */
	replacement_chars: number;
	images: number;
	image_bytes: number;
	/** Null until all atoms of the range are counted. */
	tokens: number | null;
	replacement_tokens: number;
}

/** A range with its figures, and its summary for other landmarks of at most the same bound. */
export interface ShownRange {
	figures: RangeFigures;
	summary: Ends;
}

export interface PlanTotals {
	ranges: number;
	pending: number;
	atoms: number;
	chars: number;
	replacement_chars: number;
	images: number;
	tokens: number | null;
	replacement_tokens: number;
}

/** What every reply about a plan says beside its ranges. */
export interface PlanFacts {
	revision: number;
	/** Equal digests are equal plans on the same anchor. */
	digest: string;
	totals: PlanTotals;
}

/** A reply about one range. */
export interface RangeData extends PlanFacts {
	range: RangeFigures;
}

export class PlanFigures {
	readonly facts: PlanFacts;
	readonly #survey: Survey;
	readonly #sums: Sums;
	readonly #replacements: ReadonlyMap<string, ReplacementSize>;

	private constructor(
		survey: Survey,
		sums: Sums,
		{ plan, digest }: Transaction,
		replacements: ReadonlyMap<string, ReplacementSize>,
	) {
		this.#survey = survey;
		this.#sums = sums;
		this.#replacements = replacements;
		this.facts = { revision: plan.revision, digest, totals: this.#totals(plan) };
	}

	/** The figures of a transaction's plan. Errors: those of `countTexts`. */
	static async of(survey: Survey, transaction: Transaction, others: readonly PlanRange[] = []): Promise<PlanFigures> {
		const ranges = [...transaction.plan.ranges, ...others];
		const replacements = await replacementSizes(survey, ranges);
		const byId = new Map(ranges.map(({ id }, i) => [id, replacements[i]]));
		return new PlanFigures(survey, await Sums.of(survey), transaction, byId);
	}

	/** Figures of ranges of the plan, in their order; summaries of at most `bound` units. Reads back two texts a range. */
	async ranges(ranges: readonly PlanRange[], bound: number): Promise<ShownRange[]> {
		const ends = ranges.flatMap(({ start, end }) => [start, end]);
		const leads = await leadsOf(this.#survey, ends, END_BOUND);
		const shown: ShownRange[] = [];
		const pause = textPacer();
		for (const range of ranges) {
			if (pause(range.summary)) await breathe();
			const summary = endsOf(wellFormed(range.summary), bound);
			shown.push({ summary, figures: this.#rangeOf(range, leads, landmarkOf(summary, bound)) });
		}
		return shown;
	}

	async range(range: PlanRange, bound: number): Promise<ShownRange> {
		return (await this.ranges([range], bound))[0];
	}

	#rangeOf(range: PlanRange, leads: ReadonlyMap<number, string>, summary: Landmark): RangeFigures {
		const { id, start, end } = range;
		const { atoms } = this.#survey;
		return {
			id,
			start: atoms.refOf(start),
			end: atoms.refOf(end),
			topic: oneLine(range.topic, TOPIC_BOUND),
			summary: summary.text,
			summary_omitted: summary.omitted,
			pending: range.summary === "",
			from: leads.get(start) ?? "",
			to: leads.get(end) ?? "",
			...this.#sizes(range),
		};
	}

	#sizes({ id, start, end }: PlanRange) {
		const sums = this.#sums;
		const replacement = this.#replacements.get(id);
		return {
			atoms: end + 1 - start,
			chars: sums.chars[end + 1] - sums.chars[start],
			replacement_chars: replacement?.chars ?? 0,
			images: sums.images[end + 1] - sums.images[start],
			image_bytes: sums.imageBytes[end + 1] - sums.imageBytes[start],
			tokens: sums.tokens.sum(start, end + 1),
			replacement_tokens: replacement?.tokens ?? 0,
		};
	}

	#totals({ ranges }: Plan): PlanTotals {
		const totals: PlanTotals = {
			ranges: ranges.length,
			pending: 0,
			atoms: 0,
			chars: 0,
			replacement_chars: 0,
			images: 0,
			tokens: 0,
			replacement_tokens: 0,
		};
		for (const range of ranges) {
			const sizes = this.#sizes(range);
			if (range.summary === "") totals.pending++;
			totals.atoms += sizes.atoms;
			totals.chars += sizes.chars;
			totals.replacement_chars += sizes.replacement_chars;
			totals.images += sizes.images;
			totals.tokens = totals.tokens === null || sizes.tokens === null ? null : totals.tokens + sizes.tokens;
			totals.replacement_tokens += sizes.replacement_tokens;
		}
		return totals;
	}
}
