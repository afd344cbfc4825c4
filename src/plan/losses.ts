/** The loss report: what the originals of a range name and neither its summary nor the kept text does. It informs, it gates nothing. Pure. */
import { borderBefore } from "../search/borders.js";
import { oneLine } from "../search/landmark.js";
import { EVIDENCE_KINDS, type Evidence, type EvidenceItems, type EvidenceKind, evidenceOfText } from "./evidence.js";
import { shorterNames } from "./evidence-paths.js";

export interface LossReport {
	/** One entry a kind, in the order of {@link EVIDENCE_KINDS}. */
	kinds: {
		kind: EvidenceKind;
		/** Distinct items of the originals, and how many of them are lost. */
		total: number;
		lost: number;
		/** The originals name more than were counted: both numbers are lower bounds. */
		more: boolean;
		/** The lost ones that occur most often. */
		examples: string[];
	}[];
}

const EXAMPLES = 8;
/** UTF-16 units of an example. */
const EXAMPLE_MAX = 120;

/** The items of the originals that the summary does not name, as rising indexes. Time grows with items × length of the summary: for workers. */
export function notInSummary(evidence: EvidenceItems, summary: string): Uint32Array {
	const names = new Set<string>();
	evidenceOfText(summary, (kind, item) => names.add(keyOf(kind, item)));
	const line = oneLine(summary).toLowerCase();
	const missing: number[] = [];
	for (let i = 0; i < evidence.text.length; i++) {
		const kind = EVIDENCE_KINDS[evidence.kind[i]];
		if (!names.has(keyOf(kind, evidence.text[i])) && !isIn(summary, line, kind, evidence.text[i])) missing.push(i);
	}
	return Uint32Array.from(missing);
}

/** Those items of the evidence. */
export function itemsAt(evidence: EvidenceItems, indexes: Uint32Array): EvidenceItems {
	return {
		kind: Uint8Array.from(indexes, (i) => evidence.kind[i]),
		text: Array.from(indexes, (i) => evidence.text[i]),
	};
}

/** What is lost of the originals: `missing` are the indexes of what the summary does not name, `seen[m]` is 1 when kept text names `missing[m]`. */
export function lossReport(evidence: Evidence, missing: Uint32Array, seen: Uint8Array): LossReport {
	const lost = missing.filter((_, m) => seen[m] !== 1);
	return {
		kinds: EVIDENCE_KINDS.map((kind, k) => {
			const total = evidence.kind.reduce((sum, one) => sum + (one === k ? 1 : 0), 0);
			const own = Array.from(lost.filter((i) => evidence.kind[i] === k));
			const top = own.sort((a, b) => evidence.count[b] - evidence.count[a] || a - b).slice(0, EXAMPLES);
			const examples = top.map((i) => clipped(evidence.text[i]));
			return { kind, total, lost: own.length, more: evidence.full.includes(kind), examples };
		}),
	};
}

/** What tells two items apart. */
export function keyOf(kind: EvidenceKind, item: string): string {
	return `${EVIDENCE_KINDS.indexOf(kind)}${item}`;
}

/** Whether the words of the summary name an item; `line` is the summary on one line in lower case. */
function isIn(summary: string, line: string, kind: EvidenceKind, item: string): boolean {
	switch (kind) {
		case "path":
			return summary.includes(item) || shorterNames(item).some((name) => holdsWord(summary, name));
		case "identifier":
			return summary.includes(item);
		case "number":
			return holdsNumber(line, item.toLowerCase());
		case "command":
			return line.includes(item.toLowerCase());
		case "error":
			return line.includes(item.toLowerCase()) || namesMessage(line, item.toLowerCase());
	}
}

/** `x is not a function` of `TypeError: x is not a function`. */
function namesMessage(line: string, error: string): boolean {
	const message = /^[\w.[\] ]{1,80}: (.{12,})$/.exec(error)?.[1];
	return message !== undefined && line.includes(message);
}

/** `a.ts` is not in `data.ts`. */
function holdsWord(text: string, word: string): boolean {
	for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
		if (!/[\w-]/.test(text[at - 1] ?? " ") && !/\w/.test(text[at + word.length] ?? " ")) return true;
	return false;
}

/** `50 ms` is not in `250 ms`. */
function holdsNumber(text: string, number: string): boolean {
	for (let at = text.indexOf(number); at >= 0; at = text.indexOf(number, at + 1))
		if (!/\d|[.,]\d?$/.test(text.slice(Math.max(0, at - 1), at))) return true;
	return false;
}

function clipped(text: string): string {
	return text.length <= EXAMPLE_MAX ? text : `${text.slice(0, borderBefore(text, EXAMPLE_MAX - 1))}…`;
}
