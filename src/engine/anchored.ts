/** The branch that a transaction froze, found again in the file as it is now. */
import { asMidcompactError, MidcompactError } from "../errors.js";
import type { AnchorFacts } from "../plan/store.js";
import type { ReadSource } from "./read.js";
import type { OpenSurvey } from "./survey.js";

/** Errors: `range_changed` when what the transaction froze is no longer in the file; `unreadable`, `cancelled`. */
export async function anchoredSurvey(read: ReadSource, anchor: AnchorFacts): Promise<OpenSurvey> {
	const { format, scope, entry } = anchor;
	if (read.loaded.format !== format) throw gone(anchor);
	const named = await read.survey({ scope, leaf: entry }).catch((thrown) => {
		if (asMidcompactError(thrown).code !== "unknown_ref") throw thrown;
		return null;
	});
	const survey = named && fits(named, anchor) ? named : await foundAgain(read, anchor);
	if (!survey) throw gone(anchor);
	return survey;
}

function fits({ atoms, branch }: OpenSurvey, anchor: AnchorFacts): boolean {
	return atoms.length === anchor.atoms && branch.messages.length === anchor.messages;
}

/**
 * By content, where the host gave the entries new ids (RULINGS 14) or the leaf alone does not name all that was frozen: the first so many atoms of the branch as it is now. Null when
 * they are others.
 */
async function foundAgain(read: ReadSource, anchor: AnchorFacts): Promise<OpenSurvey | null> {
	const { scope, atoms, hash } = anchor;
	const now = await read.survey({ scope, leaf: null });
	if (now.atoms.length < atoms || (await now.hashOf(0, atoms - 1)) !== hash) return null;
	if (fits(now, anchor)) return now;
	const entries = now.branch.messages.entriesOf(now.atoms.messageStart.at(atoms) - 1);
	const again = await read.survey({ scope, leaf: now.table.entryOf(entries[entries.length - 1]) });
	return fits(again, anchor) ? again : null;
}

function gone({ entry }: AnchorFacts): MidcompactError {
	return new MidcompactError(
		"range_changed",
		`What the transaction froze (up to the entry ${entry}) is no longer in the session as it was.`,
	);
}
