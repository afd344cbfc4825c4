/** The messages that Pi sends at a leaf, as its own `buildSessionContext` makes them of the entries on the path. */
import { type Branch, type BranchOptions, MESSAGE, MessageList, type RecordedUsage } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { FLAG, type Role } from "../../record.js";
import { RecordTable } from "../../table.js";
import type { FormatContext } from "../format.js";
import { type CompactionMeta, type EditMeta, FIRST_TREE_VERSION, FIRST_WITHOUT_HOOKS, PI_FLAG, TYPE } from "./codes.js";
import { lookOver, type PiFile, pathOf } from "./path.js";

export const piContext: FormatContext = {
	expand(table, options) {
		const rows: number[] = [];
		const edits = new Map<number, number[]>();
		for (const [row, meta] of table.metas) {
			const type = table.type.at(row);
			if (type === TYPE.COMPACTION && options.scope === "context" && (meta as CompactionMeta).system) rows.push(row);
			if (type !== TYPE.CONTEXT_EDIT || (meta as EditMeta).drop) continue;
			const target = table.lookup((meta as EditMeta).target);
			if (target < 0) continue;
			const known = edits.get(target);
			if (known) known.push(row);
			else edits.set(target, [row]);
		}
		for (const target of editedResults(table, edits)) rows.push(target, ...(edits.get(table.id.at(target)) ?? []));
		return rows;
	},

	async branch(table, options) {
		const file = await lookOver(table, options.memory);
		const path = await pathOf(table, file, options);
		const selected = options.scope === "context" ? await selectContext(table, file, path.rows) : path.rows;
		const edits = await editsAmong(table, file, selected);
		const { rows, ...walk } = path;
		return {
			...walk,
			messages: await new Messages(table, file, edits, options).of(selected),
			notices: noticesOf(table, file, options),
			usage: await recordedUsage(table, rows, edits),
			adjacency: "literal",
		} satisfies Branch;
	},
};

/** Rows of tool results that an edit gives other content. Cheap for each row of the table, because it cannot pause. */
function editedResults(table: RecordTable, edits: ReadonlyMap<number, number[]>): number[] {
	if (edits.size === 0) return [];
	const edited = new Uint8Array(table.strings.length);
	for (const target of edits.keys()) edited[target] = 1;
	const last = new Map<number, number>();
	const ids = table.id.view();
	for (let row = 0; row < ids.length; row++) if (ids[row] >= 0 && edited[ids[row]] === 1) last.set(ids[row], row);
	return [...last.values()].filter((row) => table.roleOf(row) === "tool_result");
}

/**
 * The newest compaction, the entries that it kept (their system messages live on in its own), and all behind it. Without a compaction: the whole
 * path.
 */
async function selectContext(table: RecordTable, file: PiFile, path: readonly number[]): Promise<readonly number[]> {
	const pause = pacer();
	let at = path.length - 1;
	for (; at >= 0 && table.type.at(path[at]) !== TYPE.COMPACTION; at--) if (pause()) await breathe();
	if (at < 0) return path;
	const selected = [path[at]];
	const isKept = keptTest(table, file, table.metas.get(path[at]) as CompactionMeta);
	let kept = false;
	for (let i = 0; i < path.length; i++) {
		if (pause()) await breathe();
		const row = path[i];
		kept ||= isKept(row);
		if (i > at || (i < at && kept && table.roleOf(row) !== "system")) selected.push(row);
	}
	return selected;
}

/** Whether a row is the first one that a compaction kept: named by id, in version 1 by the number of its record. */
function keptTest(table: RecordTable, file: PiFile, { kept, keptIndex }: CompactionMeta): (row: number) => boolean {
	if (file.version < FIRST_TREE_VERSION) return (row) => table.record.at(row) === keptIndex;
	const id = kept === null ? -1 : table.lookup(kept);
	return id < 0 ? () => false : (row) => table.id.at(row) === id;
}

/** The row of the last edit of each target, by string index of the target's id. */
async function editsAmong(table: RecordTable, file: PiFile, rows: readonly number[]): Promise<Map<number, number>> {
	const pause = pacer();
	const edits = new Map<number, number>();
	// Pi gives the entries of such a file new ids when it opens it: no edit names one of them.
	if (file.version < FIRST_TREE_VERSION) return edits;
	for (const row of rows) {
		if (pause()) await breathe();
		if (table.type.at(row) === TYPE.CONTEXT_EDIT)
			edits.set(table.lookup((table.metas.get(row) as EditMeta).target), row);
	}
	edits.delete(-1);
	return edits;
}

class Messages {
	readonly #list = new MessageList();
	readonly #table: RecordTable;
	readonly #file: PiFile;
	readonly #edits: ReadonlyMap<number, number>;
	readonly #options: BranchOptions;

