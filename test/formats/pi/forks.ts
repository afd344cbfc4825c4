/** What a fork of a Pi session must be, from the records of the session and the ranges that were replaced. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { checkResume, type ResumeReport } from "#src/engine/resume.js";
import type { OpenSurvey } from "#src/engine/survey.js";
import type { Scope } from "#src/session/branch.js";
import type { JsonObject } from "#src/session/record.js";
import { openShared } from "../../helpers/engine.js";
import { type TestRange, testBlockText } from "../../helpers/fork.js";
import { contextAt, type Expected, migrate, originalsAt } from "./oracle.js";

export function recordsOf(path: string): JsonObject[] {
	return readFileSync(path, "utf8")
		.split("\n")
		.filter((text) => text !== "")
		.map((text) => JSON.parse(text) as JsonObject);
}

export interface AtomView {
	kind: string;
	protocol: string;
	reason: string | null;
	marks: number;
	chars: number;
	images: number;
	text: string;
}

export interface Opened {
	atoms: AtomView[];
	/** Entry ids of each atom's messages. */
	entries: string[][];
	report: ResumeReport;
	session: string | null;
	usage: number | null;
}

/** The atoms of a session, and whether Pi would go on with it. */
export async function openAtoms(path: string, scope: Scope = "context"): Promise<Opened> {
	const session = await openShared(path, { scope, format: "pi" });
	try {
		const survey = session.survey as OpenSurvey;
		const { atoms, branch, table } = survey;
		const all = Array.from({ length: atoms.length }, (_, atom) => atom);
		const texts = await survey.texts(all, { budget: 100_000, shape: "content" });
		const entries = all.map((atom) => {
			const ids: string[] = [];
			for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++)
				for (const row of branch.messages.entriesOf(m)) ids.push(table.entryOf(row));
			return ids;
		});
		return {
			atoms: all.map((atom) => ({
				kind: atoms.kindOf(atom),
				protocol: atoms.protocolOf(atom),
				reason: atoms.reasonOf(atom),
				marks: atoms.marks.at(atom),
				chars: atoms.chars.at(atom),
				images: atoms.images.at(atom),
				text: texts[atom].text,
			})),
			entries,
			report: await checkResume(survey, basename(path), new AbortController().signal),
			session: survey.session,
			usage: branch.usage?.usage.input ?? null,
		};
	} finally {
		await session.close();
	}
}

const blockName = (range: number) => `c${String(range + 1).padStart(4, "0")}`;

/** Atoms as they must be read back from the fork: blocks where the ranges were. */
export function expectedAtoms(atoms: readonly AtomView[], ranges: readonly TestRange[]): AtomView[] {
	return atoms.flatMap((atom, at): AtomView[] => {
		const range = ranges.findIndex(({ from, to }) => from <= at && at <= to);
		if (range < 0) return [atom];
		if (ranges[range].from !== at) return [];
		const text = testBlockText(blockName(range), ranges[range]);
		const block = { kind: "block", protocol: "none", reason: "committed_block", marks: 1 };
		return [{ ...block, chars: [...text].length, images: 0, text: `[custom]\n${text}` }];
	});
}

/** The messages that Pi makes of a file at its end, by the rules of the oracle. */
export function messagesOf(records: readonly JsonObject[], scope: Scope = "context"): Expected[] {
	const entries = migrate(records);
	const leaf = String(entries.at(-1)?.id);
	return scope === "context" ? contextAt(entries, leaf) : originalsAt(entries, leaf);
}

/** The same with a block in place of each range. */
export function projected(
	list: readonly Expected[],
	entries: readonly string[][],
	ranges: readonly TestRange[],
): Omit<Expected, "entry">[] {
	const rangeOf = new Map<string, number>();
	ranges.forEach(({ from, to }, range) => {
		for (let atom = from; atom <= to; atom++) for (const id of entries[atom]) rangeOf.set(id, range);
	});
	const done = new Set<number>();
	return list.flatMap(({ entry, ...message }) => {
		const range = rangeOf.get(entry);
		if (range === undefined) return [message];
		if (done.has(range)) return [];
		done.add(range);
		return [{ role: "custom", texts: [testBlockText(blockName(range), ranges[range])] }];
	});
}
