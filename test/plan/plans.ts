/** Ranges, atoms and entries for the tests of the plan. */
import { AtomTable, type Reason } from "#src/atoms/table.js";
import type { PlanRange } from "#src/plan/plan.js";
import type { AnchorFacts, JournalEntry } from "#src/plan/store.js";

export function range(id: string, start: number, end: number, more: Partial<PlanRange> = {}): PlanRange {
	return { id, start, end, topic: "", summary: `what happened in ${id}`, hash: `hash of ${start}-${end}`, ...more };
}

/** Atoms of which some are protected: by their index, the reason. */
export function atomTable(length: number, reasons: Readonly<Record<number, Reason>> = {}): AtomTable {
	const atoms = new AtomTable();
	for (let atom = 0; atom < length; atom++) {
		atoms.push({
			kind: "assistant",
			protocol: "none",
			reason: reasons[atom] ?? null,
			marks: 0,
			sources: 0,
			messageEnd: atom + 1,
			chars: 1,
			images: 0,
			imageBytes: 0,
		});
	}
	return atoms;
}

export const AT = "2026-01-02T03:04:05.000Z";

export function anchor(more: Partial<AnchorFacts> = {}): AnchorFacts {
	return { format: "pi", scope: "context", entry: "e9", atoms: 100, messages: 120, hash: "ab12", ...more };
}

export function startEntry(transaction: string, more: Partial<AnchorFacts> = {}): JournalEntry {
	return { type: "start", version: 1, transaction, at: AT, mode: "agent", instructions: "", anchor: anchor(more) };
}

/** The n-th change of a transaction adds the range `dn`. */
export function addEntry(transaction: string, n: number, more: Partial<PlanRange> = {}): JournalEntry {
	const change = { kind: "add", range: range(`d${n}`, 10 * n, 10 * n + 5, more) } as const;
	return { type: "change", transaction, at: AT, revision: n, change };
}

export const lineOf = (entry: unknown) => `${JSON.stringify(entry)}\n`;
