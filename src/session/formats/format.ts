/** What a format folder provides. Adding a format is adding one folder and one line each in `readers.ts` and `contexts.ts`. */
import type { Branch, BranchOptions } from "../branch.js";
import type { FormatName, JsonObject, JsonValue, RecordFacts } from "../record.js";
import type { RecordTable } from "../table.js";

/** The worker's half: one parsed record to facts. Pure and without state, so that any record can be read again by itself. */
export interface FormatReader {
	name: FormatName;
	/**
	 * How sure this format is that the record is one of its own: 0 not at all, 1 could be, 2 probably, 3 certainly. The format with the highest
	 * sum over the first records wins.
	 */
	recognise(record: JsonObject): number;
	/** Whether a record found inside a damaged line is a whole one of this format and not an object nested in a torn one (RULINGS 20). */
	isWhole(record: JsonObject): boolean;
	/** Facts of a record; null for one that nothing needs (it still counts as a record). */
	read(record: JsonObject): RecordFacts | null;
	/** The session's own id, when this record gives it (a header, a line that repeats it); the first record that does counts. */
	session?(record: JsonObject): string | null;
	/**
	 * What of a record makes it the same one when its host writes the file anew with other ids (RULINGS 14); content hashes are taken of it. Without it, of the record's bytes.
	 */
	identity?(record: JsonObject): JsonValue;
	/** The items inside a record that the branch asked to expand (Codex `replacement_history`), in order. */
	items?(record: JsonObject): RecordFacts[];
	/** Facts of a field of the document around the messages (`system`, `tools`, `usage` beside `messages`); null when it says nothing. */
	field?(key: string, value: JsonValue): RecordFacts | null;
}

/** The main thread's half: the table to one branch. */
export interface FormatContext {
	/**
	 * Rows of records whose items must be in the table before the branch can be built; the engine appends them as rows with `item` ≥ 1
	 * behind all others.
	 */
	expand?(table: RecordTable, options: BranchOptions): number[];
	/**
	 * Another file that this one continues (a Codex fork's `history_base`), read before this one up to `end` bytes; null for none. One that
	 * cannot be followed is null too, and damage `missing_parent` of the branch.
	 */
	base?(table: RecordTable): { id: string; end: number } | null;
	/** Builds the branch. Throws `unknown_ref` when `options.leaf` names no entry. Yields to the event loop on large tables. */
	branch(table: RecordTable, options: BranchOptions): Promise<Branch>;
}
