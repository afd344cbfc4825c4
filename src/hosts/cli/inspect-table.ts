/** The table that a person reads: one line a group, a bar for its share. */
import type { GroupFigures } from "../../facade/group-figures.js";
import type { InspectData } from "../../facade/inspect.js";
import { damageText, usageText } from "../../facade/overview.js";
import { bytesText, count, percentText, plural } from "../../facade/text.js";
import { bar, cutTo, type Paint, padEnd, padStart, safe, widthOf } from "./terminal.js";

export interface TableFrame {
	/** What the user called the session. */
	name: string;
	path: string | null;
	/** Group parts of the session in all. */
	parts: number;
	sort: "time" | "size";
	columns: number;
	paint: Paint;
}

const BAR = 12;
const USAGE_BAR = 24;
const LEAST_LANDMARK = 20;

interface Column {
	title: string;
	left?: boolean;
	cell(group: GroupFigures): string;
}

/** Header, table, and what to do next; safe for a terminal. */
export function inspectTable(data: InspectData, frame: TableFrame): string {
	const body = data.groups.length === 0 ? ["No groups: the session holds no messages."] : groupTable(data, frame);
	return [...header(data, frame), "", ...body, ...footer(data, frame)].join("\n");
}

function header(data: InspectData, { name, path, paint, columns }: TableFrame): string[] {
	const { anchor, totals, tokens, usage } = data;
	const counted = totals.tokens === null ? "" : ` · ${plural(totals.tokens, "token")} (${tokens.encoding})`;
	const images = totals.images === 0 ? "" : ` · ${plural(totals.images, "image")} ${bytesText(totals.image_bytes)}`;
	const full = usage.percent === null ? "" : `${paint("cyan", bar(usage.percent / 100, USAGE_BAR))} `;
	const lines: [string, string][] = [
		[
			"Session",
			`${anchor.format} · scope ${anchor.scope} · ${bytesText(anchor.bytes)} · ${plural(anchor.records, "record")} · ${plural(anchor.messages, "message")}`,
		],
		["Usage", full + safe(usageText(usage))],
		[
			"Total",
			`${plural(totals.groups, "group")} · ${plural(totals.atoms, "atom")} · ${plural(totals.chars, "char")}${counted}${images} · ${count(totals.protected)} protected`,
		],
	];
	const { messages, chars, tokens: systemTokens } = totals.system;
	if (messages > 0) {
		const more = systemTokens === null ? "" : ` · ${plural(systemTokens, "token")}`;
		lines.push(["System", `${plural(messages, "message")} · ${plural(chars, "char")}${more}`]);
	}
	if (data.damage.count > 0) lines.push(["Damage", paint("yellow", damageText(data.damage))]);
	for (const notice of data.notices) lines.push(["Notice", safe(notice)]);
	const title = cutTo(safe(path ?? name), columns);
	return [paint("bold", title), ...lines.map(([label, text]) => `${paint("dim", padEnd(label, 9))}${text}`)];
}

function groupTable({ groups }: InspectData, { columns, paint }: TableFrame): string[] {
	const largest = groups.reduce((most, { share }) => Math.max(most, share), 0);
	const shown: Column[] = [
		{ title: "group", left: true, cell: ({ label }) => label },
		{ title: "refs", left: true, cell: ({ start, end }) => (start === end ? start : `${start}..${end}`) },
		{
			title: "share",
			left: true,
			cell: ({ share }) => `${bar(largest === 0 ? 0 : share / largest, BAR)} ${padStart(percentText(share), 7)}`,
		},
		{ title: "atoms", cell: ({ atoms }) => count(atoms) },
		{ title: "chars", cell: ({ chars }) => count(chars) },
	];
	if (groups.some(({ tokens }) => tokens !== null)) {
		shown.push({ title: "tokens", cell: ({ tokens }) => (tokens === null ? "…" : count(tokens)) });
	}
	if (groups.some(({ images }) => images > 0)) {
		shown.push({
			title: "images",
			cell: (g) => (g.images === 0 ? "" : `${count(g.images)} ${bytesText(g.image_bytes)}`),
		});
	}
	if (groups.some((group) => group.protected > 0)) {
		shown.push({ title: "protected", cell: (g) => (g.protected === 0 ? "" : count(g.protected)) });
	}
	const cells = groups.map((group) => shown.map(({ cell }) => cell(group)));
	const widths = shown.map(({ title }, c) =>
		cells.reduce((most, row) => Math.max(most, widthOf(row[c])), title.length),
	);
	const room = Math.max(LEAST_LANDMARK, columns - widths.reduce((sum, width) => sum + width + 2, 0));
	const line = (texts: string[]) =>
		texts.map((text, c) => (shown[c].left ? padEnd(text, widths[c]) : padStart(text, widths[c])));
	const rows = groups.map((group, i) => {
		const painted = line(cells[i]);
		painted[2] = paint("cyan", painted[2]);
		return [...painted, cutTo(landmarkText(group), room)].join("  ").trimEnd();
	});
	return [paint("dim", [...line(shown.map(({ title }) => title)), "starts with"].join("  ")), ...rows];
}

function landmarkText({ lead, part, landmark }: GroupFigures): string {
	const mark =
		part !== null && part.n > 1
			? "… "
			: lead === "summary"
				? "[summary] "
				: lead === "prefix"
					? "[before the first prompt] "
					: "";
	return mark + safe(landmark);
}

function footer({ groups, cursor, tokens }: InspectData, { name, parts, sort, paint }: TableFrame): string[] {
	const lines: string[] = [];
	const left = parts - groups.length;
	if (sort === "size" && left > 0) {
		const rest = 1 - groups.reduce((sum, { share }) => sum + share, 0);
		lines.push(
			`${plural(left, "smaller group")} ${left === 1 ? "holds" : "hold"} ${percentText(Math.max(0, rest))}; --all shows all.`,
		);
	}
	if (cursor !== null) lines.push(`Next page: midcompact inspect ${shellWord(name)} --cursor ${cursor}   (or --all)`);
	if (groups.length > 0 && tokens.ready < 1) {
		lines.push(
			tokens.ready === 0
				? "Tokens are not counted; --wait counts them."
				: `Tokens: ${percentText(tokens.ready)} counted; --wait waits for all.`,
		);
	}
	return lines.length === 0 ? [] : ["", ...lines.map((line) => paint("dim", safe(line)))];
}

/** A word as a POSIX shell reads it back. */
function shellWord(word: string): string {
	return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
