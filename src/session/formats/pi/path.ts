/** Which rows lie between the root and the leaf of a Pi session, and what is wrong with its links. */
import { MidcompactError } from "../../../errors.js";
import type { BranchDamage, BranchOptions } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { type Chain, linkRows } from "../../chain.js";
import type { DamageKind } from "../../damage.js";
import type { RecordTable } from "../../table.js";
import { FIRST_TREE_VERSION, type HeaderMeta, TYPE } from "./codes.js";

/** What one look over all rows says about the file. */
export interface PiFile {
	/** Version of the header; without one, that of the form in which the rows stand. */
	version: number;
	header: boolean;
	/** Rows follow each other in file order; links, if any, do not count. */
	linear: boolean;
	/** Row of the item that the engine expanded, by the record that holds it. */
	itemOf: Map<number, number>;
	/** Last entry (or bare message of a linear file); -1 for none. */
	last: number;
	/** Whether a row can stand on a path. */
	onPath(row: number): boolean;
}

export async function lookOver(table: RecordTable, memory: boolean): Promise<PiFile> {
	const pause = pacer();
	const itemOf = new Map<number, number>();
	let header: HeaderMeta | null = null;
	let named = false;
	let lastEntry = -1;
	let lastBare = -1;
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		const type = table.type.at(row);
		if (type === TYPE.HEADER) header ??= table.metas.get(row) as HeaderMeta;
		else if (type === TYPE.ITEM) itemOf.set(table.record.at(row), row);
		else if (type === TYPE.BARE) lastBare = row;
		else {
			lastEntry = row;
			if (table.id.at(row) >= 0) named = true;
		}
	}
	const mixed = memory && lastBare >= 0;
	const linear = !named || mixed || (header !== null && header.version < FIRST_TREE_VERSION);
	const version = header?.version ?? (named ? FIRST_TREE_VERSION + 1 : 1);
	return {
		version,
		header: header !== null,
		linear,
		itemOf,
		last: linear ? Math.max(lastEntry, lastBare) : lastEntry,
		onPath: (row) => {
			const type = table.type.at(row);
			return type !== TYPE.HEADER && type !== TYPE.ITEM && (type !== TYPE.BARE || linear);
		},
	};
}

export interface PiPath {
	/** Root to leaf. */
	rows: number[];
	leaf: number;
	walked: Uint8Array;
	damage: BranchDamage[];
}

/** The path to the leaf. Errors: `unknown_ref` when the caller's leaf names no entry. */
export async function pathOf(table: RecordTable, file: PiFile, options: BranchOptions): Promise<PiPath> {
	return file.linear ? linearPath(table, file, options) : treePath(table, file, options);
}

async function linearPath(table: RecordTable, file: PiFile, options: BranchOptions): Promise<PiPath> {
	const pause = pacer();
	const leaf = options.leaf === null ? file.last : await findInOrder(table, file, options.leaf);
	const walked = new Uint8Array(table.rows);
	const rows: number[] = [];
	for (let row = 0; row <= leaf; row++) {
		if (pause()) await breathe();
		if (!file.onPath(row)) continue;
		walked[row] = 1;
		rows.push(row);
	}
	return { rows, leaf, walked, damage: [] };
}

async function treePath(table: RecordTable, file: PiFile, options: BranchOptions): Promise<PiPath> {
	const pause = pacer();
	const chain = await linkRows(table, file.onPath);
	const leaf = options.leaf === null ? file.last : await findInTree(table, file, chain, options.leaf);
	const walked = new Uint8Array(table.rows);
	const rows: number[] = [];
	// An entry met again closes a cycle: the path starts behind it.
	for (let at = leaf; at >= 0 && walked[at] === 0; at = chain.parent[at]) {
		if (pause()) await breathe();
		walked[at] = 1;
		rows.push(at);
	}
	return { rows: rows.reverse(), leaf, walked, damage: await damageOf(table, file, chain, walked) };
}

async function damageOf(table: RecordTable, file: PiFile, chain: Chain, walked: Uint8Array): Promise<BranchDamage[]> {
	const pause = pacer();
	const damage: BranchDamage[] = [];
	const add = (kind: DamageKind, row: number) => damage.push({ kind, row, onAnchor: walked[row] === 1 });
	const addAll = async (kind: DamageKind, rows: readonly number[]) => {
		for (const row of rows) {
			if (pause()) await breathe();
			add(kind, row);
		}
	};
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (file.onPath(row) && table.id.at(row) < 0) add("missing_id", row);
	}
	await addAll("duplicate_id", chain.duplicates);
	await addAll("missing_parent", chain.missingParents);
	await addAll("parent_cycle", chain.cycles);
	let roots = 0;
	for (const row of chain.roots) {
		if (pause()) await breathe();
		// What has no id can be nobody's root.
		if (table.id.at(row) >= 0 && roots++ > 0) add("several_roots", row);
	}
	return damage;
}

async function findInTree(table: RecordTable, file: PiFile, chain: Chain, leaf: string): Promise<number> {
	const row = chain.rowOf(leaf);
	return row >= 0 ? row : findInOrder(table, file, leaf);
}

/** The last row that is known by this id, `#n` included. */
async function findInOrder(table: RecordTable, file: PiFile, leaf: string): Promise<number> {
	const pause = pacer();
	for (let row = table.rows - 1; row >= 0; row--) {
		if (pause()) await breathe();
		if (file.onPath(row) && table.entryOf(row) === leaf) return row;
	}
	throw new MidcompactError(
		"unknown_ref",
		`No entry of this session has the id ${leaf}.`,
		"Give the id of an entry as the session file has it, or # and the record number where entries have none.",
	);
}
