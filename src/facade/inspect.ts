/** `inspect`: where the space of the session goes, a page of groups at a time. */
import { type Static, Type } from "typebox";
import { clamp, clampedInteger, defineAction } from "./action.js";
import { decodeCursor, encodeCursor, foreignCursor, landmarkHash } from "./cursor.js";
import { type GroupFigures, groupFigures, LANDMARK_BOUND } from "./group-figures.js";
import { openState } from "./open-plan.js";
import { type Overview, overviewLines, overviewOf } from "./overview.js";
import type { Answer } from "./reply.js";
import { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { bytesText, clip, count, fitting, percentText, plural, REPLY_BOUND } from "./text.js";
import { leadsOf } from "./texts.js";

/** Groups on one page. */
export const PAGE_SIZE = { min: 1, max: 50, initial: 20 };
/** Units of a group's line, its landmark aside. */
const FIGURES_BOUND = 200;
const SHORTEST_LANDMARK = 16;

const FIELDS = {
	page_size: Type.Optional(clampedInteger(PAGE_SIZE, "Groups on one page.")),
	cursor: Type.Optional(
		Type.String({
			description: "Cursor of the previous page, as that reply gave it. Leave it out for the first page.",
		}),
	),
};

export interface InspectData extends Overview {
	groups: GroupFigures[];
	/** Pass it to the next call; null on the last page. */
	cursor: string | null;
}

export const inspect = defineAction({
	name: "inspect",
	description:
		"Survey the session: usage, totals, and groups of atoms in time order with refs, size, images, tokens and how much of each is protected. Start here.",
	fields: FIELDS,
	run: inspectPage,
});

async function inspectPage(
	survey: Survey,
	request: Static<ReturnType<typeof Type.Object<typeof FIELDS>>>,
): Promise<Answer<InspectData>> {
	const sums = await Sums.of(survey);
	const { parts } = survey.groups;
	const first = request.cursor === undefined ? 0 : await firstOf(survey, sums, request.cursor);
	const page = await groupFigures(survey, sums, parts.slice(first, first + clamp(request.page_size, PAGE_SIZE)));
	const open = await openState(survey);
	// Counts arrived while texts were read: take them in, so that the totals agree with what the reply says is ready.
	await sums.tokens.advance();
	const overview = overviewOf(survey, sums, open);

	const head = overviewLines(overview);
	const room = REPLY_BOUND - head.join("\n").length - 500;
	const lines = groupLines(page, room);
	const groups = page.slice(0, fitting(lines, room));
	const next = first + groups.length;
	const last = groups.at(-1);
	const cursor =
		next >= parts.length || !last
			? null
			: encodeCursor({ next, fingerprint: sums.fingerprint, landmark: landmarkHash(last.landmark) });

	const listed =
		groups.length === 0
			? "No groups: the session holds no messages."
			: `Groups ${first + 1}-${next} of ${count(parts.length)} in time order (long groups are listed in parts; g… labels are for display, refs are a…):`;
	const way = cursor === null ? [] : ["", `Next page: inspect with cursor ${JSON.stringify(cursor)}`];
	const text = [...head, "", listed, ...lines.slice(0, groups.length), ...way].join("\n");
	return { text, data: { ...overview, groups, cursor } };
}

/** Where the page of a cursor starts. */
async function firstOf(survey: Survey, sums: Sums, text: string): Promise<number> {
	const { parts } = survey.groups;
	const cursor = decodeCursor(text, sums.fingerprint, parts.length);
	const before = parts[cursor.next - 1].from;
	const landmark = (await leadsOf(survey, [before], LANDMARK_BOUND)).get(before) ?? "";
	if (landmarkHash(landmark) !== cursor.landmark) throw foreignCursor();
	return cursor.next;
}

/** One line a group; landmarks share the room that the figures leave. */
function groupLines(groups: readonly GroupFigures[], room: number): string[] {
	const figures = groups.map((group) => clip(figuresText(group), FIGURES_BOUND));
	const used = figures.reduce((sum, text) => sum + text.length + 6, 0);
	const budget = Math.max(SHORTEST_LANDMARK, Math.floor((room - used) / Math.max(1, groups.length)));
	return groups.map((group, i) => `${figures[i]} | ${leadText(group, budget)}`);
}

function figuresText(group: GroupFigures): string {
	const refs = group.start === group.end ? group.start : `${group.start}..${group.end}`;
	const cells = [`${group.label} ${refs}`, percentText(group.share), plural(group.chars, "char")];
	if (group.tokens !== null) cells.push(plural(group.tokens, "token"));
	cells.push(`${plural(group.atoms, "atom")}, ${plural(group.messages, "message")}`);
	if (group.images > 0) cells.push(`${plural(group.images, "image")} ${bytesText(group.image_bytes)}`);
	if (group.protected > 0) cells.push(`${count(group.protected)} protected`);
	return cells.join(" | ");
}

function leadText({ lead, landmark, part }: GroupFigures, budget: number): string {
	const name =
		lead === "summary"
			? "[summary] "
			: lead === "prefix" && (part === null || part.n === 1)
				? "[before the first prompt] "
				: "";
	return clip(`${name}${landmark}`, budget);
}
