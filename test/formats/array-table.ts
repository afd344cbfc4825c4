/** Tables and atoms of message arrays, with the fields of the document around them. */
import { type Anchor, buildAtoms } from "#src/atoms/build.js";
import { measureParts } from "#src/measure/parts.js";
import type { Branch, BranchOptions } from "#src/session/branch.js";
import type { FormatContext, FormatReader } from "#src/session/formats/format.js";
import type { JsonObject, JsonValue, RecordFacts } from "#src/session/record.js";
import type { RecordTable } from "#src/session/table.js";
import { tableOf } from "../helpers/table.js";

export const WHOLE: BranchOptions = { scope: "context", leaf: null, memory: false };

/** The table of `{...fields, messages}`, fields behind the elements as the engine adds them. */
export function documentTable(
	reader: FormatReader,
	messages: readonly JsonObject[],
	fields: Record<string, JsonValue> = {},
): RecordTable {
	const table = tableOf(reader, messages);
	for (const [key, value] of Object.entries(fields)) {
		const facts = reader.field?.(key, value);
		if (facts) table.add(facts, { start: 0, end: 1, record: -1, line: 0, item: 0 }, measureParts(facts));
	}
	return table;
}

/** One line an atom: kind, protocol, reason, and the entries of its messages. */
export async function atomsOf(
	reader: FormatReader,
	context: FormatContext,
	messages: readonly JsonObject[],
): Promise<string[]> {
	const table = documentTable(reader, messages);
	const anchor = await buildAtoms(table, await context.branch(table, WHOLE));
	return Array.from({ length: anchor.atoms.length }, (_, atom) =>
		[
			anchor.atoms.kindOf(atom),
			anchor.atoms.protocolOf(atom),
			anchor.atoms.reasonOf(atom) ?? "-",
			entriesOf(table, anchor, atom),
		].join(" "),
	);
}

function entriesOf(table: RecordTable, { atoms, messages }: Anchor, atom: number): string {
	const entries: string[] = [];
	for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++)
		for (const row of messages.entriesOf(m)) entries.push(table.entryOf(row));
	return entries.join(",");
}

/** One line a message: role and entry. */
export function listed(table: RecordTable, { messages }: Branch): string[] {
	return Array.from(
		{ length: messages.length },
		(_, m) => `${messages.roleOf(m)} ${table.entryOf(messages.entriesOf(m)[0])}`,
	);
}

/** The facts of a record that must have some. */
export function factsOf(reader: FormatReader, record: JsonObject): RecordFacts {
	const facts = reader.read(record);
	if (!facts) throw new Error("no facts");
	return facts;
}
