/** Worker: what rows name, what a summary names of it, and what other rows do. Texts of rows never cross threads. */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import {
	EVIDENCE_KINDS,
	type Evidence,
	EvidenceCounter,
	type EvidenceItems,
	evidenceOf,
} from "../src/plan/evidence.js";
import { keyOf, notInSummary } from "../src/plan/losses.js";
import { type RowPlaces, type RowSource, readRows } from "../src/session/rows.js";

/**
 * `evidence`: the {@link Evidence} of rows. `missing`: which items a summary does not name, rising indexes. `seen`: a byte for every item, 1 when one of the rows names it; the rows of a task
 * should be few enough that nobody waits for it in vain.
 */
export type LossTask =
	| { op: "evidence"; from: RowSource; places: RowPlaces }
	| { op: "missing"; items: EvidenceItems; summary: string }
	| { op: "seen"; from: RowSource; places: RowPlaces; items: EvidenceItems };
export type LossResult = Evidence | Uint32Array | Uint8Array;

/** Errors: `unreadable` when the session changed. */
export default async function losses(task: LossTask): Promise<LossResult> {
	try {
		if (task.op === "missing") return notInSummary(task.items, task.summary);
		return task.op === "evidence" ? await evidenceIn(task) : await seenIn(task);
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

async function evidenceIn({ from, places }: Extract<LossTask, { op: "evidence" }>): Promise<Evidence> {
	const counter = new EvidenceCounter();
	for await (const { facts } of readRows(from, places)) evidenceOf(facts, (kind, item) => counter.add(kind, item));
	return counter.evidence;
}

async function seenIn({ from, places, items }: Extract<LossTask, { op: "seen" }>): Promise<Uint8Array> {
	const seen = new Uint8Array(items.text.length);
	const indexes = new Map<string, number>();
	items.text.forEach((text, i) => {
		indexes.set(keyOf(EVIDENCE_KINDS[items.kind[i]], text), i);
	});
	let left = seen.length;
	for await (const { facts } of readRows(from, places)) {
		if (left === 0) break;
		evidenceOf(facts, (kind, item) => {
			const index = indexes.get(keyOf(kind, item));
			if (index === undefined || seen[index] === 1) return;
			seen[index] = 1;
			left--;
		});
	}
	return seen;
}
