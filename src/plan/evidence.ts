/**
 * Evidence: the file paths, commands, error texts, numbers with units and identifiers that a text names; what a reader of a summary would miss. Pure, in time linear in the text.
 */
import { detached } from "../search/detached.js";
import { splitCutText } from "../session/cut-text.js";
import { isObject, type JsonValue, type Part, type RecordFacts } from "../session/record.js";
import { commandsIn, errorsIn, isShell, quotedCommands, scriptIn } from "./evidence-lines.js";
import { wordsIn } from "./evidence-words.js";

export const EVIDENCE_KINDS = ["path", "command", "error", "number", "identifier"] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** Items as columns: `kind` is an index of {@link EVIDENCE_KINDS}. */
export interface EvidenceItems {
	kind: Uint8Array;
	text: string[];
}

/** Distinct items with how often each occurs. `full`: kinds of which more distinct items were met than are kept. */
export interface Evidence extends EvidenceItems {
	count: Uint32Array;
	full: EvidenceKind[];
}

export type VisitItem = (kind: EvidenceKind, item: string) => void;

/** Distinct items of a kind that are kept. */
export const MOST_ITEMS = 5_000;
/** Units of a text that is tried as JSON: results of tools are, and their line ends are letters until it is parsed. */
const JSON_MAX = 1 << 22;
/** Depth to which JSON is looked into. */
const DEPTH_MAX = 1_000;

/** Calls `visit` for every item of a row, as often as it occurs. What a host put beside a message (a `reminder`) names nothing of the work. */
export function evidenceOf(facts: RecordFacts, visit: VisitItem): void {
	for (const part of facts.parts) evidenceOfPart(part, visit);
}

/** The same for plain words, such as a summary. */
export function evidenceOfText(text: string, visit: VisitItem): void {
	wordsIn(text, visit);
	quotedCommands(text, (item) => visit("command", item));
	errorsIn(text, (item) => visit("error", item));
}

function evidenceOfPart(part: Part, visit: VisitItem): void {
	if (part.type === "tool_call") {
		const given = loaded(part.arguments ?? "");
		const value = jsonIn(given);
		const script = isShell(part.name) ? scriptIn(value ?? given) : null;
		if (script !== null) commandsIn(script, (item) => visit("command", item));
		// The names of a tool's own fields say nothing of the work.
		for (const text of value === null ? [given] : stringsIn(value, false)) wordsIn(text, visit);
	} else if (part.type === "thinking") wordsIn(loaded(part.text), visit);
	else if (part.type === "text" && part.from !== "reminder") evidenceOfWords(loaded(part.text), part.from, visit);
}

function evidenceOfWords(text: string, from: "own" | "result" | "command" | "output", visit: VisitItem): void {
	if (from === "command") {
		commandsIn(text, (item) => visit("command", item));
		wordsIn(text, visit);
	} else if (from === "own") evidenceOfText(text, visit);
	else {
		const value = jsonIn(text);
		for (const piece of value === null ? [text] : stringsIn(value, true)) {
			wordsIn(piece, visit);
			errorsIn(piece, (item) => visit("error", item));
		}
	}
}

function loaded(text: string): string {
	return splitCutText(text).head;
}

/** The list or object that a text is; null for any other text. */
function jsonIn(text: string): JsonValue | null {
	if (text.length > JSON_MAX || !/^\s{0,100}[[{]/.test(text)) return null;
	try {
		return JSON.parse(text) as JsonValue;
	} catch {
		return null;
	}
}

function* stringsIn(value: JsonValue, keys: boolean): Generator<string> {
	const waiting: { value: JsonValue; depth: number }[] = [{ value, depth: 0 }];
	for (let next = waiting.pop(); next; next = waiting.pop()) {
		if (typeof next.value === "string") yield next.value;
		else if (next.depth < DEPTH_MAX && typeof next.value === "object" && next.value !== null) {
			if (keys && isObject(next.value)) yield* Object.keys(next.value);
			const depth = next.depth + 1;
			for (const one of Object.values(next.value)) if (one !== undefined) waiting.push({ value: one, depth });
		}
	}
}

/** Counts distinct items, at most {@link MOST_ITEMS} of a kind: those met first. */
export class EvidenceCounter {
	readonly #counts = EVIDENCE_KINDS.map(() => new Map<string, number>());
	readonly #full = new Set<EvidenceKind>();

	add(kind: EvidenceKind, item: string, count = 1): void {
		const counts = this.#counts[EVIDENCE_KINDS.indexOf(kind)];
		const before = counts.get(item);
		if (before !== undefined) counts.set(item, before + count);
		else if (counts.size < MOST_ITEMS) counts.set(detached(item), count);
		else this.#full.add(kind);
	}

	addAll({ kind, text, count, full }: Evidence): void {
		for (let i = 0; i < text.length; i++) this.add(EVIDENCE_KINDS[kind[i]], text[i], count[i]);
		for (const one of full) this.#full.add(one);
	}

	get evidence(): Evidence {
		const items = this.#counts.flatMap((counts, kind) =>
			Array.from(counts, ([text, count]) => ({ kind, text, count })),
		);
		return {
			kind: Uint8Array.from(items, ({ kind }) => kind),
			text: items.map(({ text }) => text),
			count: Uint32Array.from(items, ({ count }) => count),
			full: EVIDENCE_KINDS.filter((kind) => this.#full.has(kind)),
		};
	}
}