	constructor(table: RecordTable, file: PiFile, edits: ReadonlyMap<number, number>, options: BranchOptions) {
		this.#table = table;
		this.#file = file;
		this.#edits = edits;
		this.#options = options;
	}

	/** The messages of the selected rows, in order. */
	async of(rows: readonly number[]): Promise<MessageList> {
		const pause = pacer();
		for (let i = 0; i < rows.length; i++) {
			if (pause()) await breathe();
			this.#add(rows[i], i === 0);
		}
		return this.#list;
	}

	#add(row: number, first: boolean): void {
		const type = this.#table.type.at(row);
		const edit = this.#edits.get(this.#table.id.at(row));
		if (edit !== undefined && (this.#table.metas.get(edit) as EditMeta).drop) return;
		if (type === TYPE.COMPACTION) {
			// One that an older compaction's range still holds says nothing any more; on a path the originals speak.
			if (first && this.#options.scope === "context") this.#addCompaction(row);
			return;
		}
		const role = this.#roleOf(row);
		if (role === null) return;
		const editable = (this.#table.flags.at(row) & PI_FLAG.EDITABLE) !== 0 && role !== "other";
		const content = edit !== undefined && editable ? this.#editedRows(row, edit, role) : [row];
		this.#list.push(role, content, this.#marks(row, role), [row]);
	}

	#addCompaction(row: number): void {
		const system = this.#file.itemOf.get(this.#table.record.at(row));
		if (system !== undefined) this.#list.push("system", [system], this.#marks(row, "system"), [row]);
		this.#list.push("summary", [row], this.#marks(row, "summary"));
	}

	/** Null for what is no message in this scope. */
	#roleOf(row: number): Role | null {
		const flags = this.#table.flags.at(row);
		if (flags & PI_FLAG.COMPACTED && this.#options.scope === "path") return null;
		if (flags & PI_FLAG.HOOK && this.#file.version >= FIRST_WITHOUT_HOOKS) return "other";
		return this.#table.roleOf(row);
	}

	/** Rows of the content that an edit gives a message. A result stays the result of its call: see `items` of the reader. */
	#editedRows(row: number, edit: number, role: Role): number[] {
		if (role !== "tool_result") return [edit];
		const opening = this.#file.itemOf.get(this.#table.record.at(row));
		const content = this.#file.itemOf.get(this.#table.record.at(edit));
		return opening === undefined || content === undefined ? [edit] : [opening, content];
	}

	#marks(row: number, role: Role): number {
		const unsent = (this.#table.flags.at(row) & FLAG.UNSENT) !== 0 || role === "other";
		const missing = this.#options.memory && this.#table.id.at(row) < 0;
		return (unsent ? MESSAGE.UNSENT : 0) | (missing ? MESSAGE.MISSING_ENTRY : 0);
	}
}

/** Usage of the last valid reply, unless a compaction, an edit or a block came after it (RULINGS 19). */
async function recordedUsage(
	table: RecordTable,
	path: readonly number[],
	edits: ReadonlyMap<number, number>,
): Promise<RecordedUsage | null> {
	const pause = pacer();
	// A list in memory has its compaction's summary in front, whenever that was made.
	let compacted = Number.NEGATIVE_INFINITY;
	for (const row of path) {
		if (pause()) await breathe();
		if (table.flags.at(row) & PI_FLAG.COMPACTED) compacted = Math.max(compacted, table.time.at(row) || compacted);
	}
	for (let i = path.length - 1; i >= 0; i--) {
		if (pause()) await breathe();
		const row = path[i];
		const type = table.type.at(row);
		if (type === TYPE.COMPACTION || type === TYPE.CONTEXT_EDIT || table.flags.at(row) & FLAG.BLOCK) return null;
		const [from, to] = RecordTable.rangeOf(table.usageRow, row);
		if (from === to || table.flags.at(row) & FLAG.INVALID_USAGE) continue;
		const edit = edits.get(table.id.at(row));
		if (edit !== undefined && (table.metas.get(edit) as EditMeta).drop) continue;
		return table.time.at(row) <= compacted ? null : { usage: table.usageAt(from), row };
	}
	return null;
}

function noticesOf(table: RecordTable, file: PiFile, options: BranchOptions): string[] {
	const notices: string[] = [];
	if (!file.header && !options.memory && table.rows > 0) {
		notices.push("The file has no session header: Pi itself would refuse to open it.");
	}
	if (file.header && file.linear && file.version >= FIRST_TREE_VERSION && file.last >= 0 && !options.memory) {
		notices.push("No entry of the file has an id: it is read in file order.");
	}
	return notices;
}
