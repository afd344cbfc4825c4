/** `midcompact inspect`: where the space of a session goes, as a table. */
import { type Command, Option } from "commander";
import type { Session } from "../../../engine/session.js";
import { clamp } from "../../../facade/action.js";
import { type GroupFigures, listParts } from "../../../facade/group-figures.js";
import { type InspectData, PAGE_SIZE } from "../../../facade/inspect.js";
import { Sums } from "../../../facade/sums.js";
import { inspectTable } from "../inspect-table.js";
import { dataOf, SMALL_SESSION, withSession } from "../open.js";
import { integer, SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import { PIPE_COLUMNS, type Shell } from "../shell.js";

interface InspectOptions extends SessionOptions {
	pageSize?: number;
	cursor?: string;
	sort: "time" | "size";
	all?: boolean;
}

export function addInspect(program: Command, shell: Shell): void {
	const command = program
		.command("inspect")
		.description("Show where the space of a session goes.")
		.argument("<session>", SESSION_ARGUMENT)
		.option("--page-size <n>", "groups to show, 1-50 (default: 20)", integer)
		.addOption(new Option("--cursor <cursor>", "show the page that a former reply named").conflicts(["all"]))
		.addOption(new Option("--sort <order>", "time, or size: biggest first").choices(["time", "size"]).default("time"))
		.option("--all", "show all groups at once")
		.addHelpText(
			"after",
			"\nExamples:\n  midcompact inspect session.jsonl --sort size --wait\n  midcompact inspect 4d5611e5 --json | jq .data.totals",
		);
	sessionOptions(command).action(async (session: string, options: InspectOptions) => {
		if (options.sort === "size" && options.cursor !== undefined) {
			command.error("error: option '--cursor <cursor>' cannot be used with option '--sort size'");
		}
		await withSession(shell, session, options, (open) => show(shell, session, open, options), SMALL_SESSION);
	});
}

async function show(shell: Shell, name: string, session: Session, options: InspectOptions): Promise<void> {
	const { json = false, cursor, sort, all = false } = options;
	const reply = await session.request({ request: { action: "inspect", page_size: options.pageSize, cursor } });
	const data = dataOf<InspectData>(shell, reply, json);
	if (!data || shell.interrupted) return;
	const { parts } = session.survey.groups;
	const whole = all || sort === "size";
	const groups = whole
		? await chosenGroups(session, sort, all ? parts.length : clamp(options.pageSize, PAGE_SIZE))
		: data.groups;
	const shown = { ...data, groups, cursor: whole ? null : data.cursor };
	if (json && !whole) return shell.printJson(reply);
	const { terminal, columns } = json ? { terminal: false, columns: PIPE_COLUMNS } : shell;
	const paint = shell.paint(!json && options.color);
	const path = session.survey.path;
	const table = inspectTable(shown, {
		name,
		options: repeated(options),
		path,
		parts: parts.length,
		sort,
		columns,
		terminal,
		paint,
	});
	if (json) shell.printAnswer("inspect", table, shown);
	else shell.print(table);
}

/** The options by which the next page is one of the same survey. */
function repeated({ format, scope, leaf, encoding, pageSize }: InspectOptions): string[] {
	const given = {
		"--format": format,
		"--scope": scope,
		"--leaf": leaf,
		"--encoding": encoding,
		"--page-size": pageSize,
	};
	return Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option, String(value)]));
}

async function chosenGroups({ survey }: Session, sort: "time" | "size", limit: number): Promise<GroupFigures[]> {
	return listParts(survey, await Sums.of(survey), sort, limit);
}
