/** The commands by which a user opens a transaction, looks at it and gives it up: start, status, abort. */
import type { Command } from "commander";
import { PlanFigures } from "../../../facade/plan-figures.js";
import { abortAnswer, startAnswer, statusAnswer } from "../../../facade/transaction.js";
import { SMALL_SESSION, withSession } from "../open.js";
import { SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import { planningOf } from "../planning.js";
import type { Shell } from "../shell.js";
import { cliWords } from "../words.js";

export function addStart(program: Command, shell: Shell): void {
	const command = program
		.command("start")
		.description("Start a transaction: freeze the session as it is now, so that a plan can be made on it.")
		.argument("<session>", SESSION_ARGUMENT)
		.argument("[instructions...]", "what the agent should keep in mind")
		.option("--manual", "you choose the ranges yourself; the agent only waits")
		.addHelpText("after", '\nExample:\n  midcompact start session.jsonl "Keep everything about the parser"');
	sessionOptions(command).action((name: string, words: string[], options: SessionOptions & { manual?: boolean }) =>
		withSession(shell, name, { ...options, atAnchor: false }, async (session) => {
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
		.argument("<session>", SESSION_ARGUMENT);
	sessionOptions(command).action((name: string, options: SessionOptions) =>
		withSession(
			shell,
			name,
			options,
			async (session) => {
				const planning = planningOf(session);
				const transaction = await planning.current();
				const open = transaction && {
					transaction,
					totals: planning.lost ? null : (await PlanFigures.of(session.survey, transaction)).facts.totals,
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
		.argument("<session>", SESSION_ARGUMENT);
	sessionOptions(command).action((name: string, options: SessionOptions) =>
		withSession(shell, name, options, async (session) => {
			shell.answer("abort", abortAnswer(await planningOf(session).abort()), options.json ?? false);
		}),
	);
}
