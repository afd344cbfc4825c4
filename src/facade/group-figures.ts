/** The figures of the group parts that a survey lists. */
import type { GroupPart, Lead } from "../atoms/groups.js";
import type { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { leadsOf } from "./texts.js";

/** Units of a group's landmark in data. */
export const LANDMARK_BOUND = 160;

/** One listed group part, in the field names of the reply. Chars, images and tokens are those of sent atoms; `share` is a fraction 0-1. */
export interface GroupFigures {
	label: string;
	part: { n: number; of: number } | null;
	lead: Lead;
	start: string;
	end: string;
	landmark: string;
	atoms: number;
	messages: number;
	chars: number;
	share: number;
	images: number;
	image_bytes: number;
	image_types: string[];
	image_types_total: number;
	/** Null until all atoms of the part are counted. */
	tokens: number | null;
	protected: number;
	compressible: number;
}

/** Figures and landmarks of the given parts, in their order; reads back one text a part. */
export async function groupFigures(survey: Survey, sums: Sums, parts: readonly GroupPart[]): Promise<GroupFigures[]> {
	const atoms = parts.map((part) => part.from);
	const leads = await leadsOf(survey, atoms, LANDMARK_BOUND);
	return parts.map((part) => figuresOf(survey, sums, part, leads.get(part.from) ?? ""));
}

/** Parts whose texts are read in one go. */
const AT_ONCE = 500;

/** The first `limit` parts in time order, or the largest ones by chars, biggest first; equal ones in time order. */
export async function listParts(
	survey: Survey,
	sums: Sums,
	sort: "time" | "size",
	limit: number,
): Promise<GroupFigures[]> {
	const charsOf = ({ from, to }: GroupPart) => sums.chars[to] - sums.chars[from];
	const { parts } = survey.groups;
	const sorted = sort === "time" ? parts : [...parts].sort((a, b) => charsOf(b) - charsOf(a) || a.from - b.from);
	const listed: GroupFigures[] = [];
	for (let from = 0; from < Math.min(limit, sorted.length); from += AT_ONCE) {
		listed.push(...(await groupFigures(survey, sums, sorted.slice(from, Math.min(limit, from + AT_ONCE)))));
	}
	return listed;
}

function figuresOf({ atoms }: Survey, sums: Sums, part: GroupPart, landmark: string): GroupFigures {
	const { label, lead, from, to } = part;
	const chars = sums.chars[to] - sums.chars[from];
	const types = sums.imageTypes.counts(from, to);
	const guarded = sums.protectedBefore[to] - sums.protectedBefore[from];
	return {
		label,
		part: part.part,
		lead,
		start: atoms.refOf(from),
		end: atoms.refOf(to - 1),
		landmark,
		atoms: to - from,
		messages: atoms.messageStart.at(to) - atoms.messageStart.at(from),
		chars,
		share: shareOf(sums, chars),
		images: sums.images[to] - sums.images[from],
		image_bytes: sums.imageBytes[to] - sums.imageBytes[from],
		image_types: Object.keys(types.map),
		image_types_total: types.total,
		tokens: sums.tokens.sum(from, to),
		protected: guarded,
		compressible: to - from - guarded,
	};
}

/** Chars as a fraction of the anchor's chars; 0 in a session without any. */
export function shareOf(sums: Sums, chars: number): number {
	const total = sums.chars[sums.chars.length - 1];
	return total === 0 ? 0 : chars / total;
}
