/** What `read.ts` writes into the columns of a Pi session and `context.ts` reads there. */
import { FORMAT_FLAG_SHIFT } from "../../record.js";

/** Kinds of rows. */
export const TYPE = {
	/** An entry that is only a link of the chain: settings, state, usage, kinds unknown here. */
	LINK: 0,
	/** Line 1 of the file; no entry of the tree. Meta: {@link HeaderMeta}. */
	HEADER: 1,
	/** An entry that becomes at most one message: `message`, `custom_message`, `branch_summary`. */
	MESSAGE: 2,
	/** A message without an entry around it, as a host holds it in memory. */
	BARE: 3,
	/** Meta: {@link CompactionMeta}. Its parts are the summary; its system message is an item. */
	COMPACTION: 4,
	/** Meta: {@link EditMeta}. Its parts are the new content. */
	CONTEXT_EDIT: 5,
	/** An item inside a record (see `items` of the reader). */
	ITEM: 6,
	/** A name that somebody gave an entry. Meta: {@link LabelMeta}. */
	LABEL: 7,
} as const;

export const PI_FLAG = {
	/** Role `hookMessage`: a custom message up to version 2, unknown to Pi since. */
	HOOK: 1 << FORMAT_FLAG_SHIFT,
	/** The summary of a compaction as a message of a list in memory. */
	COMPACTED: 1 << (FORMAT_FLAG_SHIFT + 1),
	/** A `context_edit` with content may replace what this message holds. */
	EDITABLE: 1 << (FORMAT_FLAG_SHIFT + 2),
	/** A reply that ended in an error. */
	FAILED: 1 << (FORMAT_FLAG_SHIFT + 3),
	/** A reply that ended because it became too long. */
	CUT_OFF: 1 << (FORMAT_FLAG_SHIFT + 4),
} as const;

/** Facts of the session header, as far as it has them. */
export type HeaderMeta = {
	/** A missing version is version 1. */
	version: number;
	id: string | null;
	cwd: string | null;
	parentSession: string | null;
};

export type CompactionMeta = {
	/** Id of the first entry that stays (version 2 and 3). */
	kept: string | null;
	/** Record number of the first entry that stays (version 1; the header is 0). */
	keptIndex: number | null;
	/** The record holds the system message that stood at that time. */
	system: boolean;
};

export type EditMeta = {
	/** Id of the entry whose message it changes. */
	target: string;
	/** True: the message is left out. False: it gets the content of this row. */
	drop: boolean;
};

export type LabelMeta = {
	/** Id of the entry that it names. */
	target: string;
};

/** Kind of the custom message that a block is (RULINGS 16). */
export const BLOCK_TYPE = "midcompact-summary";

/** The version that Pi writes. */
export const CURRENT_VERSION = 3;
/** First version whose entries have ids and parents. */
export const FIRST_TREE_VERSION = 2;
/** First version that no longer knows the role `hookMessage`. */
export const FIRST_WITHOUT_HOOKS = 3;
