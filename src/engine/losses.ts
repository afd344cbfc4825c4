/** The loss report of a range: its originals, its summary, and everything that the plan keeps. */
import type { LossTask } from "../../workers/losses.js";
import { type Evidence, EvidenceCounter } from "../plan/evidence.js";
import { itemsAt, type LossReport, lossReport } from "../plan/losses.js";
import type { PlanRange } from "../plan/plan.js";
import { placesOf } from "../session/places.js";
import { batchesOf } from "./batches.js";
import { inOrder } from "./pool.js";
import type { OpenSurvey } from "./survey.js";

/** Errors: `unreadable`, `cancelled`. */
export async function lossesOf(
	survey: OpenSurvey,
	range: PlanRange,
	ranges: readonly PlanRange[],
	signal: AbortSignal,
): Promise<LossReport> {
	const { pool, source: from, table } = survey;
	const run = <T>(task: LossTask) => pool.run<T>("losses", task, signal);
	const found = new EvidenceCounter();
	await inOrder(
		batchesOf(table, rowsOf(survey, range.start, range.end)),
		pool.width,
		(rows) => run<Evidence>({ op: "evidence", from, places: placesOf(table, rows) }),
		(some) => found.addAll(some),
	);
	const { evidence } = found;
	const missing = await run<Uint32Array>({
		op: "missing",
		items: { kind: evidence.kind, text: evidence.text },
		summary: range.summary,
	});
	const items = itemsAt(evidence, missing);
	const seen = new Uint8Array(items.text.length);
	if (items.text.length === 0) return lossReport(evidence, missing, seen);
	for (const { start, end } of kept(survey, ranges)) {
		await inOrder(
			batchesOf(table, rowsOf(survey, start, end)),
			pool.width,
			(rows) => run<Uint8Array>({ op: "seen", from, places: placesOf(table, rows), items }),
			(some) => {
				for (let i = 0; i < seen.length; i++) seen[i] |= some[i];
			},
		);
	}
	return lossReport(evidence, missing, seen);
}

/** The stretches of atoms that are in no range. */
function kept({ atoms }: OpenSurvey, ranges: readonly PlanRange[]): { start: number; end: number }[] {
	const stretches: { start: number; end: number }[] = [];
	let start = 0;
	for (const range of ranges) {
		if (range.start > start) stretches.push({ start, end: range.start - 1 });
		start = range.end + 1;
	}
	if (start < atoms.length) stretches.push({ start, end: atoms.length - 1 });
	return stretches;
}

function rowsOf({ rows: { rows, start: at } }: OpenSurvey, start: number, end: number): Int32Array {
	return rows.subarray(at[start], at[end + 1]);
}
