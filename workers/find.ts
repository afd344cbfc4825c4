/** Worker: which of the given atoms hold a pattern. Reads their rows back, one record in memory at a time. */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { Matcher, searchTexts } from "../src/search/match.js";
import { readAtoms } from "../src/search/places.js";
import type { FindResult, FindTask } from "../src/search/tasks.js";

export type { FindResult, FindTask } from "../src/search/tasks.js";

export default async function find({ from, atoms, pattern }: FindTask): Promise<FindResult> {
	try {
		return await findIn({ from, atoms, pattern });
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

async function findIn({ from, atoms, pattern }: FindTask): Promise<FindResult> {
	const matches = new Uint8Array(atoms.atomStart.length - 1);
	const matcher = new Matcher(pattern);
	let current = -1;
	for await (const { atom, facts } of readAtoms(from, atoms)) {
		if (atom !== current) matcher.reset();
		current = atom;
		if (matches[atom] === 1) continue;
		for (const text of searchTexts(facts)) {
			if (matcher.add(text) === null) continue;
			matches[atom] = 1;
			break;
		}
	}
	return matches;
}
