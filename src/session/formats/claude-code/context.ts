/** The branch of a Claude Code session: leaf, walk, order, messages, and what was found on the way. Decisions: NOTES.md. */
import { MidcompactError } from "../../../errors.js";
import { type Branch, type BranchOptions, MessageList } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import type { RecordTable } from "../../table.js";
import type { FormatContext } from "../format.js";
import { type Boundary, KeptLinks, readBoundaries } from "./compaction.js";
import { findDamage } from "./findings.js";
import { LINE } from "./kinds.js";
import { findLeaf, hasLinks, type Lines, readLines, rowOfEntry } from "./lines.js";
import { buildMessages, lastSnapshot } from "./messages.js";
import { noticesOf } from "./notices.js";
import { orderLines } from "./order.js";
import { recordedUsage } from "./usage.js";
import { type Walk, walkContext, walkPath } from "./walk.js";

export const claudeCodeContext: FormatContext = {
	async branch(table, options) {
		const lines = await readLines(table);
		const leaf = await leafOf(lines, options.leaf);
		const boundaries = readBoundaries(lines);
		const inFileOrder = leaf >= 0 && !(await hasLinks(lines));
		const { walk, order, usage } = await readBranch(lines, boundaries, leaf, inFileOrder, options);
		const snapshot = leaf < 0 ? -1 : await lastSnapshot(lines);
		const messages = leaf < 0 ? new MessageList() : await buildMessages(lines, order, snapshot, options);
		const walked = await walkedRows(table, walk, order, snapshot);
		// One message alone has no order that could be wrong: several roots beside it are damage as anywhere.
		const untied = inFileOrder && (await countMessages(lines)) > 1;
		return {
			messages,
			leaf,
			walked,
			damage: await findDamage(lines, boundaries, { ...options, inFileOrder: untied, walked }),
			notices: await noticesOf(lines, boundaries, walk, walked, untied),
			usage,
			adjacency: "turn",
		};
	},
};

/** Errors: `unknown_ref` when the given entry names no chain line. */
async function leafOf(lines: Lines, entry: string | null): Promise<number> {
	if (entry === null) return (await hasLinks(lines)) ? findLeaf(lines) : lastOwn(lines);
	const row = await rowOfEntry(lines, entry);
	if (row < 0) {
		throw new MidcompactError(
			"unknown_ref",
			`No line of the session has the uuid ${entry}.`,
			"Give the uuid of a user, assistant, attachment, system or progress line of this file as the leaf.",
		);
	}
	if (lines.fileSide === "main" && lines.isSidechain(row)) lines.side = "side";
	return row;
}

async function lastOwn(lines: Lines): Promise<number> {
	const pause = pacer();
	for (let row = lines.table.rows - 1; row >= 0; row--) {
		if (pause()) await breathe();
		if (lines.lost[row] === 0 && lines.isOwn(row)) return row;
	}
	return -1;
}

type Reading = Pick<Branch, "usage"> & { walk: Walk; order: Int32Array };

/** Usage is that of the host's context in either scope (RULINGS 19). */
async function readBranch(
	lines: Lines,
	boundaries: ReadonlyMap<number, Boundary>,
	leaf: number,
	inFileOrder: boolean,
	{ scope, leaf: named }: BranchOptions,
): Promise<Reading> {
	const links = new KeptLinks(lines.chain, boundaries.values(), leaf);
	const context = inFileOrder
		? await fileOrder(lines, leaf, await lastBoundary(lines, leaf))
		: await walkContext(lines, links, leaf);
	const sent = await orderLines(lines, context.rows, named !== null);
	const usage = await recordedUsage(lines, sent, links.rows);
	if (scope === "context") return { walk: context, order: sent, usage };
	const walk = inFileOrder ? await fileOrder(lines, leaf, 0) : await walkPath(lines, boundaries, leaf);
	return { walk, order: await orderLines(lines, walk.rows, named !== null), usage };
}

/** RULINGS 3: no link names a line, so the lines stand as they were written. */
async function fileOrder(lines: Lines, leaf: number, from: number): Promise<Walk> {
	const pause = pacer();
	const rows: number[] = [];
	for (let row = from; row <= leaf; row++) {
		if (pause()) await breathe();
		if (lines.lost[row] === 0 && lines.isOwn(row)) rows.push(row);
	}
	return { rows, joined: 0, cutAt: -1 };
}

async function lastBoundary(lines: Lines, leaf: number): Promise<number> {
	const pause = pacer();
	for (let row = leaf; row > 0; row--) {
		if (pause()) await breathe();
		if (lines.table.type.at(row) === LINE.BOUNDARY && lines.isOwn(row)) return row;
	}
	return 0;
}

async function walkedRows(table: RecordTable, walk: Walk, order: Int32Array, snapshot: number): Promise<Uint8Array> {
	const pause = pacer();
	const walked = new Uint8Array(table.rows);
	for (const rows of [walk.rows, order]) {
		for (const row of rows) {
			if (pause()) await breathe();
			walked[row] = 1;
		}
	}
	if (snapshot >= 0) walked[snapshot] = 1;
	return walked;
}

async function countMessages(lines: Lines): Promise<number> {
	const pause = pacer();
	let messages = 0;
	for (let row = 0; row < lines.table.rows; row++) {
		if (pause()) await breathe();
		if (lines.isConversation(row)) messages++;
	}
	return messages;
}
