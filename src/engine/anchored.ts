/** The branch that a transaction froze, found again in the file as it is now. */
import { asMidcompactError, MidcompactError } from "../errors.js";
import type { AnchorFacts } from "../plan/store.js";
import type { ReadSource } from "./read.js";
import type { OpenSurvey } from "./survey.js";

/** Errors: `range_changed` when what the transaction froze is no longer in the file; `unreadable`, `cancelled`. */
export async function anchoredSurvey(read: ReadSource, anchor: AnchorFacts): Promise<OpenSurvey> {
	const { format, scope, entry } = anchor;
	if (read.loaded.format !== format) throw gone(anchor);
	const survey = await read.survey({ scope, leaf: entry }).catch((thrown) => {
		if (asMidcompactError(thrown).code !== "unknown_ref") throw thrown;
		return foundAgain(read, anchor);
	});
	if (!survey || survey.atoms.length !== anchor.atoms || survey.branch.messages.length !== anchor.messages)
		throw gone(anchor);
	return survey;
}

/** By content, where the host gave the entries new ids (RULINGS 14): the first so many atoms of the branch as it is now. Null when they are others. */
async function foundAgain(read: ReadSource, { scope, atoms, hash }: AnchorFacts): Promise<OpenSurvey | null> {
	const now = await read.survey({ scope, leaf: null });
	if (now.atoms.length < atoms || (await now.hashOf(0, atoms - 1)) !== hash) return null;
	const entries = now.branch.messages.entriesOf(now.atoms.messageStart.at(atoms) - 1);
	return read.survey({ scope, leaf: now.table.entryOf(entries[entries.length - 1]) });
}

function gone({ entry }: AnchorFacts): MidcompactError {
	return new MidcompactError(
		"range_changed",
		`What the transaction froze (up to the entry ${entry}) is no longer in the session as it was.`,
	);
}
