/** `measure`: what candidate ranges hold, without touching any plan. */
import { type Static, Type } from "typebox";
import { REASONS, type Reason } from "../atoms/table.js";
import { MidcompactError } from "../errors.js";
import type { Role } from "../session/record.js";
import { defineAction } from "./action.js";
import { shareOf } from "./group-figures.js";
import { imagesText } from "./overview.js";
import { atomOf } from "./refs.js";
import type { Answer } from "./reply.js";
import { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { count, LIST_BOUND, mapText, percentText, plural, REPLY_BOUND, tokensText } from "./text.js";
import { leadsOf } from "./texts.js";
import type { Words } from "./words.js";

/** Units of an end landmark. */
const END_BOUND = 120;
/** A candidate's lines have at least this many units, so no more than the reply's bound divided by it can fit. */
const SHORTEST_CANDIDATE = 150;
const TOOLS_IN_TEXT = 8;
const PROTECTED_IN_TEXT = 12;

const REF = { description: "Atom ref such as a0001, as inspect lists them." };
const FIELDS = {
	candidates: Type.Array(
		Type.Object(
			{ start: Type.String(REF), end: Type.String(REF) },
			{ additionalProperties: false, description: "All atoms from start to end, both included." },
		),
		{ minItems: 1, description: "Ranges to measure; they may overlap." },
	),
};

export interface CandidateFigures {
	start: string;
	end: string;
	from: string;
	to: string;
	atoms: number;
	messages: number;
	roles: Partial<Record<Role, number>>;
	exchanges: number;
	calls: number;
	tools: Record<string, number>;
	/** Different tool names, those beyond the map's bound included. */
	tools_total: number;
	chars: number;
	share: number;
	tokens: number | null;
	images: number;
	image_bytes: number;
	image_types: string[];
	image_types_total: number;
	compressible: number;
	protected: { ref: string; reason: Reason }[];
	protected_total: number;
	/** Protected atoms by reason, all of them. */
	protected_reasons: Partial<Record<Reason, number>>;
}

export interface MeasureData {
	requested: number;
	/** Candidates in this reply, from the front; the rest is to be measured by another call. */
	reported: number;
	candidates: CandidateFigures[];
}

export const measure = defineAction({
	name: "measure",
	description:
		"Measure ranges of atoms before planning with them: size, share, tokens, images, messages by role, calls by tool, and which atoms are protected and why. Changes nothing.",
	fields: FIELDS,
	run: measureCandidates,
});

async function measureCandidates(
	survey: Survey,
	{ candidates }: Static<ReturnType<typeof Type.Object<typeof FIELDS>>>,
	words: Words,
): Promise<Answer<MeasureData>> {
	const { atoms } = survey;
	const ranges = candidates.map(({ start, end }, i) => {
		const from = atomOf(atoms, start, () => words.candidateRef(i, "start"));
		const last = atomOf(atoms, end, () => words.candidateRef(i, "end"));
		if (last < from)
			throw new MidcompactError("reversed", `${words.candidate(i)} starts at ${start}, behind its end ${end}.`);
		return { from, to: last + 1 };
	});
	const sums = await Sums.of(survey);
	const tried = ranges.slice(0, Math.floor(REPLY_BOUND / SHORTEST_CANDIDATE));
	const leads = await leadsOf(
		survey,
		tried.flatMap(({ from, to }) => [from, to - 1]),
		END_BOUND,
	);
	const room = REPLY_BOUND - 300;
	const figures: CandidateFigures[] = [];
	const blocks: string[] = [];
	let used = 0;
	for (const { from, to } of tried) {
		const candidate = figuresOf(survey, sums, from, to, leads);
		const block = candidateText(candidate, figures.length + 1, words);
		used += block.length + 2;
		if (used > room) break;
		figures.push(candidate);
		blocks.push(block);
	}
	const left = ranges.length - figures.length;
	const head = `Measured ${figures.length === ranges.length ? plural(ranges.length, "candidate") : `the first ${count(figures.length)} of ${plural(ranges.length, "candidate")}`}; nothing was changed.`;
	const way =
		left === 0 ? [] : [`Measure the other ${count(left)} in another call, from ${words.candidate(figures.length)} on.`];
	return {
		text: [head, ...blocks, ...way].join("\n\n"),
		data: { requested: ranges.length, reported: figures.length, candidates: figures },
	};
}

function figuresOf(
	{ atoms }: Survey,
	sums: Sums,
	from: number,
	to: number,
	leads: Map<number, string>,
): CandidateFigures {
	const chars = sums.chars[to] - sums.chars[from];
	const tools = sums.calls.counts(from, to);
	const types = sums.imageTypes.counts(from, to);
	const guardedFrom = sums.protectedBefore[from];
	const guarded = sums.protectedBefore[to] - guardedFrom;
	return {
		start: atoms.refOf(from),
		end: atoms.refOf(to - 1),
		from: leads.get(from) ?? "",
		to: leads.get(to - 1) ?? "",
		atoms: to - from,
		messages: atoms.messageStart.at(to) - atoms.messageStart.at(from),
		roles: sums.roles(from, to),
		exchanges: sums.exchanges[to] - sums.exchanges[from],
		calls: sums.calls.total(from, to),
		tools: tools.map,
		tools_total: tools.total,
		chars,
		share: shareOf(sums, chars),
		tokens: sums.tokens.sum(from, to),
		images: sums.images[to] - sums.images[from],
		image_bytes: sums.imageBytes[to] - sums.imageBytes[from],
		image_types: Object.keys(types.map),
		image_types_total: types.total,
		compressible: to - from - guarded,
		protected: sums.protectedAtoms
			.slice(guardedFrom, guardedFrom + Math.min(guarded, LIST_BOUND))
			.map((atom) => ({ ref: atoms.refOf(atom), reason: atoms.reasonOf(atom) as Reason })),
		protected_total: guarded,
		protected_reasons: sums.reasons(from, to),
	};
}

function candidateText(c: CandidateFigures, n: number, words: Words): string {
	const roles = mapText(c.roles, Object.keys(c.roles).length, 8);
	const calls =
		c.calls === 0 ? "no calls" : `${plural(c.calls, "call")} (${mapText(c.tools, c.tools_total, TOOLS_IN_TEXT)})`;
	return [
		`${n}. ${c.start}..${c.end}: ${percentText(c.share)} of the session, ${plural(c.chars, "char")}, ${tokensText(c.tokens, words.tokensMissing)}, ${imagesText(c.images, c.image_bytes)}`,
		`   ${plural(c.atoms, "atom")}, ${plural(c.messages, "message")} (${roles}), ${plural(c.exchanges, "exchange")}, ${calls}`,
		`   from: ${c.from}`,
		`   to:   ${c.to}`,
		`   ${protectedText(c)}`,
	].join("\n");
}

function protectedText({ protected: listed, protected_total: total, protected_reasons }: CandidateFigures): string {
	if (total === 0) return "all compressible";
	const byReason = new Map<Reason, string[]>();
	for (const { ref, reason } of listed.slice(0, PROTECTED_IN_TEXT)) {
		byReason.set(reason, [...(byReason.get(reason) ?? []), ref]);
	}
	const named = [...byReason].map(([reason, refs]) => `${reason} ${refs.join(" ")}`).join(", ");
	const reasons: Record<string, number> = protected_reasons;
	const more = total > PROTECTED_IN_TEXT ? ` … in all ${mapText(reasons, 0, REASONS.length)}` : "";
	return `${count(total)} protected, no range may contain them: ${named}${more}`;
}
