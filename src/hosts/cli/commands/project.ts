/** `midcompact project`: what the plan would change, in figures, and the messages themselves. */
import { createWriteStream, type WriteStream } from "node:fs";
import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { finished } from "node:stream/promises";
import type { Command } from "commander";
import { outputExists, PendingFile, unwritable } from "../../../engine/output.js";
import type { Planning } from "../../../engine/planning.js";
import type { Session } from "../../../engine/session.js";
import { projectAnswer } from "../../../facade/transaction.js";
import { SMALL_SESSION, withSession } from "../open.js";
import { SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import { planningOf } from "../planning.js";
import type { Shell } from "../shell.js";
import { cliWords } from "../words.js";

interface ProjectOptions extends SessionOptions {
	out?: string;
}

export function addProject(program: Command, shell: Shell): void {
	const command = program
		.command("project")
		.description("Show what the plan would change: sizes before and after, and the prompt cache that is lost.")
		.argument("<session>", SESSION_ARGUMENT)
		.option("--out <file>", "write the projected messages to a new file, one JSON object a line; - for stdout")
		.addHelpText(
			"after",
			"\nNothing is committed. Ranges without a summary stand as they are.\n\nExamples:\n  midcompact project session.jsonl\n  midcompact project session.jsonl --out - | jq .role",
		);
	sessionOptions(command).action((name: string, options: ProjectOptions) =>
		withSession(shell, name, options, (session) => project(shell, session, options), SMALL_SESSION),
	);
}

async function project(shell: Shell, session: Session, { out, json = false }: ProjectOptions): Promise<void> {
	const planning = planningOf(session);
	if (out === "-") {
		await planning.project((lines) => shell.printLines(lines));
		return;
	}
	const path = out === undefined ? null : resolve(out);
	if (path !== null && (await lstat(path).catch(() => null))) throw outputExists(path);
	const figures = path === null ? await planning.project() : await projectTo(planning, session.survey.path ?? "", path);
	shell.answer("project", projectAnswer({ ...figures, path }, cliWords()), json);
}

/** The file appears when it is complete, no more readable than the session; one that is there is never overwritten. */
async function projectTo(
	planning: Planning,
	session: string,
	path: string,
): Promise<Awaited<ReturnType<Planning["project"]>>> {
	const file = await PendingFile.create(path, session);
	let stream: WriteStream | null = null;
	try {
		const opened = createWriteStream(file.path, { flags: "r+" });
		stream = opened;
		const ended = finished(opened);
		// What goes wrong is told where the next lines are written, or at the end.
		ended.catch(() => {});
		const figures = await planning.project((lines) => {
			if (opened.errored) throw unwritable(path, opened.errored);
			return opened.write(lines) ? undefined : drained(opened);
		});
		opened.end();
		await ended.catch((cause) => {
			throw unwritable(path, cause);
		});
		await file.sync();
		await file.publish();
		return figures;
	} finally {
		stream?.destroy();
		await file.discard();
	}
}

function drained(stream: WriteStream): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			stream.off("drain", done);
			stream.off("close", done);
			resolve();
		};
		stream.once("drain", done);
		stream.once("close", done);
	});
}
