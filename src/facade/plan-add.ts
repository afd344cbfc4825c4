/** `plan_add`: one more range in the plan. */
import { Type } from "typebox";
import { rangeOf } from "../plan/plan.js";
import { checkRange } from "../plan/rules.js";
import { defineAction } from "./action.js";
import { changePlan, openTransaction } from "./open-plan.js";
import { changedAnswer } from "./plan-changed.js";
import { SUMMARY, summaryOf, TOPIC, topicOf } from "./plan-fields.js";
import type { RangeData } from "./plan-figures.js";
import { atomOf } from "./refs.js";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import type { Words } from "./words.js";

interface AddRequest {
	start: string;
	end: string;
	summary?: string;
	topic?: string;
}

export const planAdd = defineAction({
	name: "plan_add",
	description:
		"Add a range to the plan: all atoms from start to end, none protected, none in another range. Its ends cannot be moved later. Nothing in the session changes until the user commits.",
	fields: {
		start: Type.String({ description: "Ref of the first atom, such as a0001." }),
		end: Type.String({ description: "Ref of the last atom; it is in the range." }),
		summary: Type.Optional(SUMMARY),
		topic: Type.Optional(TOPIC),
	},
	run: add,
});

async function add(survey: Survey, request: AddRequest, words: Words): Promise<Answer<RangeData>> {
	const { atoms } = survey;
	const summary = summaryOf(request.summary ?? "");
	const topic = topicOf(request.topic ?? "");
	const { plan } = await openTransaction(survey, words);
	const start = atomOf(atoms, request.start, () => words.rangeRef("start"));
	const end = atomOf(atoms, request.end, () => words.rangeRef("end"));
	checkRange(atoms, plan, start, end);
	// Before the plan is held: a large range takes a while.
	const hash = await survey.hashOf(start, end);
	let id = "";
	const transaction = await changePlan(survey, words, (now) => {
		checkRange(atoms, now.plan, start, end);
		id = now.plan.nextRange;
		return { kind: "add", range: { id, start, end, topic, summary, hash } };
	});
	return changedAnswer(survey, transaction, rangeOf(transaction.plan.ranges, id), "Added", words);
}
