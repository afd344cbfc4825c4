/** `recall_list`: the blocks whose originals can be brought back. Needs no transaction. */
import { Type } from "typebox";
import type { BlockArchive, BlockFacts } from "../plan/archive.js";
import { landmark, lineLandmark } from "../search/landmark.js";
import { clamp, clampedInteger, defineAction } from "./action.js";
import { TOPIC_BOUND } from "./plan-fields.js";
import type { Answer } from "./reply.js";
import { count, oneLine, plural, quoted, REPLY_BOUND, shortName, wellFormed } from "./text.js";
import type { Words } from "./words.js";

const LIMIT = { min: 1, max: 20, initial: 8 };
/** Units of a summary in data, and at most in the text. */
const SUMMARY_IN_DATA = 2_000;
const SUMMARY_IN_TEXT = 700;

/** One block; atoms, chars and images are null where nothing is archived. */
export interface BlockFigures {
	id: string;
	topic: string;
	summary: string;
	/** Code points of the summary that are not shown. */
	summary_omitted: number;
	atoms: number | null;
	chars: number | null;
	images: number | null;
	/** ISO date; null where it is not known. */
	created_at: string | null;
	/** Whether the originals are in the archive. */
	archived: boolean;
}

export interface RecallListData {
	total: number;
	returned: number;
	/** By id. */
	blocks: BlockFigures[];
}

export const recallList = defineAction({
	name: "recall_list",
	description:
		"List the blocks that earlier commits put in place of originals: id, topic, summary, sizes. Works without a transaction.",
	fields: {
		pattern: Type.Optional(
			Type.String({
				description: "Literal text in id, topic or summary, in any case. Originals are not searched. No wildcards.",
			}),
		),
		limit: Type.Optional(clampedInteger(LIMIT, "Blocks to show.")),
	},
	run: ({ archive }, request, words) => listBlocks(archive, request, words),
});

/** The answer of `recall_list`, for hosts that have an archive and no session any more. Errors: `state_unavailable`. */
export async function listBlocks(
	archive: BlockArchive | null,
	{ pattern, limit }: { pattern?: string; limit?: number },
	words: Words,
): Promise<Answer<RecallListData>> {
	const all = (await archive?.list()) ?? [];
	const wanted = pattern?.toLowerCase() ?? "";
	const found = all
		.filter((block) => [block.id, block.topic, block.summary].some((text) => text.toLowerCase().includes(wanted)))
		.sort((a, b) => numberOf(a) - numberOf(b));
	const listed = found.slice(0, clamp(limit, LIMIT));
	const blocks = listed.map(figuresOf);
	const of = pattern === undefined ? "" : ` for pattern ${quoted(pattern)}`;
	const shown = blocks.length < found.length ? `, the first ${blocks.length} by id shown` : "";
	const head = `${plural(found.length, "block")}${of}${shown}.`;
	const heads = blocks.map(headText);
	const room = REPLY_BOUND - 600 - heads.join("\n").length;
	const bound = Math.min(SUMMARY_IN_TEXT, Math.floor(room / Math.max(1, blocks.length)) - 5);
	const lines = heads.flatMap((text, i) => [
		text,
		`   ${oneLine(lineLandmark(wellFormed(listed[i].summary), bound).text, bound)}`,
	]);
	return {
		text: [head, ...lines, ...wayOn(all.length, found, blocks, words)].join("\n"),
		data: { total: found.length, returned: blocks.length, blocks },
	};
}

function figuresOf({ id, topic, summary, atoms, chars, images, createdAt, archived }: BlockFacts): BlockFigures {
	const { text, omitted } = landmark(wellFormed(summary), SUMMARY_IN_DATA);
	return {
		id: shortName(id),
		topic: oneLine(topic, TOPIC_BOUND),
		summary: text,
		summary_omitted: omitted,
		atoms,
		chars,
		images,
		created_at: createdAt,
		archived,
	};
}

function headText(block: BlockFigures): string {
	const cells = [`${block.id}${block.topic === "" ? "" : ` | ${block.topic}`}`];
	if (block.atoms !== null) cells.push(plural(block.atoms, "atom"));
	if (block.chars !== null) cells.push(plural(block.chars, "char"));
	if (block.images !== null && block.images > 0) cells.push(plural(block.images, "image"));
	if (block.created_at !== null) cells.push(shortName(block.created_at));
	if (!block.archived) cells.push("originals not archived");
	return cells.join(" | ");
}

function wayOn(all: number, found: readonly BlockFacts[], blocks: readonly BlockFigures[], words: Words): string[] {
	if (all === 0) return ["Nothing of this session was committed, or no archive of it is here."];
	if (found.length === 0) return [`${plural(all, "block")} here, none with the pattern in id, topic or summary.`];
	const ways: string[] = [];
	const more = found.length - blocks.length;
	if (more > 0) ways.push(`${count(more)} more: ${words.moreBlocks} shows others.`);
	const readable = blocks.find(({ archived }) => archived);
	if (readable) ways.push(`${words.recall(readable.id)} shows its originals.`);
	return ways;
}

function numberOf({ id }: BlockFacts): number {
	return Number(id.slice(1));
}
