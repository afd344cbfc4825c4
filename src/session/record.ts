/** The words between a format's bytes and the rest of the engine: what one record says, free of any format's field names. */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
	[key: string]: JsonValue | undefined;
}

export const ROLES = ["system", "user", "assistant", "tool_result", "bash", "summary", "custom", "other"] as const;
/** Role of a normalised message (CONTRACT section 4). */
export type Role = (typeof ROLES)[number];

export const FORMATS = ["pi", "claude-code", "codex", "openai-chat", "anthropic"] as const;
export type FormatName = (typeof FORMATS)[number];

/**
 * Who must answer a call: `result` a result with its id; `by_name` the next result of that name (protocols without ids);
 * `none` nobody, the host or the server answered it already (RULINGS 12).
 */
export type Answer = "result" | "by_name" | "none";

/**
 * One piece of a record, in the order in which it is stored.
 * `text.from` says whose words these are: the message's own, a tool result's, a bash command or its output, or text that
 * the host put beside the message (`reminder`).
 * A `tool_result` part only opens a result: the texts and images behind it with `from: "result"` are its content. An image's `bytes` are those of
 * the decoded payload, width and height are pixels.
 */
export type Part =
	| { type: "text"; text: string; from: "own" | "result" | "command" | "output" | "reminder" }
	| { type: "thinking"; text: string }
	| { type: "tool_call"; id: string | null; name: string; arguments: string | null; answer: Answer }
	| { type: "tool_result"; id: string | null; name: string | null; byName: boolean }
	| {
			type: "image";
			mime: string;
			bytes: number;
			width: number | null;
			height: number | null;
			from: "own" | "result" | "reminder";
	  }
	| { type: "opaque"; what: string };

/** Tokens that the host recorded for one reply. Null where the host gave no such number. */
export interface Usage {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	window: number | null;
}

/**
 * Marks of a row. Bits 0-7 are set by a format's reader and mean the same in all formats, bits 8-15 are derived from the parts while a
 * record is measured, bits 16-31 belong to the format alone (its `context.ts` reads what its `read.ts` wrote).
 */
export const FLAG = {
	/** The host wrote this text, no person typed it (RULINGS 17). */
	HOST: 1 << 0,
	/** Stored but not sent to the model (RULINGS 5). */
	UNSENT: 1 << 1,
	/** The reply that holds this usage is no valid source for it: error, abort, synthetic (RULINGS 19). */
	INVALID_USAGE: 1 << 2,
	/** Text that hangs on another message: counted with it, no message of its own (RULINGS 6). */
	ATTACHED: 1 << 3,

	/** Own words or an image: a user message with this leads a group. */
	WORDS: 1 << 8,
	/** Own text or thinking that is not empty. */
	TEXT: 1 << 9,
	/** Nothing but a text that starts with the block mark (RULINGS 16). */
	BLOCK: 1 << 10,
	/** Holds at least one call. */
	CALLS: 1 << 11,
} as const;

/** First bit that a format may use for its own marks. */
export const FORMAT_FLAG_SHIFT = 16;

/** What a format's `read.ts` finds in one record. Everything here is small but the texts inside `parts`. */
export interface RecordFacts {
	/** The format's own code for the kind of record, 0-255. */
	type: number;
	/** Bits of {@link FLAG} and of the format. */
	flags: number;
	/** Null: not a message by itself (a link of the chain, an edit, a header). Its parts are measured all the same. */
	role: Role | null;
	/** The format's own entry id; null where the record has none. */
	id: string | null;
	/** Id of the parent entry; null where there is none. */
	parent: string | null;
	/** Id shared by the records of one message (Claude Code `message.id`). */
	group: string | null;
	/** Milliseconds since 1970, NaN when absent or no date. */
	time: number;
	parts: Part[];
	usage: Usage | null;
	/** Facts of a rare record that `context.ts` needs (a compaction, a header). Small and bounded; never a body. */
	meta: JsonObject | null;
}

/** A reader's start for a record: fill in what the record says. */
export function emptyFacts(type: number): RecordFacts {
	return {
		type,
		flags: 0,
		role: null,
		id: null,
		parent: null,
		group: null,
		time: Number.NaN,
		parts: [],
		usage: null,
		meta: null,
	};
}

/**
 * The texts that make up the content of a record, in order (CONTRACT section 6). Ids, signatures, image payloads and labels are not content.
 */
export function contentTexts(parts: readonly Part[]): string[] {
	const texts: string[] = [];
	for (const part of parts) {
		if (part.type === "text" || part.type === "thinking") texts.push(part.text);
		else if (part.type === "tool_call") {
			texts.push(part.name);
			if (part.arguments !== null) texts.push(part.arguments);
		}
	}
	return texts;
}

export function isObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function stringOrNull(value: unknown): string | null {
	return typeof value === "string" && value !== "" ? value : null;
}

/** Milliseconds of an ISO date or a number that already is milliseconds; NaN for anything else. */
export function timeOf(value: unknown): number {
	if (typeof value === "number") return value;
	return typeof value === "string" ? Date.parse(value) : Number.NaN;
}
