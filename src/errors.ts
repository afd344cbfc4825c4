/** Every failure a caller can see: a stable code, one sentence, one hint. The same object travels over library, command line and tool. */
const TABLE = {
	unknown_action: "Use one of the actions that the schema lists.",
	invalid_request: 'Send one object of the form {"request":{"action":"inspect"}}.',
	unknown_field: "Remove the field, or look its name up in the schema of the action.",
	missing_field: "Add the field that the action needs.",
	invalid_field: "Give the field a value of the type and range that the schema names.",
	unknown_ref: "Take atom refs such as a0001 from the survey or a search of this same session.",
	label_not_ref: "A g… label is for display only: use the start and end refs that inspect lists beside it.",
	reversed: "Give the earlier atom as start and the later one as end.",
	protected_atom: "Take the ranges around the protected atom instead.",
	overlap: "Remove the other range first, or choose atoms outside it.",
	unknown_range: "Take the range's id from plan_show.",
	unknown_block: "Take the block's id from recall_list.",
	no_transaction: "Only the user starts a transaction: on the command line with `midcompact start SESSION`.",
	transaction_active: "Commit or abort the transaction that is open before another one is started.",
	empty_plan: "Add ranges with summaries to the plan before it is committed.",
	pending_summary: "Give every range its summary with plan_update, or remove it.",
	range_changed: "The session file is no longer what the plan was made on: abort, and start again on it as it is now.",
	plan_changed: "Look at the plan again and give its new digest.",
	locked: "Try again when the holder is done.",
	output_exists: "Choose another name: nothing is ever overwritten.",
	invalid_output: "Choose a place where the session can be written and its host finds it.",
	archive_damaged: "The originals may still stand in the session file that the block was made from.",
	state_unavailable: "Check MIDCOMPACT_STATE_DIR and the permissions of the folder it names.",
	invalid_cursor: "Call inspect without a cursor to start from the first page.",
	unknown_format: "Name the format with --format (library: format) if the file is a session after all.",
	not_a_session: "Give a session file of one of the supported agents.",
	unreadable: "Check the path and its permissions, then open the session again.",
	cancelled: "Call again; nothing was changed.",
	internal: "This is a fault of the engine: please report it with the command that led to it.",
} as const;

/** Stable error code: callers branch on it, texts may change. */
export type ErrorCode = keyof typeof TABLE;

/** Plain form of an error, as it stands in a reply and in JSON. */
export interface ErrorInfo {
	code: ErrorCode;
	message: string;
	hint: string;
}

/** Thrown by the library for every foreseeable failure. `message` is one sentence; `hint` says what to do. */
export class MidcompactError extends Error {
	readonly code: ErrorCode;
	readonly hint: string;

	constructor(code: ErrorCode, message: string, hint: string = TABLE[code], cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.name = "MidcompactError";
		this.code = code;
		this.hint = hint;
	}

	toJSON(): ErrorInfo {
		return { code: this.code, message: this.message, hint: this.hint };
	}
}

/** Turns anything thrown into a {@link MidcompactError}; what is not one becomes `internal`, without its stack. */
export function asMidcompactError(thrown: unknown): MidcompactError {
	if (thrown instanceof MidcompactError) return thrown;
	if (thrown instanceof Error) {
		// Errors cross the thread border as plain Error objects that keep their own properties' values only in `message`.
		const info = decodeThreadError(thrown.message);
		if (info) return new MidcompactError(info.code, info.message, info.hint);
		if (thrown.name === "AbortError") return new MidcompactError("cancelled", "The work was cancelled.");
		return new MidcompactError("internal", `Unexpected failure: ${thrown.message}`, TABLE.internal, thrown);
	}
	return new MidcompactError("internal", `Unexpected failure: ${String(thrown)}`);
}

const THREAD_MARK = "midcompact:";

/** An Error whose message carries the code and hint through structured cloning, which drops custom fields. */
export function encodeThreadError(error: MidcompactError): Error {
	return new Error(THREAD_MARK + JSON.stringify(error.toJSON()));
}

function decodeThreadError(message: string): ErrorInfo | null {
	if (!message.startsWith(THREAD_MARK)) return null;
	return JSON.parse(message.slice(THREAD_MARK.length)) as ErrorInfo;
}
