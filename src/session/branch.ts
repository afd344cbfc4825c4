/** One branch of a session as an ordered list of normalised messages: what `formats/<name>/context.ts` builds from the table. */
import { int32, uint8, uint32 } from "./columns.js";
import type { DamageKind } from "./damage.js";
import { ROLES, type Role, type Usage } from "./record.js";

export type Scope = "context" | "path";

/** Marks of a message that its branch decides, not its rows. */
export const MESSAGE = {
	/** A memory source gave no id for it (RULINGS 14). */
	MISSING_ENTRY: 1,
	/** In the list, but not sent to the model (RULINGS 5). */
	UNSENT: 2,
} as const;

/**
 * Messages in the order in which the host sends them, each made of rows of the table. `rows` hold the content (they may come from another record
 * than the entry, as a Pi `context_edit` does), `entries` are the rows by whose ids the message is known.
 */
export class MessageList {
	readonly role = uint8();
	readonly marks = uint8();
	/** Message i has the rows `rows[rowStart[i]] … rows[rowStart[i + 1] - 1]`. */
	readonly rowStart = uint32();
	readonly rows = int32();
	readonly entryStart = uint32();
	readonly entries = int32();

	constructor() {
		this.rowStart.push(0);
		this.entryStart.push(0);
	}

	get length(): number {
		return this.role.length;
	}

	/** Adds one message; `entries` defaults to its rows. */
	push(role: Role, rows: readonly number[], marks = 0, entries: readonly number[] = rows): void {
		this.role.push(ROLES.indexOf(role));
		this.marks.push(marks);
		for (const row of rows) this.rows.push(row);
		for (const row of entries) this.entries.push(row);
		this.rowStart.push(this.rows.length);
		this.entryStart.push(this.entries.length);
	}

	roleOf(message: number): Role {
		return ROLES[this.role.at(message)];
	}

	/** The content rows of a message, without copying. */
	rowsOf(message: number): Int32Array {
		return this.rows.data.subarray(this.rowStart.at(message), this.rowStart.at(message + 1));
	}

	entriesOf(message: number): Int32Array {
		return this.entries.data.subarray(this.entryStart.at(message), this.entryStart.at(message + 1));
	}
}

/** Usage that the host recorded and that still describes the anchor (RULINGS 19). */
export interface RecordedUsage {
	usage: Usage;
	/** Row whose entry holds it. */
	row: number;
}

/** A finding that only the walk over the branch could make; `row` is the row it is about. */
export interface BranchDamage {
	kind: DamageKind;
	row: number;
	onAnchor: boolean;
}

export interface Branch {
	messages: MessageList;
	/** Row at which the branch ends; -1 when it has none. */
	leaf: number;
	/** 1 for every row that was walked through, sent or not, so that damage on it counts as on the anchor. Length: rows of the table. */
	walked: Uint8Array;
	damage: BranchDamage[];
	notices: string[];
	usage: RecordedUsage | null;
	/**
	 * `literal`: results are adjacent where they stand. `turn`: consecutive user-side messages before the next assistant message are one turn, results
	 * first (RULINGS 9).
	 */
	adjacency: "literal" | "turn";
}

export interface BranchOptions {
	scope: Scope;
	/** Entry id given by the caller; null for the format's own leaf. */
	leaf: string | null;
	/** True for a message list in memory: messages without an id have no persistent entry. */
	memory: boolean;
}
