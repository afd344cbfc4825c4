/** One atom as the two locate actions answer it. */
import { ATOM, type AtomKind, type Protocol, type Reason } from "../atoms/table.js";
import { RecordTable } from "../session/table.js";
import { imagesText } from "./overview.js";
import type { Sums } from "./sums.js";
import type { AtomText, Survey } from "./survey.js";
import { count, LIST_BOUND, mapText, plural, shortName, tokensText } from "./text.js";
import type { Words } from "./words.js";

export interface ImageFigures {
	mime: string;
	/** Bytes of the decoded payload. */
	bytes: number;
	/** Pixels; null where the payload's head does not tell. */
	width: number | null;
	height: number | null;
}

/** Figures are the atom's own, sent or not (RULINGS 5). */
export interface Match {
	ref: string;
	/** Place in the anchor, from 1. */
	position: number;
	/** Label of the listed group part that holds it; for display only. */
	group: string;
	kind: AtomKind;
	origin: "user" | "host" | null;
	sent: boolean;
	protocol: Protocol;
	protected: boolean;
	reason: Reason | null;
	tools: Record<string, number>;
	tools_total: number;
	chars: number;
	tokens: number | null;
	images: number;
	image_bytes: number;
	image_sizes: ImageFigures[];
	user_text: boolean;
	/** Entry ids, in order. */
	entries: string[];
	entries_total: number;
	text: string;
	/** Code points of the content that `text` does not show. */
	omitted: number;
}

export interface LocateData {
	total: number;
	returned: number;
	/** Null where one atom was asked for by its ref. */
	direction: "oldest" | "newest" | null;
	/** Atoms with a record too large to be searched whole, where a pattern was searched; 0 where every text was looked at. */
	unsearched_atoms: number;
	matches: Match[];
}

export function matchOf(survey: Survey, sums: Sums, { atom, text, omitted }: AtomText): Match {
	const { atoms, tokens } = survey;
	const tools = sums.calls.counts(atom, atom + 1);
	const reason = atoms.reasonOf(atom);
	const kind = atoms.kindOf(atom);
	const { entries, total } = entriesOf(survey, atom);
	return {
		ref: atoms.refOf(atom),
		position: atom + 1,
		group: groupOf(survey, atom),
		kind,
		origin: kind === "user" ? (atoms.has(atom, ATOM.HOST) ? "host" : "user") : null,
		sent: atoms.has(atom, ATOM.SENT),
		protocol: atoms.protocolOf(atom),
		protected: reason !== null,
		reason,
		tools: tools.map,
		tools_total: tools.total,
		chars: atoms.chars.at(atom),
		tokens: tokens.ofAtom(atom),
		images: atoms.images.at(atom),
		image_bytes: atoms.imageBytes.at(atom),
		image_sizes: imagesOf(survey, atom),
		user_text: atoms.has(atom, ATOM.USER_TEXT),
		entries,
		entries_total: total,
		text,
		omitted,
	};
}

/** The facts of a match in a few short lines, without its text. */
export function matchLines(match: Match, words: Words): string[] {
	const of = match.origin === "host" ? ", written by the host" : "";
	const sent = match.sent ? "" : ", not sent to the model";
	const protocol = match.protocol === "none" ? "" : `, ${match.protocol}`;
	const calls = match.tools_total === 0 ? "" : `, calls ${mapText(match.tools, match.tools_total, 5)}`;
	const own = match.user_text ? ", holds the user's own words" : "";
	const images = match.images === 0 ? "" : `, ${imagesText(match.images, match.image_bytes)}`;
	const state = match.reason === null ? "compressible" : `protected (${match.reason})`;
	return [
		`${match.ref} (number ${count(match.position)}, in ${match.group}): ${match.kind}${of}${protocol}${calls}${own}${sent}; ${state}`,
		`${plural(match.chars, "char")}, ${tokensText(match.tokens, words.tokensMissing)}${images}; ${entriesText(match)}`,
	];
}

function entriesText({ entries, entries_total: total }: Match): string {
	const shown = entries.slice(0, 3).map(shortName).join(", ");
	return `${total === 1 ? "entry" : "entries"} ${shown}${total > 3 ? ` and ${count(total - 3)} more` : ""}`;
}

function entriesOf({ atoms, branch, table }: Survey, atom: number): { entries: string[]; total: number } {
	const ids = new Set<string>();
	for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++) {
		for (const row of branch.messages.entriesOf(m)) ids.add(table.entryOf(row));
	}
	return { entries: [...ids].slice(0, LIST_BOUND), total: ids.size };
}

function imagesOf({ atoms, branch, table }: Survey, atom: number): ImageFigures[] {
	const found: ImageFigures[] = [];
	if (atoms.images.at(atom) === 0) return found;
	const pixels = (n: number) => (Number.isNaN(n) ? null : n);
	for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++) {
		for (const row of branch.messages.rowsOf(m)) {
			const [from, to] = RecordTable.rangeOf(table.imageRow, row);
			for (let i = from; i < to && found.length < LIST_BOUND; i++) {
				found.push({
					mime: shortName(table.string(table.imageMime.at(i)) ?? "unknown"),
					bytes: table.imageBytes.at(i),
					width: pixels(table.imageWidth.at(i)),
					height: pixels(table.imageHeight.at(i)),
				});
			}
		}
	}
	return found;
}

/** Label of the part that holds an atom: the last one that starts at it or before. */
function groupOf({ groups }: Survey, atom: number): string {
	let low = 0;
	let high = groups.parts.length - 1;
	while (low < high) {
		const middle = (low + high + 1) >>> 1;
		if (groups.parts[middle].from <= atom) low = middle;
		else high = middle - 1;
	}
	return groups.parts[low].label;
}
