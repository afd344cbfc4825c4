/** Whether the anchor of another transaction lies on the branch of a survey, or the survey's own on the other's. */
import { asMidcompactError } from "../errors.js";
import type { AnchorFacts } from "../plan/store.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import type { OpenSurvey } from "./survey.js";

/** True as well where the other anchor is no longer in the file: nobody can tell, and two plans on one branch would be worse than one refusal. */
export async function sameBranch(survey: OpenSurvey, other: AnchorFacts): Promise<boolean> {
	const { table, branch, format } = survey;
	if (survey.anchor === other.entry) return true;
	try {
		// Scope `path` needs no items that are not in the table, and walks the same links.
		const theirs = await CONTEXTS[format].branch(table, { scope: "path", leaf: other.entry, memory: false });
		return theirs.walked[branch.leaf] === 1 || (theirs.leaf >= 0 && branch.walked[theirs.leaf] === 1);
	} catch (thrown) {
		if (asMidcompactError(thrown).code === "unknown_ref") return true;
		throw thrown;
	}
}
