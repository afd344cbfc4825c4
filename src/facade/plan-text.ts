/** Ranges and totals of a plan as lines. */
import { type Ends, landmarkOf } from "../search/landmark.js";
import { imagesText } from "./overview.js";
import type { PlanFacts, PlanTotals, RangeFigures, ShownRange } from "./plan-figures.js";
import { clip, count, oneLine, plural } from "./text.js";
import type { Words } from "./words.js";

/** Units of a line that is all there is room for. */
const COMPACT_BOUND = 120;

/** Units of an end landmark, and of the summary's one. */
export interface RangeRoom {
	end: number;
	summary: number;
}

/** A range in a few lines. */
export function rangeLines({ figures, summary }: ShownRange, room: RangeRoom, words: Words): string[] {
	return [
		`${headText(figures)}${figures.topic === "" ? "" : ` | ${figures.topic}`}`,
		`   from: ${clip(figures.from, room.end)}`,
		`   to:   ${clip(figures.to, room.end)}`,
		`   ${sizesText(figures, words)}`,
		`   ${figures.pending ? "<pending>" : summaryText(summary, room.summary)}`,
	];
}

/** A range on one line: what is left when there are many. */
export function compactLine(figures: RangeFigures): string {
	const name = figures.pending ? "<pending>" : figures.topic;
	const sizes = `${plural(figures.atoms, "atom")}, ${count(figures.chars)} → ${count(figures.replacement_chars)} chars`;
	return clip(`${headText(figures)} | ${sizes}${name === "" ? "" : ` | ${name}`}`, COMPACT_BOUND);
}

export function headText({ id, start, end }: RangeFigures): string {
	return start === end ? `${id} ${start}` : `${id} ${start}..${end}`;
}

export function sizesText(figures: RangeFigures, words: Words): string {
	const images = imagesText(figures.images, figures.image_bytes);
	return `${plural(figures.atoms, "atom")}, ${changeText(figures, words)}, ${images}`;
}

/** The whole plan on one line. */
export function totalsText({ revision, digest, totals }: PlanFacts, words: Words): string {
	const pending = totals.pending === 0 ? "" : ` (${count(totals.pending)} pending)`;
	const images = totals.images === 0 ? "no images" : plural(totals.images, "image");
	return `Plan: ${plural(totals.ranges, "range")}${pending}, ${plural(totals.atoms, "atom")}, ${changeText(totals, words)}, ${images}; revision ${count(revision)}, digest ${digest}`;
}

/** What is there now → what would stand in its place. */
function changeText(
	figures: Pick<PlanTotals, "chars" | "replacement_chars" | "tokens" | "replacement_tokens">,
	words: Words,
): string {
	const { chars, replacement_chars, tokens, replacement_tokens } = figures;
	const counted =
		tokens === null
			? `${words.tokensMissing} → ${plural(replacement_tokens, "token")}`
			: `${count(tokens)} → ${plural(replacement_tokens, "token")}`;
	return `${count(chars)} → ${plural(replacement_chars, "char")}, ${counted}`;
}

function summaryText(summary: Ends, bound: number): string {
	return `summary: ${oneLine(landmarkOf(summary, bound).text, bound)}`;
}
