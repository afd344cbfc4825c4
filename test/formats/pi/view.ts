/** What the reader and the context make of records, as plain objects that a test can compare. */
import { type Branch, type BranchOptions, MESSAGE } from "#src/session/branch.js";
import { piContext } from "#src/session/formats/pi/context.js";
import { piReader } from "#src/session/formats/pi/read.js";
import { contentTexts, type JsonObject, type RecordFacts } from "#src/session/record.js";
import { RecordTable } from "#src/session/table.js";
import { expandRows, tableOf } from "../../helpers/table.js";

export interface Seen {
	role: string;
	texts: string[];
	entry: string;
	calls: string[];
	/** Ids of the calls that it answers. */
	answers: string[];
	images: number;
	sent: boolean;
}

export interface View {
	table: RecordTable;
	branch: Branch;
	list: Seen[];
}

export async function view(records: readonly JsonObject[], options: Partial<BranchOptions> = {}): Promise<View> {
	const full: BranchOptions = { scope: "context", leaf: null, memory: false, ...options };
	const table = tableOf(piReader, records);
	expandRows(table, piReader, records, piContext.expand?.(table, full) ?? []);
	const branch = await piContext.branch(table, full);
	return { table, branch, list: seen(table, branch, records) };
}

/** Role and texts alone. */
export const brief = (list: readonly Seen[]) => list.map(({ role, texts }) => `${role}: ${texts.join(" | ")}`);

/** Damage as `kind entry`, with a star where it is on the anchor. */
export const damage = ({ table, branch }: View) =>
	branch.damage.map(({ kind, row, onAnchor }) => `${kind} ${table.entryOf(row)}${onAnchor ? " *" : ""}`).sort();

function seen(table: RecordTable, { messages }: Branch, records: readonly JsonObject[]): Seen[] {
	const list: Seen[] = [];
	for (let m = 0; m < messages.length; m++) {
		const rows = [...messages.rowsOf(m)];
		const facts = rows.map((row) => factsOf(table, row, records));
		const parts = facts.flatMap((f) => f.parts);
		list.push({
			role: messages.roleOf(m),
			texts: contentTexts(parts),
			entry: [...messages.entriesOf(m)].map((row) => table.entryOf(row)).join(","),
			calls: rows.flatMap((row) => idsOf(table, table.callRow, table.callId, row)),
			answers: rows.flatMap((row) => idsOf(table, table.resultRow, table.resultId, row)),
			images: parts.filter((part) => part.type === "image").length,
			sent: (messages.marks.at(m) & MESSAGE.UNSENT) === 0,
		});
	}
	return list;
}

function factsOf(table: RecordTable, row: number, records: readonly JsonObject[]): RecordFacts {
	const record = records[table.record.at(row)];
	const item = table.item.at(row);
	const facts = item > 0 ? piReader.items?.(record)[item - 1] : piReader.read(record);
	if (!facts) throw new Error(`row ${row} has no facts`);
	return facts;
}

function idsOf(table: RecordTable, rows: RecordTable["callRow"], ids: RecordTable["callId"], row: number): string[] {
	const [from, to] = RecordTable.rangeOf(rows, row);
	return Array.from({ length: to - from }, (_, i) => table.string(ids.at(from + i)) ?? "");
}
