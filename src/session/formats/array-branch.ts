/** What the two message array formats share in the main thread's half: an array is one branch, in its own order, ended by its end. */
import { MidcompactError } from "../../errors.js";
import { type Branch, type BranchOptions, MessageList, type RecordedUsage } from "../branch.js";
import { breathe, pacer } from "../breathe.js";
import type { RecordTable } from "../table.js";
import { ARRAY_FLAG } from "./array-fields.js";

const ENTRY = /^#(\d+)$/;

/**
 * The messages of an array, both scopes alike: the system rows of the document around it first, then its elements up to the leaf. The leaf is
 * the last message, or the element that `options.leaf` names as `#n` (RULINGS 14). Errors: `unknown_ref` when it names none.
 */
export async function arrayBranch(
	table: RecordTable,
	options: BranchOptions,
	adjacency: Branch["adjacency"],
): Promise<Branch> {
	const pause = pacer();
	const around: number[] = [];
	const elements: number[] = [];
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (table.roleOf(row) === null) continue;
		(table.record.at(row) < 0 ? around : elements).push(row);
	}
	const end = options.leaf === null ? elements.length : endAt(table, elements, options.leaf) + 1;
	const messages = new MessageList();
	const walked = new Uint8Array(table.rows);
	let compaction = -1;
	for (const row of around) messages.push("system", [row]);
	for (const row of elements.slice(0, end)) {
		if (pause()) await breathe();
		messages.push(table.roleOf(row) ?? "other", [row]);
		walked[row] = 1;
		if (table.flags.at(row) & ARRAY_FLAG.COMPACTION) compaction = row;
	}
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		if (table.record.at(row) < 0) walked[row] = 1;
	}
	return {
		messages,
		leaf: elements[end - 1] ?? -1,
		walked,
		damage: [],
		notices:
			compaction < 0
				? []
				: [
						`The array holds a compaction block (${table.entryOf(compaction)}): the API ignores what stands before it, here everything in the array is listed.`,
					],
		usage: await recordedUsage(table, walked, compaction, end === elements.length),
		adjacency,
	};
}

function endAt(table: RecordTable, elements: readonly number[], leaf: string): number {
	const found = ENTRY.exec(leaf);
	const record = found ? Number(found[1]) : -1;
	const at = record < 0 ? -1 : elements.findIndex((row) => table.record.at(row) === record);
	if (at < 0) {
		throw new MidcompactError(
			"unknown_ref",
			`The array has no message ${JSON.stringify(leaf)}.`,
			"Name a message by its number in the array, from #0.",
		);
	}
	return at;
}

/**
 * Usage of the last element that has one, else that of the document, which describes the end of the array only. None where a compaction block
 * is newer (RULINGS 19).
 */
async function recordedUsage(
	table: RecordTable,
	walked: Uint8Array,
	compaction: number,
	atEnd: boolean,
): Promise<RecordedUsage | null> {
	const pause = pacer();
	/** Places in `usageRow`. */
	let ofDocument = -1;
	let ofElement = -1;
	for (let i = 0; i < table.usageRow.length; i++) {
		if (pause()) await breathe();
		const row = table.usageRow.at(i);
		if (table.record.at(row) < 0) ofDocument = i;
		else if (walked[row] === 1) ofElement = i;
	}
	const last = ofElement < 0 && atEnd ? ofDocument : ofElement;
	if (last < 0 || (last === ofElement && table.usageRow.at(last) < compaction)) return null;
	return { usage: table.usageAt(last), row: table.usageRow.at(last) };
}
