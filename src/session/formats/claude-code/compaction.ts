/** What a compaction boundary says: which messages it kept, where they sit now, and where the history before it goes on. */
import type { Chain } from "../../chain.js";
import { type BoundaryMeta, LINE } from "./kinds.js";
import { type Lines, lastConversationBefore } from "./lines.js";

/** Messages that a boundary kept. They keep their old parents on disk and are read as sitting behind the anchor, in this order. */
export interface Kept {
	boundary: number;
	anchor: number;
	/** Current copies of the messages. */
	rows: number[];
}

/** A boundary of the table with what its line says. */
export interface Boundary {
	row: number;
	meta: BoundaryMeta;
	kept: Kept | null;
	/** It names kept messages that cannot be found. */
	unresolved: boolean;
}

/** All boundaries, by row, in file order. */
export function readBoundaries(lines: Lines): Map<number, Boundary> {
	const boundaries = new Map<number, Boundary>();
	for (const [row, value] of lines.table.metas) {
		if (lines.table.type.at(row) !== LINE.BOUNDARY) continue;
		const meta = value as BoundaryMeta;
		const kept = keptMessages(lines, row, meta);
		const named = meta.preserved.length > 0 || meta.head !== null || meta.tail !== null;
		boundaries.set(row, { row, meta, kept, unresolved: named && kept === null });
	}
	return boundaries;
}

/** `preservedMessages` lists the messages; `preservedSegment`, of older files, names only the ends of a run of parent links. */
function keptMessages(lines: Lines, boundary: number, meta: BoundaryMeta): Kept | null {
	const anchor = meta.anchor === null ? -1 : lines.chain.rowOf(meta.anchor);
	if (anchor < boundary) return null;
	const rows =
		meta.preserved.length > 0
			? meta.preserved.map((id) => lines.chain.rowOf(id)).filter((row) => row >= 0)
			: segmentRows(lines, boundary, meta);
	const kept = [...new Set(rows)].filter((row) => row !== anchor && row !== boundary);
	return kept.length > 0 ? { boundary, anchor, rows: kept } : null;
}

/** The run from tail up to head in the file's order; empty when the links do not lead there. */
function segmentRows(lines: Lines, boundary: number, meta: BoundaryMeta): number[] {
	const { chain } = lines;
	const head = meta.head === null ? -1 : chain.rowOf(meta.head);
	const first = head < 0 ? -1 : lines.firstCopy(head);
	const rows: number[] = [];
	const seen = new Set<number>();
	let at = head < 0 || meta.tail === null ? -1 : chain.rowOf(meta.tail);
	while (at >= 0 && !seen.has(at)) {
		seen.add(at);
		rows.push(at);
		if (at === head) return rows.reverse();
		// The host may write the last kept message behind the summary, as its child: then its old parent is in an older copy, or nowhere.
		const old = lines.firstCopy(at);
		at = old < boundary ? chain.parent[old] : lastConversationBefore(lines, boundary, (row) => seen.has(row));
		if (at < first) break;
	}
	return [];
}

/** The links that compactions changed, for a walk in the host's context. */
export class KeptLinks {
	readonly #parents = new Map<number, number>();
	readonly #tails = new Map<number, number>();
	readonly #chain: Chain;
	/** Rows that some boundary kept: what they recorded of usage is older than the compaction. */
	readonly rows = new Set<number>();

	/** Takes the boundaries that stand before the leaf in the file; of two that kept one message the later one holds it. */
	constructor(chain: Chain, boundaries: Iterable<Boundary>, leaf: number) {
		this.#chain = chain;
		for (const { kept, row } of boundaries) {
			if (kept === null || row > leaf) continue;
			kept.rows.forEach((member, k) => {
				this.#parents.set(member, k === 0 ? kept.anchor : kept.rows[k - 1]);
				this.rows.add(member);
			});
			this.#tails.set(kept.anchor, kept.rows[kept.rows.length - 1]);
		}
	}

	/** Where a walk that ends at the leaf starts: behind an anchor come the messages that were kept. */
	startAt(leaf: number): number {
		return this.#tails.get(leaf) ?? leaf;
	}

	/** The parent of a row as the host sees it; a constant of `chain.ts` when there is none. */
	parentOf(row: number): number {
		const moved = this.#parents.get(row);
		if (moved !== undefined) return moved;
		const parent = this.#chain.parent[row];
		return this.#tails.get(parent) ?? parent;
	}
}
