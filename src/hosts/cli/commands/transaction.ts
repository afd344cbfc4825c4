/** The commands that only a user gives: start, status, abort, project, commit. */
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { link, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { confirm, isCancel } from "@clack/prompts";
import type { Command } from "commander";
import type { Planning } from "../../../engine/planning.js";
import type { Session } from "../../../engine/session.js";
import { MidcompactError } from "../../../errors.js";
import { handleRequest } from "../../../facade/handle.js";
import { PlanFigures } from "../../../facade/plan-figures.js";
import { abortAnswer, commitAnswer, projectAnswer, startAnswer, statusAnswer } from "../../../facade/transaction.js";
import { SMALL_SESSION, withSession } from "../open.js";
import { type SessionOptions, sessionOptions } from "../options.js";
import { planningOf } from "../planning.js";
import type { Shell } from "../shell.js";
import { safe } from "../terminal.js";
import { cliWords } from "../words.js";

const SESSION = "path, session id or unique prefix of one";

export function addStart(program: Command, shell: Shell): void {
	const command = program
		.command("start")
		.description("Start a transaction: freeze the session as it is now, so that a plan can be made on it.")
		.argument("<session>", SESSION)
		.argument("[instructions...]", "what the agent should keep in mind")
		.option("--manual", "you choose the ranges yourself; the agent only waits")
		.addHelpText("after", '\nExample:\n  midcompact start session.jsonl "Keep everything about the parser"');
	sessionOptions(command).action((name: string, words: string[], options: SessionOptions & { manual?: boolean }) =>
		withSession(shell, name, options, async (session) => {
			const mode = options.manual ? "manual" : "agent";
			const started = await planningOf(session).start({ mode, instructions: words.join(" ") });
			shell.answer("start", startAnswer(started, cliWords()), options.json ?? false);
		}),
	);
}

export function addStatus(program: Command, shell: Shell): void {
	const command = program
		.command("status")
		.description("Show the open transaction: anchor, plan in figures, digest, who holds the lock.")
		.argument("<session>", SESSION);
	sessionOptions(command).action((name: string, options: SessionOptions) =>
		withSession(
			shell,
			name,
			options,
			async (session) => {
				const transaction = await planningOf(session).current();
				const open = transaction && {
					transaction,
					totals: (await PlanFigures.of(session.survey, transaction)).facts.totals,
				};
				shell.answer("status", statusAnswer(open, cliWords()), options.json ?? false);
			},
			SMALL_SESSION,
		),
	);
}

export function addAbort(program: Command, shell: Shell): void {
	const command = program
		.command("abort")
		.description("Give the transaction up, and its plan with it. The session was never changed.")
		.argument("<session>", SESSION);
	sessionOptions(command).action((name: string, options: SessionOptions) =>
		withSession(shell, name, options, async (session) => {
			shell.answer("abort", abortAnswer(await planningOf(session).abort()), options.json ?? false);
		}),
	);
}

interface ProjectOptions extends SessionOptions {
	out?: string;
}

export function addProject(program: Command, shell: Shell): void {
	const command = program
		.command("project")
		.description("Show what the plan would change: sizes before and after, and the prompt cache that is lost.")
		.argument("<session>", SESSION)
		.option("--out <file>", "write the projected messages to a new file, one JSON object a line; - for stdout")
		.addHelpText("after", "\nExample:\n  midcompact project session.jsonl --out projected.jsonl");
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
	const figures = path === null ? await planning.project() : await projectTo(planning, path);
	shell.answer("project", projectAnswer({ ...figures, path }, cliWords()), json);
}

/** The file appears when it is complete; one that is there is never overwritten. */
async function projectTo(planning: Planning, path: string): Promise<Awaited<ReturnType<Planning["project"]>>> {
	const partial = join(dirname(path), `.project.${randomBytes(6).toString("hex")}.tmp`);
	const failed = (cause: unknown) => {
		if (cause instanceof MidcompactError) return cause;
		const { code, message } = cause as NodeJS.ErrnoException;
		return code === "EEXIST"
			? new MidcompactError("output_exists", `${path} exists already.`)
			: new MidcompactError("invalid_output", `${path} cannot be written: ${message.split(",")[0]}.`, undefined, cause);
	};
	try {
		const stream = createWriteStream(partial, { flags: "wx", flush: true });
		const ended = finished(stream);
		ended.catch(() => {});
		const figures = await planning.project((lines) => {
			if (stream.errored) throw stream.errored;
			return stream.write(lines)
				? undefined
				: new Promise<void>((done) => {
						stream.once("drain", () => done());
						stream.once("error", () => done());
					});
		});
		stream.end();
		await ended;
		await link(partial, path);
		return figures;
	} catch (cause) {
		throw failed(cause);
	} finally {
		await unlink(partial).catch(() => {});
	}
}

interface CommitOptions extends SessionOptions {
	out?: string;
	plan?: string;
	withLater?: boolean;
}

export function addCommit(program: Command, shell: Shell): void {
	const command = program
		.command("commit")
		.description("Write a new session in which every range of the plan is replaced by its summary.")
		.argument("<session>", SESSION)
		.option("--out <file>", "file of the new session, or a folder for it; default: beside the old one")
		.option("--plan <digest>", "commit without asking, if this is still the plan's digest")
		.option("--with-later", "also carry what the host appended after the transaction was started")
		.addHelpText(
			"after",
			"\nThe session itself is never changed. Without a terminal --plan is needed; `midcompact status` shows the digest.",
		);
	sessionOptions(command).action((name: string, options: CommitOptions) => {
		if (options.plan === undefined && !(process.stdin.isTTY && process.stderr.isTTY)) {
			command.error(
				"error: without a terminal to ask on, commit needs --plan DIGEST: the digest that `midcompact status` and `midcompact plan` show",
			);
		}
		return withSession(shell, name, options, (session) => commit(shell, session, options), SMALL_SESSION);
	});
}

async function commit(shell: Shell, session: Session, options: CommitOptions): Promise<void> {
	const planning = planningOf(session);
	const digest = options.plan ?? (await reviewed(shell, session));
	if (digest === null) return;
	const { out, withLater } = options;
	const outcome = await planning.commit({ digest, out, withLater });
	shell.answer("commit", commitAnswer(outcome, cliWords()), options.json ?? false);
}

/** Shows the plan and asks; the digest that was agreed to, null when it was not. */
async function reviewed(shell: Shell, session: Session): Promise<string | null> {
	const planning = planningOf(session);
	const transaction = await planning.current();
	const reply = await handleRequest(session.survey, { request: { action: "plan_show" } }, cliWords());
	if (!reply.ok || !transaction) {
		shell.printReply(reply, false);
		return null;
	}
	const projection = projectAnswer({ ...(await planning.project()), path: null }, cliWords());
	shell.printError(`${safe(reply.text)}\n\n${safe(projection.text)}\n\n`);
	const agreed = await confirm({
		message: `Commit this plan (digest ${transaction.digest}) into a new session?`,
		initialValue: false,
		output: process.stderr,
		signal: shell.signal,
	});
	if (agreed === true && !isCancel(agreed)) return transaction.digest;
	shell.printError("Not committed.\n");
	shell.exitCode = 1;
	return null;
}
