/** Forks a session file as a commit does: ranges of atoms give way to block messages, the format's writer and the workers do the rest. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { writeFork } from "#src/engine/fork.js";
import type { OpenSurvey } from "#src/engine/survey.js";
import type { OpenOptions } from "#src/engine.js";
import { WRITERS } from "#src/session/formats/writers.js";
import { openShared } from "./engine.js";

/** Atoms `from … to`, both included. */
export interface TestRange {
	from: number;
	to: number;
	summary: string;
	topic?: string;
}

export interface ForkOptions {
	open?: OpenOptions;
	/** Folder of the fork; default: a new temporary one. */
	folder?: string;
	/** Name of the fork's file; default: the one that the format chooses. */
	name?: string;
	id?: string;
	now?: Date;
	/** Number of the first block. */
	firstBlock?: number;
}

export interface TestFork {
	path: string;
	id: string;
	/** The fork's text; read it only where it is small. */
	text(): string;
	cleaned: number;
	dropped: number;
}

/** Text of a block's message as the tests write it. */
export function testBlockText(block: string, { summary, topic }: TestRange): string {
	return `[midcompact block ${block}${topic ? `: ${topic}` : ""}]\n${summary}`;
}

export async function forkFile(
	path: string,
	ranges: readonly TestRange[],
	options: ForkOptions = {},
): Promise<TestFork> {
	const session = await openShared(path, options.open);
	try {
		const survey = session.survey as OpenSurvey;
		const writer = WRITERS[survey.format];
		const id = options.id ?? randomUUID();
		const now = options.now ?? new Date();
		const folder = options.folder ?? mkdtempSync(join(tmpdir(), "midcompact-fork-"));
		const target = join(folder, options.name ?? writer.fileName(id, now, path));
		if (existsSync(target)) throw new Error(`${basename(target)} exists in ${dirname(target)}`);
		writeFileSync(target, "");
		const { messageStart } = survey.atoms;
		const written = await writeFork(
			survey.pool,
			survey.source,
			{
				table: survey.table,
				branch: survey.branch,
				system: survey.systemRows,
				scope: survey.scope,
				replacements: ranges.map((range, i) => {
					const block = `c${String((options.firstBlock ?? 1) + i).padStart(4, "0")}`;
					return {
						from: messageStart.at(range.from),
						to: messageStart.at(range.to + 1),
						message: { block, topic: range.topic ?? "", text: testBlockText(block, range) },
					};
				}),
				id,
				now,
				newId: () => randomUUID(),
				parent: { id: null, path, sizes: survey.source.sources.map(({ size }) => size) },
			},
			target,
		);
		return { path: target, id, text: () => readFileSync(target, "utf8"), ...written };
	} finally {
		await session.close();
	}
}
