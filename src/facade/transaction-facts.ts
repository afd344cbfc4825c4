/** What a reply says about the open transaction beside its plan. */
import type { Mode } from "../plan/store.js";
import type { Transaction } from "../plan/transaction.js";
import { lineLandmark } from "../search/landmark.js";
import { clip, count, LIST_BOUND, oneLine, percentText, plural, shortName, wellFormed } from "./text.js";

/** Units of the instructions in data, and in the text. */
const INSTRUCTIONS_BOUND = 2_000;
const INSTRUCTIONS_IN_TEXT = 600;
/** Units of a notice in data, and in the text. */
const NOTICE_BOUND = 500;
const NOTICE_IN_TEXT = 200;
const NOTICES_IN_TEXT = 5;

export interface TransactionFacts {
	id: string;
	/** ISO date. */
	started_at: string;
	mode: Mode;
	/** What the user wants of it; empty: nothing in particular. */
	instructions: string;
	anchor: { format: string; scope: string; entry: string; atoms: number; messages: number };
	/** Who holds the planning lock; null for nobody. */
	holder: { owner: string; pid: number; host: string; since: string } | null;
	notices: string[];
}

export function transactionOf({
	id,
	startedAt,
	mode,
	instructions,
	anchor,
	holder,
	notices,
}: Transaction): TransactionFacts {
	const { format, scope, entry, atoms, messages } = anchor;
	return {
		id: shortName(id),
		started_at: startedAt,
		mode,
		instructions: clip(wellFormed(instructions), INSTRUCTIONS_BOUND),
		anchor: { format, scope, entry, atoms, messages },
		holder: holder && { owner: holder.owner, pid: holder.pid, host: shortName(holder.host), since: holder.since },
		notices: boundedNotices(notices),
	};
}

/** At most some 2,000 units. */
export function transactionLines({ id, started_at, mode, instructions, holder, notices }: TransactionFacts): string[] {
	const lines = [`Transaction: ${id}, ${mode} mode, since ${shortName(started_at)}`];
	if (instructions !== "") {
		const shown = lineLandmark(instructions, INSTRUCTIONS_IN_TEXT).text;
		lines.push(`Instructions of the user: ${oneLine(shown, INSTRUCTIONS_IN_TEXT)}`);
	}
	if (holder !== null) {
		const { owner, pid, host, since } = holder;
		lines.push(`Planning lock: held by ${owner} (process ${pid} on ${host}, since ${shortName(since)})`);
	}
	return [...lines, ...noticeLines(notices)];
}

export function boundedNotices(notices: readonly string[]): string[] {
	return notices.slice(0, LIST_BOUND).map((notice) => clip(wellFormed(notice), NOTICE_BOUND));
}

export function noticeLines(notices: readonly string[]): string[] {
	const lines = notices.slice(0, NOTICES_IN_TEXT).map((notice) => `Notice: ${oneLine(notice, NOTICE_IN_TEXT)}`);
	const more = notices.length - NOTICES_IN_TEXT;
	return more > 0 ? [...lines, `Notice: and ${plural(more, "more notice")}`] : lines;
}

/** `12,000 → 6,000 (-50.0 %)`. */
export function shrinkText(before: number, after: number): string {
	const figures = `${count(before)} → ${count(after)}`;
	if (before === 0) return figures;
	const sign = after > before ? "+" : after < before ? "-" : "";
	return `${figures} (${sign}${percentText(Math.abs(after - before) / before)})`;
}
