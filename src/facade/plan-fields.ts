/** The fields of a range as a request gives them: what is taken, and in which form. */
import { Type } from "typebox";
import { MidcompactError } from "../errors.js";
import { count, oneLine, READ_BOUND, wellFormed } from "./text.js";

/** Units of a topic. */
export const TOPIC_BOUND = 200;
/** Units that `plan_read` keeps for what stands around a summary. */
const AROUND = 4_000;
/** Units of a summary: `plan_read` shows the longest one whole. */
export const SUMMARY_BOUND = READ_BOUND - AROUND;

export const RANGE_ID = Type.String({ description: "Id of the range such as d1, as plan_show lists it." });
export const SUMMARY = Type.String({
	description: `What replaces the range, at most ${count(SUMMARY_BOUND)} characters; empty: pending.`,
});
export const TOPIC = Type.String({
	description: `A few words on one line that name the range, at most ${TOPIC_BOUND} characters; empty: none.`,
});

/** The summary as the plan keeps it: well-formed, without white space around it. Errors: `invalid_field` when it is too long. */
export function summaryOf(given: string): string {
	const summary = wellFormed(given.trim());
	if (summary.length > SUMMARY_BOUND) throw tooLong("summary", summary.length, SUMMARY_BOUND);
	return summary;
}

/** The topic as the plan keeps it: on one line, line ends and control characters as spaces. Errors: `invalid_field` when it is too long. */
export function topicOf(given: string): string {
	// What is far too long is refused as it is, and never rewritten as a whole.
	const topic = given.length > SUMMARY_BOUND ? given : oneLine(given, SUMMARY_BOUND);
	if (topic.length > TOPIC_BOUND) throw tooLong("topic", topic.length, TOPIC_BOUND);
	return topic;
}

function tooLong(field: string, length: number, bound: number): MidcompactError {
	return new MidcompactError(
		"invalid_field",
		`Field "${field}" has ${count(length)} characters (UTF-16 units); at most ${count(bound)} are taken.`,
		"Shorten it.",
	);
}
