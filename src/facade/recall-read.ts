/** `recall_read`: the originals of a block, readable. Needs no transaction. */
import { Type } from "typebox";
import { MidcompactError } from "../errors.js";
import type { BlockArchive } from "../plan/archive.js";
import { defineAction, oneOf } from "./action.js";
import type { Answer } from "./reply.js";
import { clip, plural, quoted, READ_BOUND, REPLY_BOUND, wellFormed } from "./text.js";
import type { Words } from "./words.js";

/** Units that a reply keeps for what stands around the originals. */
const AROUND = 500;
const BLOCK_ID = /^c\d{4,}$/;
const OTHER_FORMS: readonly (readonly [RegExp, string])[] = [
	[/^a\d/i, "This is an atom ref: locate_ref shows atoms."],
	[/^d\d/i, "This is a range of the plan: it becomes a block when the user commits."],
	[/^g\d/i, "A g… label is for display only."],
];

interface RecallRequest {
	block: string;
	detail?: "brief" | "full";
}

export interface RecallReadData {
	block: string;
	/** The originals, head and tail with a mark between where they do not fit. */
	text: string;
	truncated: boolean;
	/** Code points that are not shown. */
	omitted: number;
	/** The request that shows more; null where nothing is missing, and where recall can give no more. */
	retry: { request: { action: "recall_read"; block: string; detail: "full" } } | null;
}

export const recallRead = defineAction({
	name: "recall_read",
	description: "Read the originals that a block stands for. Works without a transaction.",
	fields: {
		block: Type.String({ description: "Id of the block such as c0001, as it stands in the block's first line." }),
		detail: Type.Optional(
			oneOf(
				["brief", "full"],
				"brief (default): up to 12,000 characters; full: up to 40,000; the middle omitted and marked.",
			),
		),
	},
	bound: READ_BOUND,
	run: ({ archive }, request, words) => readBlock(archive, request, words),
});

/** The answer of `recall_read`, for hosts that have an archive and no session any more. Errors: `unknown_block`, `archive_damaged`. */
export async function readBlock(
	archive: BlockArchive | null,
	{ block, detail = "brief" }: RecallRequest,
	words: Words,
): Promise<Answer<RecallReadData>> {
	if (!BLOCK_ID.test(block)) throw notABlock(block);
	if (archive === null) {
		throw new MidcompactError(
			"unknown_block",
			`There is no archive here that could hold the block ${quoted(block)}.`,
			"Its originals may still stand in the session file that the block was made from.",
		);
	}
	const full = detail === "full";
	const budget = (full ? READ_BOUND : REPLY_BOUND) - AROUND;
	const found = await archive.read(block, budget);
	const text = clip(wellFormed(found.text), budget);
	const { omitted } = found;
	const truncated = omitted > 0;
	const way = full ? "recall can give no more than this" : `${words.recallFull(block)} shows more`;
	const mark = truncated ? ["", `${plural(omitted, "char")} not shown; ${way}.`] : [];
	return {
		text: [`Originals of block ${block}:`, "", text, ...mark].join("\n"),
		data: {
			block,
			text,
			truncated,
			omitted,
			retry: truncated && !full ? { request: { action: "recall_read", block, detail: "full" } } : null,
		},
	};
}

/** What was given is no id of a block: says what it is instead. */
function notABlock(given: string): MidcompactError {
	const form = OTHER_FORMS.find(([pattern]) => pattern.test(given));
	const hint = "Blocks have ids such as c0001, which recall_list lists.";
	return new MidcompactError(
		"unknown_block",
		`${quoted(given)} is no id of a block.`,
		form === undefined ? hint : `${form[1]} ${hint}`,
	);
}
