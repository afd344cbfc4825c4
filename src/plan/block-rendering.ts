/** The originals of a block within a budget: its atoms below each other, each as `locate_ref` shows one, large ones cut, the middle ones left out when there are too many. */
import { measureParts } from "../measure/parts.js";
import { characters, grouped, type Landmark } from "../search/landmark.js";
import { ContentRendering, fairShare } from "../search/render.js";
import type { RecordFacts } from "../session/record.js";

/** Rows of the wanted atoms in order, read anew at every call. */
export type BlockRows = (wanted: (atom: number) => boolean) => AsyncIterable<{ atom: number; facts: RecordFacts }>;

/** Units that an atom gets at least before whole atoms are left out. */
const LEAST_SHARE = 240;
/** Between two atoms: an empty line. */
const GAP = "\n\n";

/** An atom with rows. */
interface Atom {
	number: number;
	chars: number;
	/** Units of its whole rendering; infinite when that is larger than the budget of all. */
	units: number;
}

/**
 * The text within `budget` UTF-16 units; `omitted`: code points of the content that are not in it. `atoms`: how many the block has. Of each text only as much is held as may be
 * shown, of one atom at a time. Everything is read once when all of it fits, else a second time for what is shown.
 */
export async function renderBlock(rows: BlockRows, atoms: number, budget: number): Promise<Landmark> {
	const all: Atom[] = [];
	let whole: string[] | null = [];
	let used = -GAP.length;
	for await (const { number, chars, text, omitted } of renderings(
		rows,
		() => true,
		() => Math.max(0, budget),
	)) {
		const units = omitted > 0 ? Number.POSITIVE_INFINITY : text.length;
		all.push({ number, chars, units });
		used += frameOf(number, atoms).length + units + GAP.length;
		if (used > budget) whole = null;
		else whole?.push(frameOf(number, atoms) + text);
	}
	if (whole) return { text: whole.join(GAP), omitted: 0 };
	return renderShare(rows, all, atoms, Math.max(0, budget));
}

async function renderShare(rows: BlockRows, all: readonly Atom[], atoms: number, budget: number): Promise<Landmark> {
	const chars = all.reduce((sum, atom) => sum + atom.chars, 0);
	const fits = all.reduce((sum, atom) => sum + leastUnits(atom, atoms), -GAP.length) <= budget;
	const mark = gapMark(all.length, chars);
	const [front, back] = fits ? [all.length, 0] : outerAtoms(all, atoms, budget - mark.length);
	if (front + back === 0) return firstAtom(rows, all, chars, budget);
	const left = all.slice(front, all.length - back);
	const shown = [...all.slice(0, front), ...all.slice(all.length - back)];
	const gap =
		left.length === 0
			? null
			: gapMark(
					left.length,
					left.reduce((sum, atom) => sum + atom.chars, 0),
				);
	const frames = shown.reduce((sum, { number }) => sum + frameOf(number, atoms).length + GAP.length, -GAP.length);
	const share = fairShare(
		shown.map(({ units }) => units),
		budget - frames - (gap === null ? 0 : gap.length + GAP.length),
	);
	const wanted = new Set(shown.map(({ number }) => number));
	const texts: string[] = [];
	let omitted = left.reduce((sum, atom) => sum + atom.chars, 0);
	for await (const atom of renderings(
		rows,
		(number) => wanted.has(number),
		() => share,
	)) {
		texts.push(frameOf(atom.number, atoms) + atom.text);
		omitted += atom.omitted;
	}
	if (gap !== null) texts.splice(front, 0, gap);
	return { text: texts.join(GAP), omitted };
}

/** A budget that holds no frame: the first atom alone. */
async function firstAtom(rows: BlockRows, all: readonly Atom[], chars: number, budget: number): Promise<Landmark> {
	const first = all.find((atom) => atom.chars > 0)?.number ?? 0;
	for await (const atom of renderings(
		rows,
		(number) => number === first,
		() => budget,
	))
		return { text: atom.text, omitted: chars - atom.chars + atom.omitted };
	return { text: "", omitted: chars };
}

/** Every wanted atom rendered by itself. */
async function* renderings(
	rows: BlockRows,
	wanted: (atom: number) => boolean,
	budget: () => number,
): AsyncGenerator<{ number: number; chars: number } & Landmark> {
	let number = -1;
	let chars = 0;
	let rendering = new ContentRendering(0);
	for await (const { atom, facts } of rows(wanted)) {
		if (atom !== number) {
			if (number >= 0) yield { number, chars, ...rendering.render() };
			number = atom;
			chars = 0;
			rendering = new ContentRendering(budget());
		}
		chars += measureParts(facts).chars;
		rendering.add(facts);
	}
	if (number >= 0) yield { number, chars, ...rendering.render() };
}

/** How many atoms from the front and from the back fit into `room`, taken by turns. */
function outerAtoms(all: readonly Atom[], atoms: number, room: number): [front: number, back: number] {
	let front = 0;
	let back = 0;
	let used = 0;
	for (let turn = 0; front + back < all.length; turn++) {
		const next = turn % 2 === 0 ? all[front] : all[all.length - 1 - back];
		used += leastUnits(next, atoms);
		if (used > room) break;
		if (turn % 2 === 0) front++;
		else back++;
	}
	return [front, back];
}

function leastUnits({ number, units }: Atom, atoms: number): number {
	return frameOf(number, atoms).length + Math.min(LEAST_SHARE, units) + GAP.length;
}

/** The line above an atom; nothing above the only one. */
function frameOf(number: number, atoms: number): string {
	return atoms === 1 ? "" : `=== atom ${grouped(number + 1)} of ${grouped(atoms)} ===\n`;
}

function gapMark(atoms: number, chars: number): string {
	return `[… ${grouped(atoms)} ${atoms === 1 ? "atom" : "atoms"}, ${characters(chars)} omitted …]`;
}
