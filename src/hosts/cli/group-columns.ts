/** The group table of `inspect`: which columns a terminal has room for, and the rows. No row is wider than the terminal. */
import type { GroupFigures } from "../../facade/group-figures.js";
import { bytesText, count, percentText } from "../../facade/text.js";
import { bar, cutTo, endOf, type Paint, padEnd, padStart, safe, startOf, widthOf } from "./terminal.js";

type Name = "group" | "refs" | "share" | "atoms" | "chars" | "tokens" | "images" | "protected";

interface Column {
	name: Name;
	left?: boolean;
	cell(group: GroupFigures): string;
	/** A column in which no group has anything to show is left out. */
	shows?(group: GroupFigures): boolean;
}

const COLUMNS: readonly Column[] = [
	{ name: "group", left: true, cell: ({ label }) => label },
	{ name: "refs", left: true, cell: ({ start, end }) => (start === end ? start : `${start}..${end}`) },
	{ name: "share", left: true, cell: ({ share }) => padStart(percentText(share), 7) },
	{ name: "atoms", cell: ({ atoms }) => count(atoms) },
	{ name: "chars", cell: ({ chars }) => count(chars) },
	{
		name: "tokens",
		cell: ({ tokens }) => (tokens === null ? "…" : count(tokens)),
		shows: ({ tokens }) => tokens !== null,
	},
	{
		name: "images",
		cell: ({ images, image_bytes }) => (images === 0 ? "" : `${count(images)} ${bytesText(image_bytes)}`),
		shows: ({ images }) => images > 0,
	},
	{
		name: "protected",
		cell: (group) => (group.protected === 0 ? "" : count(group.protected)),
		shows: (group) => group.protected > 0,
	},
];

/** Columns of the bar at its full length, and narrowed. */
const BAR = 12;
const NARROW_BAR = 6;
const GAP = 2;
/** Below this room for the landmark another step is taken. */
const WANTED_LANDMARK = 14;
/** A landmark with less room than this tells nothing. */
const LEAST_LANDMARK = 4;
/** With less room than this only the start of a landmark is shown. */
const BOTH_ENDS = 24;
const HEAD_SHARE = 0.6;

/** What is given up for the landmark, in this order: a column, or a length of the bar. */
const STEPS: readonly (Name | number)[] = [
	"images",
	NARROW_BAR,
	"tokens",
	"chars",
	"protected",
	"atoms",
	NARROW_BAR / 2,
	"group",
	0,
];

interface Laid extends Column {
	cells: string[];
	width: number;
}

/** A row of titles and one of each group, at most `columns` wide. */
export function groupTable(groups: readonly GroupFigures[], columns: number, paint: Paint): string[] {
	let shown = COLUMNS.filter(({ shows }) => !shows || groups.some(shows)).map((column): Laid => {
		const cells = groups.map(column.cell);
		return { ...column, cells, width: cells.reduce((most, cell) => Math.max(most, widthOf(cell)), column.name.length) };
	});
	let bars = BAR;
	const room = () => columns - (bars > 0 ? bars + 1 : 0) - shown.reduce((sum, column) => sum + column.width + GAP, 0);
	for (const step of STEPS) {
		if (room() >= WANTED_LANDMARK) break;
		if (typeof step === "number") bars = step;
		else shown = shown.filter(({ name }) => name !== step);
	}

	const largest = groups.reduce((most, { share }) => Math.max(most, share), 0);
	const landmarkRoom = room();
	const line = (texts: string[], landmark: string, paintCell: (name: Name, text: string) => string) => {
		const padded = shown.map(({ left, width, name }, c) => {
			const columnsOfCell = name === "share" && bars > 0 ? width + bars + 1 : width;
			return left ? padEnd(texts[c], columnsOfCell) : padStart(texts[c], columnsOfCell);
		});
		const gap = " ".repeat(GAP);
		// Even the columns that are always kept may be too many; colours are left out there, since a cut could fall into one.
		if (landmarkRoom < LEAST_LANDMARK) return cutTo(padded.join(gap), columns).trimEnd();
		return [...padded.map((text, c) => paintCell(shown[c].name, text)), landmark].join(gap).trimEnd();
	};
	const titles = line(
		shown.map(({ name }) => name),
		cutTo("starts with", landmarkRoom),
		(_name, text) => text,
	);
	const rows = groups.map((group, i) => {
		const texts = shown.map(({ name, cells }) =>
			name === "share" && bars > 0 ? `${bar(largest === 0 ? 0 : group.share / largest, bars)} ${cells[i]}` : cells[i],
		);
		const landmark = cutLandmark(landmarkText(group), landmarkRoom);
		return line(texts, landmark, (name, text) => (name === "share" ? paint("cyan", text) : text));
	});
	return [paint("dim", titles), ...rows];
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

/** The mark that a landmark has where its middle is left out. */
const OMITTED = / \[… [\d,]+ omitted …\] /;

/** A landmark within `room` columns; where its middle is left out already, one `…` stands for that and for what is cut now. */
function cutLandmark(text: string, room: number): string {
	const found = OMITTED.exec(text);
	if (!found || widthOf(text) <= room) return cutTo(text, room);
	const head = text.slice(0, found.index);
	if (room < BOTH_ENDS) return `${startOf(head, room - 1).trimEnd()}…`;
	const start = startOf(head, Math.ceil((room - 1) * HEAD_SHARE)).trimEnd();
	const end = endOf(text.slice(found.index + found[0].length), room - 1 - widthOf(start)).trimStart();
	return `${start}…${end}`;
}
