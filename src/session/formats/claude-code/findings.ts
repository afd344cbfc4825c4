/** Damage that shows only when all lines are linked (RULINGS 20). Found over the whole file, whatever the anchor is. */
import type { BranchDamage, BranchOptions } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import type { DamageKind } from "../../damage.js";
import type { Boundary } from "./compaction.js";
import { LINE } from "./kinds.js";
import type { Lines } from "./lines.js";
import { logicalParent } from "./walk.js";

export interface FindingOptions extends Pick<BranchOptions, "scope" | "memory"> {
	/** The file was read from top to bottom: a notice says so instead of `several_roots`. */
	inFileOrder: boolean;
	/** 1 for rows that the anchor was read from. */
	walked: Uint8Array;
}

export async function findDamage(
	lines: Lines,
	boundaries: ReadonlyMap<number, Boundary>,
	options: FindingOptions,
): Promise<BranchDamage[]> {
	const { table, chain } = lines;
	const pause = pacer();
	const damage: BranchDamage[] = [];
	const add = (kind: DamageKind, row: number, counts = true) =>
		damage.push({ kind, row, onAnchor: counts && options.walked[row] === 1 });
	for (let row = 0; row < table.rows && !options.memory; row++) {
		if (pause()) await breathe();
		if (table.id.at(row) < 0 && lines.isChain(row)) add("missing_id", row);
	}
	const again = keptAgain(lines, boundaries);
	const addAll = async (kind: DamageKind, rows: readonly number[]) => {
		for (const row of rows) {
			if (pause()) await breathe();
			if (kind !== "duplicate_id" || !again.has(row)) add(kind, row);
		}
	};
	await addAll("duplicate_id", chain.duplicates);
	await addAll("missing_parent", chain.missingParents);
	await addAll("parent_cycle", chain.cycles);
	if (!options.inFileOrder) await addAll("several_roots", await extraRoots(lines));
	const inPath = options.scope === "path";
	for (const { row, meta } of boundaries.values()) {
		if (meta.logicalParent !== null && chain.rowOf(meta.logicalParent) < 0) add("missing_parent", row, inPath);
	}
	for (const row of await logicalCycles(lines, boundaries)) add("parent_cycle", row, inPath);
	return damage;
}

/** Messages that a compaction kept and the host wrote a second time, behind the boundary: no damage. */
function keptAgain(lines: Lines, boundaries: ReadonlyMap<number, Boundary>): Set<number> {
	const rows = new Set<number>();
	for (const { kept } of boundaries.values()) {
		for (const row of kept?.rows ?? []) {
			if (kept && lines.firstCopy(row) < kept.boundary && row > kept.boundary) rows.add(row);
		}
	}
	return rows;
}

/** Roots beyond the first. A compaction starts anew and a sub-agent has a start of its own: both are no further root. */
async function extraRoots(lines: Lines): Promise<number[]> {
	const pause = pacer();
	const roots: number[] = [];
	for (const row of lines.chain.roots) {
		if (pause()) await breathe();
		if (lines.lost[row] === 1 || lines.table.type.at(row) === LINE.BOUNDARY) continue;
		if (lines.fileSide === "all" || !lines.isSidechain(row)) roots.push(row);
	}
	return roots.slice(1);
}

/** Boundaries whose `logicalParentUuid` leads back to themselves, the first of every cycle. */
async function logicalCycles(lines: Lines, boundaries: ReadonlyMap<number, Boundary>): Promise<number[]> {
	const linked = [...boundaries.values()].filter(({ meta }) => meta.logicalParent !== null);
	if (linked.length === 0) return [];
	const pause = pacer();
	const parent = lines.chain.parent.slice();
	for (const boundary of linked) parent[boundary.row] = logicalParent(lines, boundary, () => false);
	const trail = new Int32Array(parent.length);
	const found: number[] = [];
	for (const { row } of linked) {
		let at = row;
		while (at >= 0 && trail[at] === 0) {
			if (pause()) await breathe();
			trail[at] = row + 1;
			at = parent[at];
		}
		if (at < 0 || trail[at] !== row + 1) continue;
		const cycle = [at];
		for (let member = parent[at]; member !== at; member = parent[member]) cycle.push(member);
		const closing = cycle.filter((member) => boundaries.get(member)?.meta.logicalParent != null);
		if (closing.length > 0) found.push(closing.reduce((first, member) => Math.min(first, member)));
	}
	return found;
}
