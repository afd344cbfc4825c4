/** `midcompact commit`: on a terminal it shows the plan and asks; elsewhere the digest says what was reviewed. */
import { confirm } from "@clack/prompts";
import { type Command, Option } from "commander";
import type { Session } from "../../../engine/session.js";
import { handleRequest } from "../../../facade/handle.js";
import { commitAnswer, projectAnswer } from "../../../facade/transaction.js";
import { SMALL_SESSION, withSession } from "../open.js";
import { SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import { planningOf } from "../planning.js";
import type { Shell } from "../shell.js";
import { cliWords } from "../words.js";

interface CommitOptions extends SessionOptions {
	out?: string;
	plan?: string;
	withLater?: boolean;
	/** What other programs take in place of an answer; here only a digest says which plan was looked at. */
	yes?: boolean;
}

const DIGEST_NEEDED = "commit needs --plan DIGEST: the digest that `midcompact status` and `midcompact plan` show";

export function addCommit(program: Command, shell: Shell): void {
	const command = program
		.command("commit")
		.description("Write a new session in which every range of the plan is replaced by its summary.")
		.argument("<session>", SESSION_ARGUMENT)
		.option("--out <file>", "file of the new session, or a folder for it; default: beside the old one")
		.option("--plan <digest>", "commit without asking, if this is still the plan's digest")
		.addOption(new Option("-y, --yes").hideHelp())
		.option("--with-later", "also carry what the host appended after the transaction was started")
		.addHelpText(
			"after",
			"\nThe session itself is never changed. Without a terminal --plan is needed; `midcompact status` shows the digest.\n\nExamples:\n  midcompact commit session.jsonl\n  midcompact commit session.jsonl --plan 582ba5c33e42 --out folder",
		);
	sessionOptions(command).action((name: string, options: CommitOptions) => {
		if (options.yes) command.error(`error: commit has no --yes; ${DIGEST_NEEDED}`);
		if (options.plan === undefined && !(process.stdin.isTTY && process.stderr.isTTY))
			command.error(`error: without a terminal to ask on, ${DIGEST_NEEDED}`);
		if (options.out === "-")
			command.error(
				"error: a session cannot be committed to stdout; `midcompact project --out -` prints what would be committed",
			);
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

/** Shows the plan and asks; the digest that was agreed to, null when it was not. A plan that cannot be committed is refused without a question. */
async function reviewed(shell: Shell, session: Session): Promise<string | null> {
	const planning = planningOf(session);
	const transaction = await planning.current();
	if (!transaction) return "";
	const { digest, plan } = transaction;
	if (plan.ranges.length === 0 || plan.ranges.some(({ summary }) => summary === "")) return digest;
	const reply = await handleRequest(session.survey, { request: { action: "plan_show" } }, cliWords());
	if (!reply.ok) {
		shell.printReply(reply, false);
		return null;
	}
	const projection = projectAnswer({ ...(await planning.project()), path: null }, cliWords());
	shell.printError(`${reply.text}\n\n${projection.text}\n\n`);
	const agreed = await confirm({
		message: `Commit this plan (digest ${digest}) into a new session?`,
		initialValue: false,
		output: shell.questions,
		signal: shell.signal,
	});
	if (agreed === true) return digest;
	shell.printError("Not committed.\n");
	shell.exitCode = 1;
	return null;
}
