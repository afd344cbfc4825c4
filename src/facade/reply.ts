/** The two forms of an answer. A reply's text never exceeds its bound, whatever the action did. */
import type { ErrorInfo, MidcompactError } from "../errors.js";
import { clip, wellFormed } from "./text.js";

/** What an action found: `text` for an agent to read, `data` the same facts as JSON (field names in snake_case). */
export interface Answer<D extends object = object> {
	text: string;
	data: D;
}

export interface OkReply<D extends object = object> {
	ok: true;
	action: string;
	/** Within the bound of the action, in UTF-16 units. */
	text: string;
	data: D;
}

export interface ErrorReply {
	ok: false;
	error: ErrorInfo;
	text: string;
}

/** Plain JSON, the same over library, command line and tool. */
export type Reply<D extends object = object> = OkReply<D> | ErrorReply;

/** Units of an error's message and of its hint. */
const ERROR_BOUND = 2_000;

/** The reply to an action; its text is cut at `bound` units: actions fit their text themselves, this only makes sure. */
export function okReply<D extends object>(action: string, answer: Answer<D>, bound: number): OkReply<D> {
	return { ok: true, action, text: clip(wellFormed(answer.text), bound), data: answer.data };
}

/** The reply for a failure: code, sentence and hint, without a stack. */
export function errorReply(error: MidcompactError): ErrorReply {
	const info: ErrorInfo = {
		code: error.code,
		message: clip(wellFormed(error.message), ERROR_BOUND),
		hint: clip(wellFormed(error.hint), ERROR_BOUND),
	};
	return { ok: false, error: info, text: `Error ${info.code}: ${info.message}\nHint: ${info.hint}` };
}
