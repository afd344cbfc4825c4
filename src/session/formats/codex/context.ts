/** Codex CLI rollouts: the table to one branch. The rules and where they come from: NOTES.md. */
import { MidcompactError } from "../../../errors.js";
import { type Branch, type BranchDamage, type BranchOptions, MessageList } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { isObject } from "../../record.js";
import { RecordTable } from "../../table.js";
import type { FormatContext } from "../format.js";
import { checkpointOf, NO_CHECKPOINT } from "./checkpoint.js";
import { LOST_BASE, ROW } from "./kinds.js";
import { type History, replay, type Stretch, usageRowOf } from "./replay.js";

export const codexContext: FormatContext = { expand, base, branch };

/** Kinds of unknown items that a notice names. */
const KINDS_NAMED = 5;

/** Rows of lines, which stand before the rows of items. */
export function lineRows(table: RecordTable): number {
	let end = table.rows;
	while (end > 0 && table.item.at(end - 1) > 0) end--;
	return end;
}

/** The first `session_meta` of the session's own file: a fork that replays its parent holds the parent's after it. */
export function ownMeta(table: RecordTable): number {
	let found = -1;
	for (const row of table.metas.keys()) {
		if (table.type.at(row) !== ROW.META) continue;
		const later = found < 0 ? 1 : table.source.at(row) - table.source.at(found);
		if (later > 0 || (later === 0 && row < found)) found = row;
	}
	return found;
}

function base(table: RecordTable): { id: string; end: number } | null {
	const parent = table.metas.get(ownMeta(table))?.history_base;
	if (!isObject(parent)) return null;
	const { id, end } = parent;
	return typeof id === "string" && typeof end === "number" ? { id, end } : null;
}

/**
 * The header whose base cannot be followed; -1 for none. Of files that continue one another it can only be the first one's. A base that can be
 * followed is the engine's to find.
 */
function lostBase(table: RecordTable): number {
	let first = -1;
	for (const row of table.metas.keys()) if (table.type.at(row) === ROW.META && (first < 0 || row < first)) first = row;
	return table.metas.get(first)?.history_base === LOST_BASE ? first : -1;
}

/** The end of the branch: rows before `end` are read, and of the items of the last of them those up to `item`. */
interface Leaf {
	end: number;
	item: number;
}

const ENTRY = /^#(\d+)(?:\.(\d+))?$/;

function leafOf(table: RecordTable, name: string | null): Leaf {
	const end = lineRows(table);
	if (name === null) return { end, item: Number.POSITIVE_INFINITY };
	const found = ENTRY.exec(name);
	const record = Number(found?.[1]);
	for (let row = 0; found && row < end; row++) {
		if (table.record.at(row) !== record) continue;
		return { end: row + 1, item: found[2] === undefined ? Number.POSITIVE_INFINITY : Number(found[2]) };
	}
	throw unknownLeaf(name);
}

function unknownLeaf(name: string | null): MidcompactError {
	return new MidcompactError(
		"unknown_ref",
		`This session has no entry ${name}.`,
		"Entries of a Codex rollout are #n, the number of the line's record from 0, or #n.k for an item of the compaction that counts.",
	);
}

function expand(table: RecordTable, options: BranchOptions): number[] {
	if (options.scope === "path") return [];
	const checkpoint = checkpointOf(table, leafOf(table, options.leaf).end);
	return checkpoint === NO_CHECKPOINT ? [] : [checkpoint];
}

async function branch(table: RecordTable, options: BranchOptions): Promise<Branch> {
	const leaf = leafOf(table, options.leaf);
	const checkpoint = options.scope === "path" ? NO_CHECKPOINT : checkpointOf(table, leaf.end);
	const items = await itemRows(table, checkpoint);
	if (leaf.item !== Number.POSITIVE_INFINITY) {
		if (checkpoint !== leaf.end - 1 || leaf.item >= items.length) throw unknownLeaf(options.leaf);
		items.length = leaf.item + 1;
	}
	const stretch: Stretch = {
		checkpoint: checkpoint === NO_CHECKPOINT ? null : { row: checkpoint, items },
		end: leaf.end,
	};
	const history = await replay(table, stretch, options.scope);
	const meta = ownMeta(table);
	const messages = await messagesOf(table, meta, history, options);
	const walked = walkedRows(table, meta, stretch);
	const lost = lostBase(table);
	// Places of damage are in the file that was opened: of one that it continues only the notice tells.
	const damage: BranchDamage[] =
		lost >= 0 && lost === meta ? [{ kind: "missing_parent", row: lost, onAnchor: walked[lost] === 1 }] : [];
	const usageRow = await usageRowOf(table, history);
	return {
		messages,
		leaf: lastEntry(table, messages),
		walked,
		damage,
		notices: await [...lostNotices(lost, meta), ...(await noticesOf(table, leaf.end, history))],
		usage: usageRow < 0 ? null : { row: usageRow, usage: table.usageAt(RecordTable.firstOf(table.usageRow, usageRow)) },
		adjacency: "literal",
	};
}

