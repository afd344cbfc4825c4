/** Worker task: messages of an anchor as JSON lines, as a fork of it would give them back. */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { parseBlockText } from "../src/plan/block-text.js";
import type { ProjectedMessage } from "../src/plan/projected-message.js";
import { CLEANERS } from "../src/session/formats/cleaners.js";
import { readerOf } from "../src/session/formats/readers.js";
import { GIANT_RECORD } from "../src/session/giant.js";
import type { Part, RecordFacts, Role } from "../src/session/record.js";
import { RecordReader, type RowPlaces, type RowSource, readField } from "../src/session/rows.js";

export interface MessagesTask {
	from: RowSource;
	places: RowPlaces;
	/** Message i has the places `start[i] … start[i + 1] - 1`. */
	start: Uint32Array;
	about: readonly MessageFacts[];
}

/** What is known of a message without its content. */
export interface MessageFacts {
	role: Role;
	/** Ref of its atom. */
	atom: string;
	/** Entry ids. */
	entries: readonly string[];
}

/** One JSON line a message, in order. A record of a block in the session itself is a message like any other. Errors: `unreadable` when the session changed. */
export default async function messages(task: MessagesTask): Promise<string> {
	try {
		const lines: string[] = [];
		const reader = new RecordReader(task.from);
		try {
			for (let m = 0; m < task.about.length; m++) lines.push(await messageLine(task, reader, m));
		} finally {
			reader.close();
		}
		return lines.join("");
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

/** Empty for a message of which nothing is left once its records have been cleaned: a fork does not have it. */
async function messageLine(task: MessagesTask, reader: RecordReader, message: number): Promise<string> {
	const parts: Part[] = [];
	let left = false;
	for (let i = task.start[message]; i < task.start[message + 1]; i++) {
		const facts = await cleanedFacts(task, reader, i);
		if (!facts) continue;
		left = true;
		for (const part of facts.parts) parts.push(part);
	}
	if (!left) return "";
	const { role, atom, entries } = task.about[message];
	const projected: ProjectedMessage = { role, atom, block: blockIn(parts), entries, parts };
	return `${JSON.stringify(projected)}\n`;
}

/** The block that a message is; null for any other. */
function blockIn(parts: readonly Part[]): string | null {
	const [only] = parts;
	return parts.length === 1 && only.type === "text" && only.from === "own"
		? (parseBlockText(only.text)?.block ?? null)
		: null;
}

/** Facts of a place as they are once the record has been cleaned for a fork; null when nothing is left of it. */
async function cleanedFacts(
	{ from, places }: MessagesTask,
	reader: RecordReader,
	i: number,
): Promise<RecordFacts | null> {
	const format = readerOf(from.format);
	const { value, field } = await reader.at(places, i);
	if (field) return readField(format, value);
	const giant = places.end[i] - places.start[i] > GIANT_RECORD;
	const record = giant ? value : CLEANERS[from.format].clean(value);
	if (record === null) return null;
	const item = places.item[i];
	return item > 0 ? (format.items?.(record)[item - 1] ?? null) : format.read(record);
}
