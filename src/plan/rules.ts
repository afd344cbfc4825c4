/** What a plan may not do (CONTRACT sections 7 and 8). Pure. */
import type { AtomTable } from "../atoms/table.js";
import { type ErrorCode, MidcompactError } from "../errors.js";
import type { Plan, PlanRange } from "./plan.js";

interface Span {
	start: number;
	end: number;
}

/** Ranges around protected atoms that a refusal names. */
const NAMED = 2;

/** Why something cannot be committed or added. Without a hint, that of the code holds. */
export interface Refusal {
	code: ErrorCode;
	message: string;
	hint?: string;
}

/** Refuses a range that may not be added. Errors: `unknown_ref`, `reversed`, `protected_atom` with the ranges that would go around, `overlap`. */
export function checkRange(atoms: AtomTable, { ranges }: Pick<Plan, "ranges">, start: number, end: number): void {
	const span = { start, end };
	const others = ranges.filter((range) => range.start <= end && range.end >= start);
	const refusal = endsRefusal(atoms, span) ?? protectedIn(atoms, span, others) ?? overlapWith(atoms, span, others);
	if (refusal) throw new MidcompactError(refusal.code, refusal.message, refusal.hint);
}

/** Everything that keeps the ranges from being committed, in the order of the ranges; empty when nothing does. */
export function refusalsOf(atoms: AtomTable, ranges: readonly PlanRange[]): Refusal[] {
	if (ranges.length === 0) return [{ code: "empty_plan", message: "The plan has no range." }];
	const refusals: Refusal[] = [];
	/** Of the ranges so far, the one that reaches farthest. */
	let farthest: PlanRange | null = null;
	for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
		const ends = endsRefusal(atoms, range);
		const found = ends
			? [ends]
			: [
					protectedIn(atoms, range, []),
					farthest && farthest.end >= range.start ? overlapWith(atoms, range, [farthest]) : null,
				];
		for (const refusal of found) if (refusal) refusals.push({ ...refusal, message: `${range.id}: ${refusal.message}` });
		if (range.summary === "") {
			const where = ends ? "" : ` (${spanText(atoms, range)})`;
			refusals.push({ code: "pending_summary", message: `${range.id}${where} has no summary yet.` });
		}
		if (!ends && (farthest === null || range.end > farthest.end)) farthest = range;
	}
	return refusals;
}

/** `a0003..a0009`, or the one ref. */
export function spanText(atoms: AtomTable, { start, end }: Span): string {
	return start === end ? atoms.refOf(start) : `${atoms.refOf(start)}..${atoms.refOf(end)}`;
}

function endsRefusal(atoms: AtomTable, { start, end }: Span): Refusal | null {
	if (Math.min(start, end) < 0 || Math.max(start, end) >= atoms.length)
		return { code: "unknown_ref", message: `The range reaches beyond the ${atoms.length} atoms of the anchor.` };
	if (start <= end) return null;
	return {
		code: "reversed",
		message: `The range starts at ${atoms.refOf(start)}, which is after its end ${atoms.refOf(end)}.`,
	};
}

/** The stretches that are named hold none of `others` either, so that each can be added as it is. */
function protectedIn(atoms: AtomTable, span: Span, others: readonly Span[]): Refusal | null {
	const { start, end } = span;
	let first = -1;
	let more = 0;
	for (let atom = start; atom <= end; atom++) {
		if (atoms.reasonOf(atom) === null) continue;
		if (first < 0) first = atom;
		else more++;
	}
	if (first < 0) return null;
	const inside = start === end ? "" : ` inside ${spanText(atoms, span)}`;
	const rest = more === 0 ? "" : `; ${more} more in it ${more === 1 ? "is" : "are"} protected too`;
	return {
		code: "protected_atom",
		message: `${atoms.refOf(first)}${inside} is protected (${atoms.reasonOf(first)})${rest}.`,
		hint: aroundText(atoms, span, others),
	};
}

function aroundText(atoms: AtomTable, { start, end }: Span, others: readonly Span[]): string {
	const around: Span[] = [];
	let stretches = 0;
	let other = 0;
	for (let from = start, atom = start; atom <= end + 1; atom++) {
		while (other < others.length && others[other].end < atom) other++;
		const taken = other < others.length && others[other].start <= atom;
		if (atom <= end && !taken && atoms.reasonOf(atom) === null) continue;
		if (from < atom) {
			stretches++;
			if (around.length < NAMED) around.push({ start: from, end: atom - 1 });
		}
		from = atom + 1;
	}
	if (stretches === 0) return "No atom of it can be replaced.";
	const what = others.length === 0 ? "what is protected" : "what is protected or in a range already";
	const named = around.map((stretch) => spanText(atoms, stretch)).join(" and ");
	const left = stretches > around.length ? ` and ${stretches - around.length} more` : "";
	return `Around ${what}: ${named}${left}.`;
}

/** `others`: the ranges that overlap. */
function overlapWith(atoms: AtomTable, span: Span, others: readonly PlanRange[]): Refusal | null {
	if (others.length === 0) return null;
	const [other] = others;
	const more = others.length === 1 ? "" : ` and ${others.length - 1} more`;
	return {
		code: "overlap",
		message: `${spanText(atoms, span)} overlaps the range ${other.id} (${spanText(atoms, other)})${more}.`,
		hint: `Remove ${other.id} first, or choose atoms outside it.`,
	};
}
