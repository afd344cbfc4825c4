/** One request in, one reply out. Never throws: every failure is an error reply. */
import { asMidcompactError } from "../errors.js";
import { errorReply, okReply, type Reply } from "./reply.js";
import type { Survey } from "./survey.js";
import { validateEnvelope } from "./validate.js";
import { FACADE_WORDS, type Words } from "./words.js";

/**
 * Answers `{"request":{"action":…}}` on an open session. The text of the reply keeps the action's bound: 12,000 UTF-16 units, 40,000 where whole texts are read. Error codes: those of
 * `validateEnvelope`, those of the action, and `unreadable` or `internal` where reading back a text failed. `words`: what the texts call things;
 * they never change the data.
 */
export async function handleRequest(survey: Survey, envelope: unknown, words: Words = FACADE_WORDS): Promise<Reply> {
	try {
		const { action, request } = validateEnvelope(envelope);
		return okReply(action.name, await action.run(survey, request, words), action.bound);
	} catch (thrown) {
		return errorReply(asMidcompactError(thrown));
	}
}
