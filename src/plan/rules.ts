/** What a plan may not do (CONTRACT sections 7 and 8). */
import type { AtomTable } from "../atoms/table.js";
import { type ErrorCode, MidcompactError } from "../errors.js";
import type { Plan, PlanRange } from "./plan.js";

interface Span {
	start: number;
	end: number;
}

/** Ranges around protected atoms that a refusal names. */
const NAMED = 2;

/** Why something cannot be committed or added. */
export interface Refusal {
	code: ErrorCode;
	message: string;
	hint?: string;
}

/** Refuses a range that may not be added. Errors: `reversed`, `protected_atom` with the ranges that would go around, `overlap`. */
export function checkRange(atoms: AtomTable, { ranges }: Pick<Plan, "ranges">, start: number, end: number): void {
	const refusal = refusalOf(atoms, { start, end }) ?? overlapWith(atoms, ranges, { start, end });
	if (refusal) throw new MidcompactError(refusal.code, refusal.message, refusal.hint);
}

/** Everything that keeps the ranges from being committed, in order; empty when nothing does. */
export function refusalsOf(atoms: AtomTable, ranges: readonly PlanRange[]): Refusal[] {
	if (ranges.length === 0) return [{ code: "empty_plan", message: "The plan has no range." }];
	const refusals: Refusal[] = [];
	for (const [i, range] of ranges.entries()) {
		const refusal = refusalOf(atoms, range) ?? overlapWith(atoms, ranges.slice(Math.max(0, i - 1), i), range);
		if (refusal) refusals.push({ ...refusal, message: `${range.id}: ${refusal.message}` });
		if (range.summary === "")
			refusals.push({
				code: "pending_summary",
				message: `${range.id} (${spanText(atoms, range)}) has no summary yet.`,
			});
	}
	return refusals;
}

function refusalOf(atoms: AtomTable, { start, end }: Span): Refusal | null {
	if (start < 0 || end >= atoms.length)
		return { code: "unknown_ref", message: `The range reaches beyond the ${atoms.length} atoms of the anchor.` };
	if (start > end) {
		return {
			code: "reversed",
			message: `The range starts at ${atoms.refOf(start)}, which is after its end ${atoms.refOf(end)}.`,
		};
	}
	return protectedIn(atoms, { start, end });
}

function protectedIn(atoms: AtomTable, { start, end }: Span): Refusal | null {
	let first = -1;
	let more = 0;
	const around: Span[] = [];
	let stretches = 0;
	let from = start;
	for (let atom = start; atom <= end + 1; atom++) {
		if (atom <= end && atoms.reasonOf(atom) === null) continue;
		if (from < atom) {
			stretches++;
			if (around.length < NAMED) around.push({ start: from, end: atom - 1 });
		}
		from = atom + 1;
		if (atom > end) break;
		if (first < 0) first = atom;
		else more++;
	}
	if (first < 0) return null;
	const others = more === 0 ? "" : `; ${more} more in it ${more === 1 ? "is" : "are"} protected too`;
	const named = around.map((span) => spanText(atoms, span)).join(" and ");
	const left = stretches > around.length ? ` and ${stretches - around.length} more` : "";
	return {
		code: "protected_atom",
		message: `${atoms.refOf(first)} inside ${spanText(atoms, { start, end })} is protected (${atoms.reasonOf(first)})${others}.`,
		hint: stretches === 0 ? "No atom of it can be replaced." : `Around what is protected: ${named}${left}.`,
	};
}

function overlapWith(atoms: AtomTable, ranges: readonly PlanRange[], { start, end }: Span): Refusal | null {
	const other = ranges.find((range) => range.start <= end && range.end >= start);
	if (!other) return null;
	return {
		code: "overlap",
		message: `${spanText(atoms, { start, end })} overlaps the range ${other.id} (${spanText(atoms, other)}).`,
		hint: `Remove ${other.id} first, or choose atoms outside it.`,
	};
}

/** `a0003..a0009`, or the one ref. */
export function spanText(atoms: AtomTable, { start, end }: Span): string {
	return start === end ? atoms.refOf(start) : `${atoms.refOf(start)}..${atoms.refOf(end)}`;
}
