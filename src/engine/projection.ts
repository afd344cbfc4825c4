/** The projected messages: those of the anchor, with every range's message in its place. */
import type { MessageFacts, MessagesTask } from "../../workers/messages.js";
import type { ProjectedMessage } from "../plan/projected-message.js";
import type { Replacement } from "../session/fork.js";
import { WRITERS } from "../session/formats/writers.js";
import { placesOf } from "../session/places.js";
import { inOrder } from "./pool.js";
import type { OpenSurvey } from "./survey.js";

/** Source bytes and messages of one task, about; a single message may be more. */
const BATCH_BYTES = 1 << 18;
const BATCH_MESSAGES = 1_000;

/** Messages `from … to - 1` as they are, or the message of a range. */
type Stretch = { kind: "kept"; from: number; to: number } | { kind: "replaced"; replacement: Replacement };

/**
 * Gives the projected messages in sending order, as JSON lines of {@link ProjectedMessage}, some at a time; waits for `take`. System messages are none of them. Errors:
 * `unreadable`, `cancelled`.
 */
export async function projectMessages(
	survey: OpenSurvey,
	replacements: readonly Replacement[],
	signal: AbortSignal,
	take: (lines: string) => void | Promise<void>,
): Promise<void> {
	const atomOf = atomsOfMessages(survey);
	await inOrder(
		stretches(survey, replacements),
		survey.pool.width,
		async (stretch) =>
			stretch.kind === "replaced"
				? blockLine(survey, stretch.replacement)
				: survey.pool.run<string>("messages", taskOf(survey, atomOf, stretch.from, stretch.to), signal),
		take,
	);
}

/** The messages of some atoms, as they would stand in a projection. Errors: `unreadable`, `cancelled`. */
export async function messagesOfAtoms(
	survey: OpenSurvey,
	atoms: readonly number[],
	signal: AbortSignal,
): Promise<ProjectedMessage[]> {
	const { messageStart } = survey.atoms;
	const atomOf = atomsOfMessages(survey);
	const messages: ProjectedMessage[] = [];
	await inOrder(
		atoms,
		survey.pool.width,
		(atom) => {
			const task = taskOf(survey, atomOf, messageStart.at(atom), messageStart.at(atom + 1));
			return survey.pool.run<string>("messages", task, signal);
		},
		(lines) => {
			for (const line of lines.split("\n")) if (line !== "") messages.push(JSON.parse(line) as ProjectedMessage);
		},
	);
	return messages;
}

function* stretches(survey: OpenSurvey, replacements: readonly Replacement[]): Generator<Stretch> {
	let from = 0;
	for (const replacement of replacements) {
		yield* kept(survey, from, replacement.from);
		yield { kind: "replaced", replacement };
		from = replacement.to;
	}
	yield* kept(survey, from, survey.branch.messages.length);
}

function* kept({ table, branch }: OpenSurvey, from: number, to: number): Generator<Stretch> {
	let start = from;
	let bytes = 0;
	for (let message = from; message < to; message++) {
		if (bytes >= BATCH_BYTES || message - start >= BATCH_MESSAGES) {
			yield { kind: "kept", from: start, to: message };
			start = message;
			bytes = 0;
		}
		for (const row of branch.messages.rowsOf(message)) bytes += table.end.at(row) - table.start.at(row);
	}
	if (start < to) yield { kind: "kept", from: start, to };
}

function taskOf(survey: OpenSurvey, atomOf: Uint32Array, from: number, to: number): MessagesTask {
	const { table, branch, atoms, source } = survey;
	const { messages } = branch;
	const start = new Uint32Array(to - from + 1);
	for (let m = from; m <= to; m++) start[m - from] = messages.rowStart.at(m) - messages.rowStart.at(from);
	const rows = messages.rows.data.subarray(messages.rowStart.at(from), messages.rowStart.at(to));
	const about: MessageFacts[] = [];
	for (let m = from; m < to; m++) {
		about.push({
			role: messages.roleOf(m),
			atom: atoms.refOf(atomOf[m]),
			entries: [...messages.entriesOf(m)].map((row) => table.entryOf(row)),
		});
	}
	return { from: source, places: placesOf(table, rows), start, about };
}

function atomsOfMessages({ atoms, branch }: OpenSurvey): Uint32Array {
	const atomOf = new Uint32Array(branch.messages.length);
	for (let atom = 0; atom < atoms.length; atom++)
		atomOf.fill(atom, atoms.messageStart.at(atom), atoms.messageStart.at(atom + 1));
	return atomOf;
}

function blockLine({ format }: OpenSurvey, { message }: Replacement): string {
	const projected: ProjectedMessage = {
		role: WRITERS[format].blockRole ?? "user",
		atom: null,
		block: message.block,
		entries: [],
		parts: [{ type: "text", text: message.text, from: "own" }],
	};
	return `${JSON.stringify(projected)}\n`;
}
