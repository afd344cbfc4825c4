/** What `inspect` says about the session as a whole: anchor, usage, totals, damage, notices. */
import type { Encoding } from "../measure/encodings.js";
import type { DamageKind } from "../session/damage.js";
import type { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { bytesText, clip, count, LIST_BOUND, oneLine, percentText, plural, shortName, wellFormed } from "./text.js";

/** Findings in data at most. */
const DAMAGE_LISTED = 20;
/** Units of a notice in data. */
const NOTICE_BOUND = 500;
const NOTICES_IN_TEXT = 5;
const NOTICE_IN_TEXT = 200;

export interface UsageFigures {
	source: "recorded" | "none";
	/** Input, cache read, cache write and output of the last valid reply (RULINGS 19). */
	tokens: number | null;
	window: number | null;
	/** 0-100. */
	percent: number | null;
	entry: string | null;
}

/** Whether a transaction is open, and what kept that from being found out. */
export interface OpenState {
	transaction: string | null;
	notices: readonly string[];
}

const NOTHING_OPEN: OpenState = { transaction: null, notices: [] };

export interface Overview {
	anchor: {
		entry: string | null;
		format: string;
		scope: string;
		records: number;
		/** System messages included. */
		messages: number;
		bytes: number;
	};
	/** Id of the transaction; null when none runs. */
	transaction: string | null;
	usage: UsageFigures;
	tokens: { encoding: Encoding; ready: number; approximate_atoms: number };
	totals: {
		groups: number;
		atoms: number;
		messages: number;
		chars: number;
		images: number;
		image_bytes: number;
		tokens: number | null;
		protected: number;
		compressible: number;
		system: { messages: number; chars: number; tokens: number | null };
	};
	damage: {
		count: number;
		on_anchor: number;
		kinds: Partial<Record<DamageKind, number>>;
		first: { kind: DamageKind; offset: number; line: number }[];
	};
	notices: string[];
	notices_total: number;
}

/** `open`: what is known of a transaction; without it the overview is of the session alone. */
export function overviewOf(survey: Survey, sums: Sums, open: OpenState = NOTHING_OPEN): Overview {
	const { atoms, table, system, tokens, damage } = survey;
	const notices = [...open.notices, ...survey.notices];
	const all = atoms.length;
	const messages = atoms.messageStart.at(all);
	const guarded = sums.protectedBefore[all];
	return {
		anchor: {
			entry: survey.anchor,
			format: survey.format,
			scope: survey.scope,
			records: table.records,
			messages: messages + system.messages,
			bytes: survey.bytes,
		},
		transaction: open.transaction,
		usage: usageOf(survey),
		tokens: { encoding: tokens.encoding, ready: tokens.ready, approximate_atoms: tokens.approximateAtoms },
		totals: {
			groups: survey.groups.count,
			atoms: all,
			messages,
			chars: sums.chars[all],
			images: sums.images[all],
			image_bytes: sums.imageBytes[all],
			tokens: tokens.ready >= 1 ? sums.tokens.sum(0, all) : null,
			protected: guarded,
			compressible: all - guarded,
			system: { messages: system.messages, chars: system.chars, tokens: tokens.ofSystem() },
		},
		damage: {
			count: damage.count,
			on_anchor: damage.onAnchor,
			kinds: damage.kinds,
			first: damage.first.slice(0, DAMAGE_LISTED).map(({ kind, offset, line }) => ({ kind, offset, line })),
		},
		notices: notices.slice(0, LIST_BOUND).map((notice) => clip(wellFormed(notice), NOTICE_BOUND)),
		notices_total: notices.length,
	};
}

export function usageOf({ branch, table }: Survey): UsageFigures {
	if (!branch.usage) return { source: "none", tokens: null, window: null, percent: null, entry: null };
	const { input, output, cacheRead, cacheWrite, window } = branch.usage.usage;
	const tokens = input + output + cacheRead + cacheWrite;
	const percent = window === null || window <= 0 ? null : Math.round((tokens / window) * 10_000) / 100;
	return { source: "recorded", tokens, window, percent, entry: table.entryOf(branch.usage.row) };
}

/** The overview as lines for an agent; at most some 3,000 units whatever the session holds. */
export function overviewLines(overview: Overview): string[] {
	const { anchor, totals, tokens, damage } = overview;
	const lines = [
		`Session: ${anchor.format}, scope ${anchor.scope}, anchor ${anchor.entry === null ? "none" : shortName(anchor.entry)}, ${plural(anchor.records, "record")}, ${plural(anchor.messages, "message")}, ${bytesText(anchor.bytes)}`,
		`Usage: ${usageText(overview.usage)}`,
		`Totals: ${plural(totals.groups, "group")}, ${plural(totals.atoms, "atom")} (${count(totals.compressible)} compressible, ${count(totals.protected)} protected), ${plural(totals.messages, "message")}, ${plural(totals.chars, "char")}, ${imagesText(totals.images, totals.image_bytes)}`,
		`Tokens: ${tokenLine(totals.tokens, tokens)}`,
	];
	if (overview.transaction !== null) lines.push(`Transaction: ${shortName(overview.transaction)} is open`);
	if (totals.system.messages > 0) {
		const counted = totals.system.tokens === null ? "" : `, ${plural(totals.system.tokens, "token")}`;
		lines.push(
			`System: ${plural(totals.system.messages, "message")}, ${plural(totals.system.chars, "char")}${counted}; takes space, cannot be selected`,
		);
	}
	if (damage.count > 0) lines.push(`Damage: ${damageText(damage)}`);
	for (const notice of overview.notices.slice(0, NOTICES_IN_TEXT))
		lines.push(`Notice: ${oneLine(notice, NOTICE_IN_TEXT)}`);
	const more = overview.notices_total - NOTICES_IN_TEXT;
	if (more > 0) lines.push(`Notice: and ${count(more)} more`);
	return lines;
}

export function usageText({ tokens, window, percent, entry }: UsageFigures): string {
	if (tokens === null) return "none recorded that still describes this anchor";
	const of = window === null ? "" : ` of ${count(window)}`;
	const part = percent === null ? "" : ` (${percent.toFixed(1)} %)`;
	return `${count(tokens)}${of} tokens${part}, recorded at entry ${shortName(entry ?? "unknown")}`;
}

export function imagesText(images: number, bytes: number): string {
	return images === 0 ? "no images" : `${plural(images, "image")} (${bytesText(bytes)})`;
}

function tokenLine(total: number | null, tokens: Overview["tokens"]): string {
	if (total === null) return `${countedText(tokens.ready)} counted so far (${encodingText(tokens)})`;
	return `${plural(total, "token")} (${encodingText(tokens)})`;
}

/** Whose count it is, and in how many atoms it is no exact one. */
export function encodingText({ encoding, approximate_atoms: atoms }: Overview["tokens"]): string {
	return atoms === 0 ? encoding : `${encoding}, approximate in ${plural(atoms, "atom")}`;
}

/** How much is counted while not all is: never `100.0 %`. */
export function countedText(ready: number): string {
	return percentText(Math.min(ready, 0.999));
}

export function damageText({ count: n, on_anchor, kinds, first }: Overview["damage"]): string {
	const listed = Object.entries(kinds).map(([kind, times]) => `${kind} ${count(times)}`);
	const where = first.length === 0 ? "" : `; first at byte ${first[0].offset} (line ${first[0].line})`;
	return `${plural(n, "finding")}, ${count(on_anchor)} on the anchor: ${listed.join(", ")}${where}`;
}
