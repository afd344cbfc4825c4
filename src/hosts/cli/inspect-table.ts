/** The table that a person reads: what the session is, one line a group with a bar for its share, and what to do next. */
import type { InspectData } from "../../facade/inspect.js";
import { countedText, damageText, encodingText, usageText } from "../../facade/overview.js";
import { bytesText, count, percentText, plural } from "../../facade/text.js";
import { groupTable } from "./group-columns.js";
import { bar, cutFront, fold, type Paint, padEnd, safe, widthOf } from "./terminal.js";

export interface TableFrame {
	/** What the user called the session. */
	name: string;
	/** Options that the command for the next page must repeat. */
	options: readonly string[];
	path: string | null;
	/** Group parts of the session in all. */
	parts: number;
	sort: "time" | "size";
	columns: number;
	/** On a terminal every line keeps within `columns`; elsewhere only the table does, and other lines stay whole. */
	terminal: boolean;
	paint: Paint;
}

/** A narrower terminal is written to as if it had so many columns. */
const LEAST_COLUMNS = 20;
const USAGE_BAR = 24;
const LABEL = 9;

/** Header, table, and what to do next; safe for a terminal. */
export function inspectTable(data: InspectData, frame: TableFrame): string {
	const columns = Math.max(LEAST_COLUMNS, frame.columns);
	const lineColumns = frame.terminal ? columns : Number.POSITIVE_INFINITY;
	const body =
		data.groups.length === 0
			? fold("No groups: the session holds no messages.", lineColumns)
			: groupTable(data.groups, columns, frame.paint);
	return [...header(data, frame, lineColumns), "", ...body, ...footer(data, frame, lineColumns)].join("\n");
}

function header(data: InspectData, { name, path, paint }: TableFrame, columns: number): string[] {
	const { anchor, totals, tokens, usage } = data;
	const counted = totals.tokens === null ? "" : ` · ${plural(totals.tokens, "token")} (${encodingText(tokens)})`;
	const images = totals.images === 0 ? "" : ` · ${plural(totals.images, "image")} ${bytesText(totals.image_bytes)}`;
	const room = columns - LABEL;
	const entry = (label: string, texts: string[]) =>
		texts.map((text, i) => `${i === 0 ? paint("dim", padEnd(label, LABEL)) : " ".repeat(LABEL)}${text}`);
	const lines = [
		...entry(
			"Session",
			fold(
				`${anchor.format} · scope ${anchor.scope} · ${bytesText(anchor.bytes)} · ${plural(anchor.records, "record")} · ${plural(anchor.messages, "message")}`,
				room,
			),
		),
		...entry("Usage", usageLines(safe(usageText(usage)), usage.percent, room, paint)),
		...entry(
			"Total",
			fold(
				`${plural(totals.groups, "group")} · ${plural(totals.atoms, "atom")} · ${plural(totals.chars, "char")}${counted}${images} · ${count(totals.protected)} protected`,
				room,
			),
		),
	];
	const { messages, chars, tokens: systemTokens } = totals.system;
	if (messages > 0) {
		const more = systemTokens === null ? "" : ` · ${plural(systemTokens, "token")}`;
		lines.push(...entry("System", fold(`${plural(messages, "message")} · ${plural(chars, "char")}${more}`, room)));
	}
	if (data.damage.count > 0) {
		const texts = fold(damageText(data.damage), room);
		lines.push(
			...entry(
				"Damage",
				texts.map((text) => paint("yellow", text)),
			),
		);
	}
	for (const notice of data.notices) lines.push(...entry("Notice", fold(safe(notice), room)));
	return [paint("bold", cutFront(safe(path ?? name), columns)), ...lines];
}

/** The bar stands before the words where they fit on one line, else on a line of its own, or nowhere. */
function usageLines(text: string, percent: number | null, room: number, paint: Paint): string[] {
	const lines = fold(text, room);
	if (percent === null || room < USAGE_BAR) return lines;
	const full = paint("cyan", bar(percent / 100, USAGE_BAR));
	return USAGE_BAR + 1 + widthOf(text) <= room ? [`${full} ${text}`] : [full, ...lines];
}

function footer(data: InspectData, { name, options, parts, sort, paint }: TableFrame, columns: number): string[] {
	const { groups, cursor, tokens, totals } = data;
	const lines: string[] = [];
	const left = parts - groups.length;
	if (sort === "size" && left > 0) {
		const rest = totals.chars - groups.reduce((sum, { chars }) => sum + chars, 0);
		const share = totals.chars === 0 ? 0 : rest / totals.chars;
		const holds = `${plural(left, "smaller group")} ${left === 1 ? "holds" : "hold"} ${percentText(share)}`;
		lines.push(...fold(`${holds}; --all shows all.`, columns));
	}
	if (cursor !== null)
		lines.push(...nextPage([name, ...options].map((word) => safe(shellWord(word))).join(" "), cursor, columns));
	if (groups.length > 0 && tokens.ready < 1) {
		const state =
			tokens.ready === 0
				? "Tokens are not counted; --wait counts them."
				: `Tokens: ${countedText(tokens.ready)} counted; --wait waits for all.`;
		lines.push(...fold(state, columns));
	}
	return lines.length === 0 ? [] : ["", ...lines.map((line) => paint("dim", line))];
}

/** How to see the next page, in the longest form that fits and can still be pasted into a shell. */
function nextPage(session: string, cursor: string, columns: number): string[] {
	const command = `midcompact inspect ${session}`;
	const option = `--cursor ${cursor}`;
	const forms = [
		[`Next page: ${command} ${option}   (or --all)`],
		["Next page, or --all:", `  ${command} \\`, `    ${option}`],
		["Next page, or --all:", `  ${option}`],
		["Next page, or --all:", option],
	];
	const form = forms.find((lines) => lines.every((line) => widthOf(line) <= columns));
	return form ?? fold("--all shows the other groups.", columns);
}

/** A word as a POSIX shell reads it back. */
function shellWord(word: string): string {
	return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
