/** The words that `read.ts` and `context.ts` of this folder share: kinds of rows and the format's own flags. */
import { FORMAT_FLAG_SHIFT } from "../../record.js";

/** `type` of a row. */
export const ROW = {
	/** `session_meta`. Its parts are the base instructions. */
	META: 1,
	/** One response item, on a line of its own or inside `replacement_history`. */
	ITEM: 2,
	/** `compacted`. */
	COMPACTED: 3,
	/** `thread_rolled_back`. */
	ROLLBACK: 4,
	TURN_START: 5,
	TURN_END: 6,
	TURN_ABORTED: 7,
	TURN_CONTEXT: 8,
	/** The event `user_message`: a copy of a prompt for the screen, which also marks its turn as a user's. */
	USER_EVENT: 9,
	/** Any other event that holds a copy of a user or agent message. */
	WORDS_EVENT: 10,
	/** `token_count` with the usage of the last reply. */
	USAGE: 11,
	/** A response item of a kind that this reader does not know. */
	UNKNOWN_ITEM: 12,
	/** A line that Codex itself drops when it reads the file. */
	UNREADABLE: 13,
	/** `world_state`: what the model was told of its surroundings, whole or as a change of the one before. */
	WORLD_STATE: 14,
	/** The event `item_completed` with a user message: unlike other events it stands behind the item that it copies. */
	USER_ITEM_EVENT: 15,
} as const;

/** `history_base` in the meta of a header that continues another file, but not in a way that can be followed. */
export const LOST_BASE = "lost";

/** Flags of a row that only this format reads. The `group` of the TURN rows is the turn's id. */
export const MARK = {
	/** Starts a turn, as Codex counts turns for a rollback. */
	TURN: 1 << FORMAT_FLAG_SHIFT,
	/** Context that the host wrote before a turn: a rollback of the turn takes it along. */
	CONTEXTUAL: 1 << (FORMAT_FLAG_SHIFT + 1),
	/** Another agent's message. */
	AGENT: 1 << (FORMAT_FLAG_SHIFT + 2),
	REASONING: 1 << (FORMAT_FLAG_SHIFT + 3),
	/** A line without envelope, as versions until September 2025 wrote them. */
	FLAT: 1 << (FORMAT_FLAG_SHIFT + 4),
	/** A line without an ordinal. */
	UNNUMBERED: 1 << (FORMAT_FLAG_SHIFT + 5),
} as const;

/** Fields of a header without which Codex refuses the file (seen in 0.171), and what stands in for them. */
export const HEADER_DEFAULTS = { cwd: "/", originator: "midcompact", cli_version: "0.0.0" } as const;
