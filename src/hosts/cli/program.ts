/** The command line: commands, help, and the exit codes of its own errors (2 for usage). */
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addFind, addMeasure, addRequest, addShow } from "./commands/ask.js";
import { addCommit } from "./commands/commit.js";
import { addDoctor } from "./commands/doctor.js";
import { addInspect } from "./commands/inspect.js";
import { addPlan } from "./commands/plan.js";
import { addProject } from "./commands/project.js";
import { addRecall } from "./commands/recall.js";
import { addSessions } from "./commands/sessions.js";
import { addAbort, addStart, addStatus } from "./commands/transaction.js";
import type { Shell } from "./shell.js";

const USAGE = 2;

const EXAMPLES = `
A session is a path, or the id or a unique prefix of the id of a session that
\`midcompact sessions\` lists.

Examples:
  midcompact inspect session.jsonl --sort size
  midcompact find session.jsonl "connection refused" --newest
  midcompact measure session.jsonl a0001..a0010
  midcompact start session.jsonl
  midcompact plan session.jsonl add a0003 a0009 --summary-file summary.md
  midcompact project session.jsonl
  midcompact commit session.jsonl
  midcompact recall session.jsonl c0001

Exit codes: 0 ok, 1 refused or failed, 2 wrong usage.`;

/** In the order in which help lists them: looking around, planning, bringing back. */
const COMMANDS = [
	addInspect,
	addMeasure,
	addFind,
	addShow,
	addStart,
	addStatus,
	addPlan,
	addProject,
	addCommit,
	addAbort,
	addRecall,
	addRequest,
	addSessions,
	addDoctor,
];

/** Runs one command; the shell holds its exit code. Never throws for what a user typed. */
export async function run(shell: Shell, argv: readonly string[]): Promise<void> {
	const program = new Command("midcompact")
		.description("Survey huge AI agent sessions, and compact them in the middle.")
		.version(packageVersion(), "-V, --version")
		.addHelpText("after", EXAMPLES)
		.showHelpAfterError("hint: --help lists what can be given.")
		.configureOutput({
			writeOut: (text) => shell.print(text),
			writeErr: (text) => shell.printError(text),
		})
		.exitOverride();
	for (const add of COMMANDS) add(program, shell);
	try {
		await program.parseAsync(argv);
	} catch (thrown) {
		if (!(thrown instanceof CommanderError)) throw thrown;
		shell.exitCode = thrown.exitCode === 0 ? 0 : USAGE;
	}
}

function packageVersion(): string {
	const file = new URL("../../../../package.json", import.meta.url);
	const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
	return version;
}
