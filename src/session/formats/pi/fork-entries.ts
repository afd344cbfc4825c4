/** Which entries of a session go into a fork: those on the way to the anchor, in order, blocks in place of ranges, each under its id. */
import type { BlockMessage, ForkRequest } from "../../fork.js";
import type { RecordTable } from "../../table.js";
import { isBroken } from "../../well-formed.js";
import {
	CURRENT_VERSION,
	type EditMeta,
	FIRST_TREE_VERSION,
	type HeaderMeta,
	type LabelMeta,
	PI_FLAG,
	TYPE,
} from "./codes.js";

export interface ForkEntries {
	/** Row of the session header; -1 for none. */
	header: number;
	/** Version of the session. */
	version: number;
	/** Rows of the path, in order, left-out ones too. */
	path: Int32Array;
	/** For every row its place on the path; -1 for none. */
	place: Int32Array;
	/** {@link FATE} by place. */
	fates: Uint8Array;
	/** Blocks by the place in which each stands. */
	blocks: ReadonlyMap<number, BlockMessage>;
	/** From this place on recorded usage is that of another context: behind the first block, or behind a compaction that is left out. */
	stale: number;
	/** Place of the last reply that is kept; -1 for none. */
	lastReply: number;
	/** Row on the path that has this id; -1 for none. */
	rowOf(id: string): number;
	/** Id in the fork of the entry, or of the block, at a place. */
	idAt(place: number): string;
	/** Whether the entry at a place has another id in the session. */
	isRenamed(place: number): boolean;
	/** Where the content of a place is in the fork: there, or in the block of its range; -1: nowhere. */
	standsAt(place: number): number;
}

export const FATE = {
	KEPT: 0,
	/** Its message gave way to a block. */
	REPLACED: 1,
	/** It says nothing any more: a compaction in path scope, a word on an entry that is gone. */
	LEFT_OUT: 2,
} as const;

/** Pi's own ids have 8 hexadecimal digits, and are whole UUIDs where that many are taken. */
const SHORT = 8;
const TRIES = 100;

export function forkEntries(request: ForkRequest): ForkEntries {
	const { table, branch, replacements } = request;
	const header = headerOf(table);
	const meta = header < 0 ? null : (table.metas.get(header) as HeaderMeta);
	const { path, place, version, rowOfId } = pathOf(request, meta?.version ?? null);
	const fates = new Uint8Array(path.length);
	const blocks = new Map<number, BlockMessage>();
	const blockPlace = new Map<number, number>();
	for (const { from, to, message } of replacements) {
		let first = -1;
		for (let m = from; m < to; m++) {
			for (const row of branch.messages.entriesOf(m)) {
				const at = place[row];
				if (at < 0) continue;
				if (first < 0) first = at;
				fates[at] = FATE.REPLACED;
				blockPlace.set(at, first);
			}
		}
		if (first >= 0) blocks.set(first, message);
	}
	const rowOf = (id: string) => {
		const index = table.lookup(id);
		return index < 0 ? -1 : (rowOfId[index] ?? -1);
	};
	leaveOut(request, path, place, fates, rowOf);
	const ids = newIds(request, path, fates, blocks, version);
	const stale = fates.findIndex((fate) => fate !== FATE.KEPT);
	return {
		header,
		version,
		path,
		place,
		fates,
		blocks,
		stale: stale < 0 ? path.length : stale,
		lastReply: path.findLastIndex((row, at) => fates[at] === FATE.KEPT && table.roleOf(row) === "assistant"),
		rowOf,
		idAt: (at) => ids.get(at) ?? table.string(table.id.at(path[at])) ?? "",
		isRenamed: (at) => ids.has(at),
		standsAt: (at) => (fates[at] === FATE.KEPT ? at : (blockPlace.get(at) ?? -1)),
	};
}

function headerOf(table: RecordTable): number {
	let first = -1;
	for (const row of table.metas.keys())
		if (table.type.at(row) === TYPE.HEADER && (first < 0 || row < first)) first = row;
	return first;
}

/** The rows that the branch walked, from root to leaf: by their links, in file order where they have none. */
function pathOf(
	{ table, branch }: ForkRequest,
	headerVersion: number | null,
): Pick<ForkEntries, "path" | "place" | "version"> & { rowOfId: Int32Array } {
	const place = new Int32Array(table.rows).fill(-1);
	const rowOfId = new Int32Array(table.strings.length).fill(-1);
	const rows: number[] = [];
	let named = false;
	for (let row = 0; row < table.rows; row++) {
		if (branch.walked[row] !== 1) continue;
		rows.push(row);
		const id = table.id.at(row);
		if (id < 0) continue;
		named = true;
		rowOfId[id] = row;
	}
	const version = headerVersion ?? (named ? CURRENT_VERSION : 1);
	if (version < FIRST_TREE_VERSION) rowOfId.fill(-1);
	else if (named) {
		rows.length = 0;
		const met = new Uint8Array(table.rows);
		for (let at = branch.leaf; at >= 0 && met[at] === 0; ) {
			met[at] = 1;
			rows.push(at);
			const parent = table.parent.at(at);
			at = parent < 0 ? -1 : rowOfId[parent];
		}
		rows.reverse();
	}
	const path = Int32Array.from(rows);
	for (let at = 0; at < path.length; at++) place[path[at]] = at;
	return { path, place, version, rowOfId };
}

function leaveOut(
	{ table, scope }: ForkRequest,
	path: Int32Array,
	place: Int32Array,
	fates: Uint8Array,
	rowOf: (id: string) => number,
): void {
	const isGone = (target: string) => {
		const row = rowOf(target);
		return row >= 0 && fates[place[row]] !== FATE.KEPT;
	};
	// A word on an entry stands behind it, and may be the target of another one.
	for (let at = 0; at < path.length; at++) {
		const row = path[at];
		const type = table.type.at(row);
		if (fates[at] !== FATE.KEPT) continue;
		const isSummary = type === TYPE.COMPACTION || (table.flags.at(row) & PI_FLAG.COMPACTED) !== 0;
		const isWord = type === TYPE.CONTEXT_EDIT || type === TYPE.LABEL;
		const isOut = isWord
			? isGone((table.metas.get(row) as EditMeta | LabelMeta).target)
			: isSummary && scope === "path";
		if (isOut) fates[at] = FATE.LEFT_OUT;
	}
}

/** Ids by place, of blocks and of entries that cannot keep theirs: version 1 has none, and what no UTF-8 can hold would not be found again. */
function newIds(
	{ table, newId }: ForkRequest,
	path: Int32Array,
	fates: Uint8Array,
	blocks: ReadonlyMap<number, BlockMessage>,
	version: number,
): Map<number, string> {
	const ids = new Map<number, string>();
	const used = new Set<string>();
	const fresh = () => {
		for (let i = 0; ; i++) {
			const uuid = newId();
			const id = i < TRIES ? uuid.slice(0, SHORT) : uuid;
			if (used.has(id) || table.lookup(id) >= 0) continue;
			used.add(id);
			return id;
		}
	};
	for (let at = 0; at < path.length; at++) {
		if (blocks.has(at)) ids.set(at, fresh());
		else if (fates[at] === FATE.KEPT) {
			const id = table.string(table.id.at(path[at]));
			if (version < FIRST_TREE_VERSION || id === null || isBroken(id)) ids.set(at, fresh());
		}
	}
	return ids;
}
