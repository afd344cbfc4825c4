/** A fork: a new session in the host's form, made of a session's own records and the messages that replace some of them. */
import type { Branch, Scope } from "./branch.js";
import type { JsonObject, Role } from "./record.js";
import type { RecordTable } from "./table.js";

/** The message that stands in place of a range. */
export interface BlockMessage {
	/** `c0001`… */
	block: string;
	topic: string;
	/** The whole text of the message; its first line is the block mark (RULINGS 16). */
	text: string;
}

/** Messages `from … to - 1` of the branch give way to one message. */
export interface Replacement {
	from: number;
	to: number;
	message: BlockMessage;
}

export interface ForkRequest {
	table: RecordTable;
	/** The branch at the anchor: its `messages` are those that atoms are made of, in sending order, without the system messages. */
	branch: Branch;
	/** Rows of the system messages, in order. */
	system: readonly number[];
	scope: Scope;
	/** In order, none overlapping. */
	replacements: readonly Replacement[];
	/** Session id of the fork (a UUID), and when it is made. */
	id: string;
	now: Date;
	/** The session it is made from: its id where the format has one, its file, and the bytes of each of its sources. */
	parent: { id: string | null; path: string; sizes: readonly number[] };
	/** A new random UUID at every call. */
	newId(): string;
}

/** In place of a value: how many lines of the fork stand before this one, which only its writer knows. */
export const LINES_BEFORE = { linesBefore: true } as const;

/**
 * A change of one field of a record whose other bytes stay as they are. `value` is the new value as JSON text; null takes the field out. A field that is not there is
 * added (behind the others of its object) only with `add`.
 */
export interface FieldEdit {
	path: readonly string[];
	value: string | null | typeof LINES_BEFORE;
	add?: boolean;
}

/**
 * What stands between two parts of a document, or of two lines: the bytes of the session as they are where they are the separator with white space around it; anything else
 * (damage, what was between them) gives way to the separator alone. `""` is white space only, behind a byte order mark or not.
 */
export interface Gap {
	source: number;
	start: number;
	end: number;
	separator: "," | "\n" | "";
}

/** A stretch of a fork, in the order in which it is written. Positions are bytes of a source of the session. */
export type ForkPiece =
	/** Bytes as they are. */
	| { kind: "raw"; source: number; start: number; end: number }
	/** A record that the writer leaves out because no host takes it where it would stand now; counted like one of which `clean` leaves nothing. */
	| { kind: "left_out" }
	/** Text as it is. */
	| { kind: "text"; text: string }
	| ({ kind: "gap" } & Gap)
	/** A record made new, as JSON text. */
	| { kind: "new"; json: string; edits?: readonly FieldEdit[]; before?: string | Gap }
	/** A record of the session with some fields changed; `clean` of its format takes out what no host takes back, and it is left out where nothing is left of it. */
	| { kind: "record"; source: number; start: number; end: number; edits: readonly FieldEdit[]; before?: string | Gap }
	/** The lines between two records that the format's `carry` keeps; `edits` are applied to each behind those of `carry`. */
	| { kind: "between"; source: number; start: number; end: number; edits?: readonly FieldEdit[] }
	/** A record whose list at the path `list` holds some of its items and new ones; `clean` goes over every item. The other fields are changed as in `record`, none of them inside the list. */
	| {
			kind: "list";
			source: number;
			start: number;
			end: number;
			list: readonly string[];
			items: readonly ForkItem[];
			edits: readonly FieldEdit[];
	  };

/** Items `from … to - 1` of a list as they are, or one made new, as JSON text. */
export type ForkItem = { from: number; to: number } | { json: string };

/** The worker's half of a writer: pure functions of one record. */
export interface ForkCleaner {
	/**
	 * The record without what must never be written into a fork (empty text, hollow thinking, a lone surrogate: CONTRACT section 8). The same object when there is nothing to
	 * take out; null when nothing is left that the host would send.
	 */
	clean(record: JsonObject): JsonObject | null;
	/** A line that is no message, between two that are kept: what of it goes into the fork, null for nothing. */
	carry?(record: JsonObject): { record: JsonObject; edits: readonly FieldEdit[] } | null;
}

/** The main thread's half: which pieces a fork is made of. */
export interface FormatWriter {
	/** `lines`: a line end follows every `new`, `record` and carried line. `document`: what stands between elements is in `before`, which is left out in front of the first. */
	shape(table: RecordTable): "lines" | "document";
	/** Role of a block's message when it is read back; default: `user`. */
	blockRole?: Role;
	/** The fork from its first byte to its last. Pure; large ones are cut up by yielding piece by piece. */
	pieces(request: ForkRequest): Iterable<ForkPiece>;
	/** File name that the host looks for. */
	fileName(id: string, now: Date, parentPath: string): string;
	/** The session id in a file name that a user chose; null when the host finds such a file anyhow. Errors: `invalid_output` for a name under which the host finds nothing. */
	idInName(name: string): string | null;
	/** The command that goes on with the fork; null where the format has no program. */
	resumeCommand(id: string, path: string): string | null;
}
