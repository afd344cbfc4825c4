/** An atom's content within a budget: its pieces below their labels, the budget shared fairly among them. */
import type { RecordFacts } from "../session/record.js";
import { characters, type Landmark, landmarkOf, lineLandmark } from "./landmark.js";
import { type Piece, piecesOf } from "./pieces.js";

/** Units that a text gets at least before whole pieces are left out. */
const LEAST_SHARE = 80;

/**
 * Renders rows of one atom as lines such as `[user]`, `[tool_call read]`, `[tool_result]`, each with its text below. `budget`: UTF-16 units of all at
 * most. Small texts stand whole, large ones become landmarks of equal room; when there are too many pieces the middle ones are left
 * out with a mark. `omitted`: code points of the content that are not shown.
 */
export function renderContent(rows: Iterable<RecordFacts>, budget: number): Landmark {
	const rendering = new ContentRendering(budget);
	for (const facts of rows) rendering.add(facts);
	return rendering.render();
}

/** {@link renderContent} for rows that come one after another: of every text only as much is held as may be shown. */
export class ContentRendering {
	readonly #pieces: Piece[] = [];
	readonly #budget: number;

	constructor(budget: number) {
		this.#budget = Math.max(0, budget);
	}

	add(facts: RecordFacts): void {
		for (const piece of piecesOf(facts, this.#budget)) this.#pieces.push(piece);
	}

	render(): Landmark {
		const pieces = this.#pieces;
		const chars = sum(pieces, (piece) => piece.chars);
		// The last line has no line end.
		const needed = sum(pieces, leastUnits) - 1;
		if (needed <= this.#budget) return assemble(pieces, pieces.length, [], this.#budget, chars);
		const room = this.#budget - gapMark(pieces.length, Math.max(chars, 2)).length - 1;
		const [front, back] = outerPieces(pieces, room);
		if (front + back > 0) return assemble(pieces, front, pieces.slice(pieces.length - back), this.#budget, chars);
		return withoutLabel(pieces, this.#budget, chars);
	}
}

/** Shows the first `front` pieces and those in `back`, with a mark between when any were left out. */
function assemble(
	pieces: readonly Piece[],
	front: number,
	back: readonly Piece[],
	budget: number,
	chars: number,
): Landmark {
	const left = pieces.slice(front, pieces.length - back.length);
	const gap =
		left.length === 0
			? null
			: gapMark(
					left.length,
					sum(left, (piece) => piece.chars),
				);
	const shown = [...pieces.slice(0, front), ...back];
	const frames = sum(shown, (piece) => frameUnits(piece)) + (gap === null ? 0 : gap.length + 1);
	// The last line has no line end, which every piece counted for itself.
	const share = fairShare(shown.map(textUnits), budget - frames + 1);
	let shownChars = 0;
	const lines = shown.map((piece) => {
		const { text, omitted } = landmarkOf(piece.text, Math.min(share, textUnits(piece)));
		shownChars += piece.chars - omitted - piece.labelOmitted;
		return text === "" ? piece.label : `${piece.label}\n${text}`;
	});
	if (gap !== null) lines.splice(front, 0, gap);
	return { text: lines.join("\n"), omitted: chars - shownChars };
}

/** How many pieces from the front and from the back fit into `room`, taken by turns. */
function outerPieces(pieces: readonly Piece[], room: number): [front: number, back: number] {
	let front = 0;
	let back = 0;
	let used = 0;
	for (let turn = 0; front + back < pieces.length; turn++) {
		const fromFront = turn % 2 === 0;
		used += leastUnits(fromFront ? pieces[front] : pieces[pieces.length - 1 - back]);
		if (used > room) break;
		if (fromFront) front++;
		else back++;
	}
	return [front, back];
}

/** A budget that holds no label: the first piece's text alone. */
function withoutLabel(pieces: readonly Piece[], budget: number, chars: number): Landmark {
	const piece = pieces.find(({ text }) => text.chars > 0);
	if (!piece) return { text: lineLandmark(pieces[0]?.label ?? "", budget).text, omitted: chars };
	const { text, omitted } = landmarkOf(piece.text, budget);
	return { text, omitted: chars - piece.text.chars + omitted };
}

/**
 * The most that each of several texts may take so that together they stay within `room`: texts below it are whole and leave what they do not
 * need to the others.
 */
export function fairShare(units: readonly number[], room: number): number {
	const rising = [...units].sort((a, b) => a - b);
	let left = room;
	for (let i = 0; i < rising.length; i++) {
		const share = Math.floor(left / (rising.length - i));
		if (rising[i] > share) return share;
		left -= rising[i];
	}
	return rising.at(-1) ?? 0;
}

/** Units that the text of a piece would take whole; without end for one of which only the ends were kept. */
function textUnits({ text }: Piece): number {
	return text.tail === null ? text.head.length : Number.POSITIVE_INFINITY;
}

/** Units of the label and the line ends of a piece. */
function frameUnits(piece: Piece): number {
	return piece.label.length + (textUnits(piece) > 0 ? 2 : 1);
}

function leastUnits(piece: Piece): number {
	return frameUnits(piece) + Math.min(LEAST_SHARE, textUnits(piece));
}

function gapMark(pieces: number, chars: number): string {
	return `[… ${pieces} ${pieces === 1 ? "piece" : "pieces"}, ${characters(chars)} omitted …]`;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
	return items.reduce((total, item) => total + of(item), 0);
}
