/** Walks from a leaf up to where the history starts: in the host's context, or over all compactions (path scope). */
import { breathe, pacer } from "../../breathe.js";
import { ROOT } from "../../chain.js";
import type { Boundary, KeptLinks } from "./compaction.js";
import { EarlierLines } from "./earlier.js";
import { LINE } from "./kinds.js";
import { type Lines, lastConversationBefore } from "./lines.js";

/** What a walk took and how. */
export interface Walk {
	/** Rows from the start of the history down to the leaf. */
	rows: number[];
	/** Broken links on the way that were joined to an earlier line by time. */
	joined: number;
	/** The row at which the walk had to end although it has a parent link; -1 when it ended at a root. */
	cutAt: number;
}

/** The step up from a row; a constant of `chain.ts` when its link leads nowhere, null when the history starts here. */
type Step = (row: number, seen: Uint8Array) => number | null;

/** What the host sends: up to the first null parent or boundary, kept messages in their new place. */
export function walkContext(lines: Lines, links: KeptLinks, leaf: number): Promise<Walk> {
	return walkUp(lines, links.startAt(leaf), (row) => {
		if (lines.table.type.at(row) === LINE.BOUNDARY) return null;
		const parent = links.parentOf(row);
		return parent === ROOT ? null : parent;
	});
}

/** Every message down to the leaf: a boundary goes on at the line it followed (RULINGS 4). */
export function walkPath(lines: Lines, boundaries: ReadonlyMap<number, Boundary>, leaf: number): Promise<Walk> {
	return walkUp(lines, leaf, (row, seen) => {
		const boundary = boundaries.get(row);
		if (boundary) return beforeBoundary(lines, boundary, seen);
		const parent = lines.chain.parent[row];
		return parent === ROOT ? null : parent;
	});
}

async function walkUp(lines: Lines, leaf: number, step: Step): Promise<Walk> {
	const pause = pacer();
	const seen = new Uint8Array(lines.table.rows);
	const earlier = new EarlierLines(lines, seen);
	const walk: Walk = { rows: [], joined: 0, cutAt: -1 };
	for (let at = leaf; at >= 0; ) {
		if (pause()) await breathe();
		seen[at] = 1;
		walk.rows.push(at);
		const parent = step(at, seen);
		if (parent === null) break;
		if (parent >= 0 && seen[parent] === 0) {
			at = parent;
			continue;
		}
		const joined = await earlier.before(at);
		if (joined < 0) walk.cutAt = at;
		else walk.joined++;
		at = joined;
	}
	walk.rows.reverse();
	return walk;
}

/** The row behind which a boundary stands in the whole history; null when nothing is before it. */
function beforeBoundary(lines: Lines, boundary: Boundary, seen: Uint8Array): number | null {
	const { chain } = lines;
	const target = logicalParent(lines, boundary, (row) => seen[row] === 1);
	if (target >= 0 && seen[target] === 0) return target;
	const parent = chain.parent[boundary.row];
	if (boundary.meta.logicalParent === null && parent !== ROOT) return parent;
	const last = lastConversationBefore(lines, boundary.row, (row) => seen[row] === 1);
	return last < 0 ? null : last;
}

/**
 * The row that `logicalParentUuid` means; -1 when it names none. A kept message is meant in its old place; where only the copy behind the
 * boundary is on disk, the last kept message that stands before it and is not taken.
 */
export function logicalParent(lines: Lines, { row, meta, kept }: Boundary, taken: (row: number) => boolean): number {
	const named = meta.logicalParent === null ? -1 : lines.chain.rowOf(meta.logicalParent);
	if (named < 0 || !kept?.rows.includes(named)) return named;
	const old = lines.firstCopy(named);
	if (old < row) return old;
	for (let k = kept.rows.length - 1; k >= 0; k--) {
		const other = lines.firstCopy(kept.rows[k]);
		if (other < row && !taken(other)) return other;
	}
	return -1;
}
