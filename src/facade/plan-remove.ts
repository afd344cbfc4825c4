/** `plan_remove`: a range less in the plan. */
import { type PlanRange, rangeOf } from "../plan/plan.js";
import { defineAction } from "./action.js";
import { changePlan } from "./open-plan.js";
import { changedAnswer } from "./plan-changed.js";
import { RANGE_ID } from "./plan-fields.js";
import type { RangeData } from "./plan-figures.js";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import type { Words } from "./words.js";

export const planRemove = defineAction({
	name: "plan_remove",
	description: "Take a range out of the plan, its summary with it. Its id is not used again.",
	fields: { range_id: RANGE_ID },
	run: remove,
});

/** `range` of the answer is the one that is gone. */
async function remove(
	survey: Survey,
	{ range_id: id }: { range_id: string },
	words: Words,
): Promise<Answer<RangeData>> {
	const removed: PlanRange[] = [];
	const transaction = await changePlan(survey, words, ({ plan }) => {
		removed[0] = rangeOf(plan.ranges, id);
		return { kind: "remove", id };
	});
	return changedAnswer(survey, transaction, removed[0], "Removed", words);
}
