/** Sessions to plan on, in real files, and short ways to plan on them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { Planning } from "#src/engine/planning.js";
import type { Session } from "#src/engine/session.js";
import type { OpenSurvey } from "#src/engine/survey.js";
import { createEngine, type OpenOptions } from "#src/engine.js";
import type { JsonObject } from "#src/session/record.js";
import { answer, at, call, result, user } from "../formats/claude-code/lines.js";
import { jsonLines, scratchFolder } from "../helpers/files.js";

const engine = createEngine({ threads: 2 });
afterAll(() => engine.close());

export interface Planned {
	session: Session;
	planning: Planning;
	survey: OpenSurvey;
	/** `data` of the answer to a request; an error reply is thrown. */
	ask(request: JsonObject): Promise<Record<string, unknown>>;
	/** Adds the atoms with these indexes as a range, and returns its id. */
	add(from: number, to: number, summary?: string): Promise<string>;
	text(atom: number): Promise<string>;
	/** Kinds of all atoms. */
	kinds(): string[];
	close(): Promise<void>;
}

/** A folder of sessions with a state folder of its own. */
export interface Desk {
	folder: string;
	stateDir: string;
	write(name: string, content: string): string;
	open(path: string, options?: OpenOptions): Promise<Planned>;
	/** Names of everything in the folder but the state. */
	names(): string[];
	/** Names of everything in the state folder but journals, records of places and claimed numbers. */
	kept(): string[];
}

export function newDesk(): Desk {
	const files = scratchFolder();
	const stateDir = join(files.path, "state");
	return {
		folder: files.path,
		stateDir,
		write: (name, content) => files.write(name, content),
		open: (path, options = {}) => openPlanned(path, { stateDir, ...options }),
		names: () =>
			readdirSync(files.path)
				.filter((name) => name !== "state")
				.sort(),
		kept: () =>
			readdirSync(stateDir, { recursive: true, withFileTypes: true })
				.filter((entry) => entry.isFile() && !/^(journal\.jsonl|where\.json|c\d+\.claimed)$/.test(entry.name))
				.map((entry) => entry.name)
				.sort(),
	};
}

async function openPlanned(path: string, options: OpenOptions): Promise<Planned> {
	const session = await engine.open(path, { background: { tokens: false, index: false }, ...options });
	const { planning } = session;
	if (!planning) throw new Error("The session has no planning.");
	const survey = session.survey as OpenSurvey;
	const ask = async (request: JsonObject) => {
		const reply = await session.request({ request });
		if (!reply.ok) throw Object.assign(new Error(reply.error.message), reply.error);
		return reply.data as Record<string, unknown>;
	};
	return {
		session,
		planning,
		survey,
		ask,
		async add(from, to, summary = `summary of ${from} to ${to}`) {
			const [start, end] = [survey.atoms.refOf(from), survey.atoms.refOf(to)];
			const { range } = await ask({ action: "plan_add", start, end, summary });
			return (range as { id: string }).id;
		},
		text: async (atom) => (await survey.texts([atom], { budget: 5_000, shape: "content" }))[0].text,
		kinds: () => Array.from({ length: survey.atoms.length }, (_, atom) => survey.atoms.kindOf(atom)),
		close: () => session.close(),
	};
}

/** So many questions of three atoms each: the words of a person, an exchange, and an answer. */
export function questions(count: number, from = 0, parent: string | null = null): JsonObject[] {
	const lines: JsonObject[] = [];
	for (let n = from, before = parent; n < from + count; n++) {
		lines.push(
			user(`u${n}`, before, `question ${n}`),
			call(`c${n}`, `u${n}`, `t${n}`),
			result(`r${n}`, `c${n}`, `t${n}`),
			answer(`a${n}`, `r${n}`, [{ type: "text", text: `answer ${n}` }]),
		);
		before = `a${n}`;
	}
	return lines.map((line, i) => ({ ...line, timestamp: at(from * 4 + i) }));
}

export const textOf = jsonLines;

/** Changes a file in place. */
export function change(path: string, how: (text: string) => string): void {
	writeFileSync(path, how(readFileSync(path, "utf8")));
}

export const refusal = (code: string, words = "") =>
	expect.objectContaining({ code, message: expect.stringMatching(new RegExp(words)) });
