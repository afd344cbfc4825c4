/** `plan_update`: another summary or topic for a range. */
import { Type } from "typebox";
import { MidcompactError } from "../errors.js";
import { rangeOf } from "../plan/plan.js";
import { defineAction } from "./action.js";
import { changePlan } from "./open-plan.js";
import { changedAnswer } from "./plan-changed.js";
import { RANGE_ID, SUMMARY, summaryOf, TOPIC, topicOf } from "./plan-fields.js";
import type { RangeData } from "./plan-figures.js";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import type { Words } from "./words.js";

const BOUNDARIES = "The boundaries of a range never change in place: plan_remove it, then plan_add the new one.";

interface UpdateRequest {
	range_id: string;
	summary?: string;
	topic?: string;
}

export const planUpdate = defineAction({
	name: "plan_update",
	description:
		"Change the summary or the topic of a range, or both; an empty one is taken away. Its boundaries never change: remove it and add another.",
	fields: { range_id: RANGE_ID, summary: Type.Optional(SUMMARY), topic: Type.Optional(TOPIC) },
	elsewhere: { start: BOUNDARIES, end: BOUNDARIES },
	run: update,
});

async function update(survey: Survey, request: UpdateRequest, words: Words): Promise<Answer<RangeData>> {
	const { range_id: id } = request;
	if (request.summary === undefined && request.topic === undefined) {
		throw new MidcompactError(
			"missing_field",
			'plan_update needs at least one of "summary" and "topic".',
			"Add one of them.",
		);
	}
	const summary = request.summary === undefined ? undefined : summaryOf(request.summary);
	const topic = request.topic === undefined ? undefined : topicOf(request.topic);
	const transaction = await changePlan(survey, words, ({ plan }) => {
		rangeOf(plan.ranges, id);
		return {
			kind: "update",
			id,
			...(summary !== undefined && { summary }),
			...(topic !== undefined && { topic }),
		};
	});
	return changedAnswer(survey, transaction, rangeOf(transaction.plan.ranges, id), "Changed", words);
}