/** Rows of the items of a compaction, in order. */
async function itemRows(table: RecordTable, checkpoint: number): Promise<number[]> {
	const rows: number[] = [];
	if (checkpoint === NO_CHECKPOINT) return rows;
	const pause = pacer();
	const record = table.record.at(checkpoint);
	for (let row = lineRows(table); row < table.rows; row++) {
		if (pause()) await breathe();
		if (table.record.at(row) === record) rows.push(row);
	}
	return rows;
}

/** A run of the model's items is one message, ended by any output or user item (RULINGS 10). */
async function messagesOf(
	table: RecordTable,
	meta: number,
	history: History,
	options: BranchOptions,
): Promise<MessageList> {
	const pause = pacer();
	const messages = new MessageList();
	if (meta >= 0 && table.roleOf(meta) === "system") messages.push("system", [meta]);
	let run: number[] = [];
	// A developer message inside a run does not end it: it stands behind.
	let behind: number[] = [];
	const endRun = () => {
		if (run.length > 0) messages.push("assistant", run);
		for (const row of behind) messages.push("system", [row]);
		run = [];
		behind = [];
	};
	for (const row of history.rows) {
		if (pause()) await breathe();
		const role = row < 0 ? null : table.roleOf(row);
		if (role === "assistant") run.push(row);
		else if (role === "system") behind.push(row);
		else if (row < 0) endRun();
		else if (role !== null) {
			endRun();
			if (role !== "summary" || options.scope === "context") messages.push(role, [row]);
		}
		if (run.length === 0 && behind.length > 0) endRun();
	}
	endRun();
	return messages;
}

/** Last row of the last message that is no system message; -1 when there is none. */
function lastEntry(table: RecordTable, messages: MessageList): number {
	for (let message = messages.length - 1; message >= 0; message--) {
		const rows = messages.rowsOf(message);
		if (messages.roleOf(message) !== "system" || table.type.at(rows[0]) !== ROW.META) return rows[rows.length - 1];
	}
	return -1;
}

function walkedRows(table: RecordTable, meta: number, { checkpoint, end }: Stretch): Uint8Array {
	const walked = new Uint8Array(table.rows);
	walked.fill(1, checkpoint?.row ?? 0, end);
	if (meta >= 0) walked[meta] = 1;
	for (const row of checkpoint?.items ?? []) walked[row] = 1;
	return walked;
}

function lostNotices(lost: number, own: number): string[] {
	if (lost < 0) return [];
	return [
		lost === own
			? "The session continues another one, but not in a way that can be followed: only its own part is here."
			: "The first of the continued sessions continues another one, but not in a way that can be followed: that one is not here.",
	];
}

async function noticesOf(table: RecordTable, end: number, history: History): Promise<string[]> {
	const pause = pacer();
	let headers = 0;
	let items = 0;
	let compactions = 0;
	let events = 0;
	let unreadable = 0;
	let unknown = 0;
	const kinds = new Set<string>();
	const rows = lineRows(table);
	for (let row = 0; row < rows; row++) {
		if (pause()) await breathe();
		const type = table.type.at(row);
		// What the file holds at all does not depend on the leaf.
		if (type === ROW.META) headers++;
		else if (type === ROW.ITEM) items++;
		else if (type === ROW.COMPACTED) compactions++;
		else if (type === ROW.USER_EVENT || type === ROW.USER_ITEM_EVENT || type === ROW.WORDS_EVENT) events++;
		else if (row >= end) continue;
		else if (type === ROW.UNREADABLE) unreadable++;
		else if (type === ROW.UNKNOWN_ITEM) {
			unknown++;
			const kind = table.metas.get(row)?.kind;
			if (kinds.size < KINDS_NAMED && typeof kind === "string") kinds.add(kind);
		}
	}
	const notices: string[] = [];
	if (items === 0 && events > 0)
		notices.push(
			"This rollout holds its user and agent messages only as events, which are copies for the screen: Codex sends none of them, so they are not part of the survey.",
		);
	else if (items + compactions + unreadable + unknown === 0 && table.records > headers)
		notices.push(
			"This rollout holds only events and bookkeeping, no response item that Codex would send: there is no message to survey.",
		);
	if (unreadable > 0)
		notices.push(
			`${count(unreadable, "line")} left out that Codex itself drops when it reads the file (no timestamp, an ordinal that is no number, or a lone surrogate).`,
		);
	if (unknown > 0)
		notices.push(`${count(unknown, "response item")} of unknown kinds left out (${[...kinds].join(", ")}).`);
	if (history.cutUserMessages)
		notices.push(
			"The last compaction kept no replacement history: of the user messages before it Codex sends the newest 20,000 tokens by its own estimate; the oldest one shown here is sent cut.",
		);
	return notices;
}

function count(n: number, what: string): string {
	return `${n} ${what}${n === 1 ? "" : "s"}`;
}
