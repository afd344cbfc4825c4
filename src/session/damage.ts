/** Damage that a session survived (RULINGS 20): reported, never silent, never fatal. */

const DAMAGE_KINDS = [
	"torn_tail",
	"invalid_json",
	"not_an_object",
	"glued",
	"spliced",
	"nul_run",
	"invalid_utf8",
	"missing_id",
	"missing_parent",
	"parent_cycle",
	"several_roots",
	"duplicate_id",
] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** One finding. `offset` in bytes from the start of the file, `line` from 1; `record` is the record it is about, -1 when there is none. */
export interface Damage {
	kind: DamageKind;
	offset: number;
	line: number;
	record: number;
}

/** Findings kept one by one; beyond this only their number is. */
export const DAMAGE_KEPT = 1000;

/** Collects findings with bounded memory: exact counts by kind, the first ones in full. */
export class DamageLog {
	readonly kinds: Partial<Record<DamageKind, number>> = {};
	readonly first: Damage[] = [];
	count = 0;

	add(kind: DamageKind, offset: number, line: number, record: number): void {
		this.count++;
		this.kinds[kind] = (this.kinds[kind] ?? 0) + 1;
		if (this.first.length < DAMAGE_KEPT) this.first.push({ kind, offset, line, record });
	}

	/** Adds the findings of a later part of the file whose lines and records start at the given numbers. */
	append(other: DamageLog | DamageLogData, lineBase: number, recordBase: number): void {
		for (const [kind, n] of Object.entries(other.kinds)) {
			const key = kind as DamageKind;
			this.kinds[key] = (this.kinds[key] ?? 0) + n;
		}
		this.count += other.count;
		for (const d of other.first) {
			if (this.first.length >= DAMAGE_KEPT) break;
			this.first.push({ ...d, line: d.line + lineBase, record: d.record < 0 ? -1 : d.record + recordBase });
		}
	}
}

/** A log after structured cloning. */
export type DamageLogData = Pick<DamageLog, "kinds" | "first" | "count">;
