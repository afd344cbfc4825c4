/** `midcompact plan`: show and edit the plan of the open transaction. Every verb but `undo` is an action of the facade. */
import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import type { Session } from "../../../engine/session.js";
import { asMidcompactError, MidcompactError } from "../../../errors.js";
import { handleRequest } from "../../../facade/handle.js";
import { boundedLosses, lossLines } from "../../../facade/losses.js";
import { PlanFigures } from "../../../facade/plan-figures.js";
import { statusAnswer } from "../../../facade/transaction.js";
import type { LossReport } from "../../../plan/losses.js";
import { spanText } from "../../../plan/rules.js";
import { askSession, SMALL_SESSION, withSession } from "../open.js";
import { SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import { planningOf } from "../planning.js";
import type { Shell } from "../shell.js";
import { safe } from "../terminal.js";
import { cliWords, parseSpan } from "../words.js";

interface PlanOptions extends SessionOptions {
	summary?: string;
	summaryFile?: string;
	topic?: string;
	losses?: boolean;
}

type Verb = "show" | "read" | "add" | "update" | "remove" | "undo";

/** Arguments of each verb as they are written. */
const VERBS: Readonly<Record<Verb, string>> = {
	show: "",
	read: "RANGE",
	add: "START END",
	update: "RANGE",
	remove: "RANGE",
	undo: "",
};

export function addPlan(program: Command, shell: Shell): void {
	const command = program
		.command("plan")
		.description("Show or edit the plan: show | read d1 | add a0003 a0009 | update d1 | remove d1 | undo.")
		.argument("<session>", SESSION_ARGUMENT)
		.argument("[verb]", `one of ${Object.keys(VERBS).join(", ")}`, "show")
		.argument("[refs...]", "atom refs (a0003 a0009, or a0003..a0009) or a range id (d1)")
		.option("--summary <text>", "what replaces the range, or - to read it from stdin")
		.addOption(
			new Option("--summary-file <file>", "read the summary from a file, or from stdin with -").conflicts("summary"),
		)
		.option("--topic <text>", "a few words that name the range")
		.option("--losses", "show with every range what its summary leaves out")
		.addHelpText(
			"after",
			`
Examples:
  midcompact plan session.jsonl
  midcompact plan session.jsonl add a0003 a0009 --topic "First look" --summary-file summary.md
  midcompact plan session.jsonl update d1 --summary "Shorter."
  midcompact plan session.jsonl undo`,
		);
	sessionOptions(command).action(async (session: string, verb: string, refs: string[], options: PlanOptions) => {
		if (!isVerb(verb) && isVerb(session))
			return command.error(`error: the session comes first: plan SESSION ${session}`);
		if (!isVerb(verb)) return command.error(`error: plan has no verb '${verb}'; use ${Object.keys(VERBS).join(", ")}`);
		const named = refsOf(verb, refs);
		if (!named) return command.error(`error: write it as: plan SESSION ${`${verb} ${VERBS[verb]}`.trim()}`);
		const edits = verb === "add" || verb === "update";
		const { summary: given, summaryFile, topic } = options;
		if (!edits && (given ?? summaryFile ?? topic) !== undefined)
			return command.error(`error: plan ${verb} takes no summary and no topic`);
		if (verb === "update" && (given ?? summaryFile ?? topic) === undefined)
			return command.error("error: nothing to update: give --summary, --summary-file or --topic");
		if (verb === "undo") return undo(shell, session, options);
		if (verb === "show" && options.losses) return showLosses(shell, session, options);
		const summary = await summaryOf(shell, options);
		if (summary === UNREADABLE) return undefined;
		const request = { action: `plan_${verb}`, ...named, summary, topic: options.topic };
		return askSession(shell, session, options, { request, words: cliWords(), countUpTo: SMALL_SESSION });
	});
}

function isVerb(word: string): word is Verb {
	return Object.hasOwn(VERBS, word);
}

/** The refs as fields of the request; null when there are too many or too few. */
function refsOf(verb: Verb, refs: readonly string[]): object | null {
	if (VERBS[verb] === "") return refs.length === 0 ? {} : null;
	if (verb !== "add") return refs.length === 1 ? { range_id: refs[0] } : null;
	const span = refs.length === 1 ? parseSpan(refs[0]) : null;
	if (span) return { start: span.start, end: span.end };
	return refs.length === 2 ? { start: refs[0], end: refs[1] } : null;
}

const UNREADABLE = Symbol("unreadable");

async function summaryOf(shell: Shell, options: PlanOptions): Promise<string | undefined | typeof UNREADABLE> {
	const { summary } = options;
	const file = summary === "-" ? "-" : options.summaryFile;
	if (file === undefined) return summary;
	try {
		if (file === "-") return await shell.readStdin();
		return await readFile(file, "utf8");
	} catch (cause) {
		const error =
			cause instanceof MidcompactError
				? cause
				: new MidcompactError(
						"unreadable",
						`The summary file ${file} cannot be read.`,
						"Check the path, or write - for stdin.",
						cause,
					);
		shell.fail(asMidcompactError(error), options.json ?? false);
		return UNREADABLE;
	}
}

function undo(shell: Shell, name: string, options: PlanOptions): Promise<void> {
	const takeBack = async (session: Session) => {
		const transaction = await planningOf(session).undo();
		const { totals } = (await PlanFigures.of(session.survey, transaction)).facts;
		const { text, data } = statusAnswer({ transaction, totals }, cliWords());
		shell.answer("plan_undo", { text: `Took the last change back.\n${text}`, data }, options.json ?? false);
	};
	return withSession(shell, name, options, takeBack, SMALL_SESSION);
}

/** The plan, and behind it what each summary leaves out. */
function showLosses(shell: Shell, name: string, options: PlanOptions): Promise<void> {
	const show = async ({ survey }: Session) => {
		const reply = await handleRequest(survey, { request: { action: "plan_show" } }, cliWords());
		const transaction = (await survey.desk?.current()) ?? null;
		if (!reply.ok || !transaction) return shell.printReply(reply, options.json ?? false);
		const losses: Record<string, LossReport | null> = {};
		const lines: string[] = [];
		for (const range of transaction.plan.ranges) {
			const found = range.summary === "" ? null : await survey.losses(range, transaction.plan);
			losses[range.id] = found && boundedLosses(found);
			lines.push("", `${range.id} ${spanText(survey.atoms, range)}`, ...(found ? lossLines(found) : ["   <pending>"]));
		}
		const text = [reply.text, ...lines].join("\n");
		if (options.json) shell.printAnswer("plan_show", text, { ...reply.data, losses });
		else shell.print(safe(text));
	};
	return withSession(shell, name, options, show, SMALL_SESSION);
}
