/** The lines of a file as the walk sees them: parent links, copies of one uuid, and which lines are of the conversation that is read. */
import { breathe, pacer } from "../../breathe.js";
import { type Chain, linkRows } from "../../chain.js";
import type { RecordTable } from "../../table.js";
import { isChainLine, isConversationLine, MARK } from "./kinds.js";

/** `main`: lines without `isSidechain`; `side`: lines with it; `all`: a file whose whole conversation is a sidechain. */
export type Side = "main" | "side" | "all";

export class Lines {
	readonly table: RecordTable;
	readonly chain: Chain;
	/** 1 for rows whose uuid a later row has too: the host keeps the last of them only. */
	readonly lost: Uint8Array;
	/** Whose the file is: `main`, or `all` for a sub-agent's own. */
	readonly fileSide: Side;
	/** Which lines are read; another than the file's only for a leaf inside a sidechain. */
	side: Side;
	/** First row with the uuid of a row, for uuids that several rows have. */
	readonly #firstCopy: ReadonlyMap<number, number>;

	constructor(table: RecordTable, chain: Chain, side: Side, lost: Uint8Array, firstCopy: ReadonlyMap<number, number>) {
		this.table = table;
		this.chain = chain;
		this.fileSide = side;
		this.side = side;
		this.lost = lost;
		this.#firstCopy = firstCopy;
	}

	isChain(row: number): boolean {
		return isChainLine(this.table.type.at(row));
	}

	isSidechain(row: number): boolean {
		return (this.table.flags.at(row) & MARK.SIDECHAIN) !== 0;
	}

	/** Whether a chain line is of the conversation that is read; a walk passes through the others but takes nothing from them. */
	isOwn(row: number): boolean {
		if (!this.isChain(row)) return false;
		return this.side === "all" || this.isSidechain(row) === (this.side === "side");
	}

	/** A user or assistant line that is a message of the conversation. */
	isConversation(row: number): boolean {
		return isConversationLine(this.table.type.at(row)) && this.table.roleOf(row) !== null && this.isOwn(row);
	}

	/** The earliest row with the same uuid; mostly the row itself. */
	firstCopy(row: number): number {
		return this.#firstCopy.get(this.table.id.at(row)) ?? row;
	}
}

/** Links the lines of a table and finds out whether the file is a sub-agent's own. Yields to the event loop. */
export async function readLines(table: RecordTable): Promise<Lines> {
	const chain = await linkRows(table, (row) => isChainLine(table.type.at(row)));
	const pause = pacer();
	const lost = new Uint8Array(table.rows);
	const firstCopy = new Map<number, number>();
	if (chain.duplicates.length > 0) {
		const current = new Map<number, number>();
		for (const row of chain.duplicates) {
			if (pause()) await breathe();
			current.set(table.id.at(row), row);
		}
		for (let row = 0; row < table.rows; row++) {
			if (pause()) await breathe();
			const id = table.id.at(row);
			const last = current.get(id);
			if (last === undefined || !isChainLine(table.type.at(row))) continue;
			if (!firstCopy.has(id)) firstCopy.set(id, row);
			if (row !== last) lost[row] = 1;
		}
	}
	return new Lines(table, chain, await sideOf(table), lost, firstCopy);
}

/** A file without any message outside sidechains is read as its own session (RULINGS 1). */
async function sideOf(table: RecordTable): Promise<Side> {
	const pause = pacer();
	let messages = 0;
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (!isConversationLine(table.type.at(row))) continue;
		if ((table.flags.at(row) & MARK.SIDECHAIN) === 0) return "main";
		messages++;
	}
	return messages > 0 ? "all" : "main";
}

/** Whether any parent link of the conversation names a line (RULINGS 3). */
export async function hasLinks(lines: Lines): Promise<boolean> {
	const pause = pacer();
	for (let row = 0; row < lines.table.rows; row++) {
		if (pause()) await breathe();
		if (lines.chain.parent[row] >= 0 && lines.lost[row] === 0 && lines.isOwn(row)) return true;
	}
	return false;
}

/**
 * The host's leaf (RULINGS 1): of the lines of the conversation that no line points to, the last in the file. A link that closes a cycle points to
 * nothing; where every line is pointed to all the same, the last one. -1 without lines.
 */
export async function findLeaf(lines: Lines): Promise<number> {
	const pause = pacer();
	const { parent, cycles } = lines.chain;
	const closing = new Set(cycles);
	const pointedTo = new Uint8Array(lines.table.rows);
	for (let row = 0; row < parent.length; row++) {
		if (pause()) await breathe();
		if (parent[row] >= 0 && !closing.has(row)) pointedTo[parent[row]] = 1;
	}
	let last = -1;
	for (let row = parent.length - 1; row >= 0; row--) {
		if (pause()) await breathe();
		if (lines.lost[row] === 1 || !lines.isOwn(row)) continue;
		if (pointedTo[row] === 0) return row;
		if (last < 0) last = row;
	}
	return last;
}

/** The last message of the conversation before a row in the file that is not skipped; -1 for none. */
export function lastConversationBefore(lines: Lines, before: number, skip: (row: number) => boolean): number {
	for (let row = before - 1; row >= 0; row--) {
		if (lines.lost[row] === 0 && lines.isConversation(row) && !skip(row)) return row;
	}
	return -1;
}

/** The row that a caller means by an entry id: a uuid, or `#n` for a line without one (RULINGS 14). -1 for none. */
export async function rowOfEntry(lines: Lines, entry: string): Promise<number> {
	const row = lines.chain.rowOf(entry);
	if (row >= 0) return row;
	const record = /^#(\d+)$/.exec(entry);
	if (!record) return -1;
	const { table } = lines;
	const pause = pacer();
	for (let at = 0; at < table.rows; at++) {
		if (pause()) await breathe();
		if (table.record.at(at) === Number(record[1]) && table.id.at(at) < 0 && lines.isChain(at)) return at;
	}
	return -1;
}
