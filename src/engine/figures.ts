/** What a plan would make of an anchor, in numbers. */
import { Sums } from "../facade/sums.js";
import type { MessageFigures, ProjectData } from "../facade/transaction.js";
import type { PlanRange } from "../plan/plan.js";
import { codePoints } from "../session/code-points.js";
import type { Replacement } from "../session/fork.js";
import type { OpenSurvey } from "./survey.js";

export type Projection = Pick<ProjectData, "before" | "after" | "first_change">;

/** Messages, chars and images of a survey, as they are sent. */
export async function sizesOf(survey: OpenSurvey): Promise<Omit<MessageFigures, "tokens">> {
	const sums = await Sums.of(survey);
	const n = survey.atoms.length;
	return { messages: survey.branch.messages.length, chars: sums.chars[n], images: sums.images[n] };
}

/** Figures of the anchor as it is sent, and as it would be with the replacements of the ranges. `ranges` and `replacements` stand side by side. */
export async function projectionOf(
	survey: OpenSurvey,
	ranges: readonly PlanRange[],
	replacements: readonly Replacement[],
): Promise<Projection> {
	const sums = await Sums.of(survey);
	const n = survey.atoms.length;
	const tokensOf = await survey.countTexts(replacements.map(({ message }) => message.text));
	const before: MessageFigures = { ...(await sizesOf(survey)), tokens: sums.tokens.sum(0, n) };
	const after = { ...before };
	ranges.forEach(({ start, end }, i) => {
		const { from, to, message } = replacements[i];
		const tokens = sums.tokens.sum(start, end + 1);
		after.messages -= to - from - 1;
		after.chars -= sums.chars[end + 1] - sums.chars[start] - codePoints(message.text);
		after.images -= sums.images[end + 1] - sums.images[start];
		after.tokens = after.tokens === null || tokens === null ? null : after.tokens - tokens + tokensOf[i];
	});
	if (ranges.length === 0) return { before, after, first_change: null };
	const first = ranges[0].start;
	const system = survey.tokens.ofSystem();
	const kept = sums.tokens.sum(0, first);
	return {
		before,
		after,
		first_change: {
			ref: survey.atoms.refOf(first),
			message: replacements[0].from + 1,
			tokens_before: kept === null || system === null ? null : kept + system,
			tokens_after: after.tokens === null || kept === null ? null : after.tokens - kept,
		},
	};
}
