/** `midcompact sessions`: what lies in the known agents' folders. */
import { type Command, Option } from "commander";
import { bytesText, plural } from "../../../facade/text.js";
import { FORMATS, type FormatName } from "../../../session/record.js";
import { agentFolders, type FoundSession, findSessions } from "../agent-folders.js";
import { limit, type OutputOptions, outputOptions } from "../options.js";
import type { Shell } from "../shell.js";
import { type Paint, padEnd, padStart, painter, safe, widthOf } from "../terminal.js";

interface ListOptions extends OutputOptions {
	limit: number;
	format?: FormatName;
}

export function addSessions(program: Command, shell: Shell): void {
	const command = program
		.command("sessions")
		.description("List the sessions in the known agents' folders, newest first.")
		.option("--limit <n>", "sessions to show", limit, 20)
		.addOption(new Option("--format <name>", "only sessions of this format").choices(FORMATS))
		.addHelpText(
			"after",
			"\nFolders: ~/.claude, ~/.codex, ~/.pi/agent, or what CLAUDE_CONFIG_DIR, CODEX_HOME,\nPI_CODING_AGENT_DIR and PI_CODING_AGENT_SESSION_DIR name.",
		);
	outputOptions(command).action(async (options: ListOptions) => {
		const folders = agentFolders().filter(({ format }) => format === (options.format ?? format));
		const all = await findSessions(folders);
		const listed = all.slice(0, options.limit);
		const nothing =
			listed.length > 0 || folders.length > 0
				? `no sessions found in ${folders.map(({ root }) => root).join(", ")}`
				: `no sessions found: ${options.format} has no folder of its own`;
		const text = (paint: Paint) => (listed.length > 0 ? table(listed, all.length, paint) : nothing);
		if (options.json) {
			const data = { total: all.length, returned: listed.length, sessions: listed.map(asData) };
			shell.printAnswer("sessions", text(painter(false)), data);
		} else if (listed.length > 0) shell.print(text(shell.paint(options.color)));
		else shell.printError(`${nothing}\n`);
	});
}

function asData({ id, format, size, modified, path }: FoundSession) {
	return { id, format, size, modified: new Date(modified).toISOString(), path };
}

function table(sessions: readonly FoundSession[], total: number, paint: Paint): string {
	const rows = sessions.map((session) => [
		safe(session.id),
		session.format,
		bytesText(session.size),
		dateText(new Date(session.modified)),
		safe(session.path),
	]);
	const titles = ["id", "format", "size", "modified", "path"];
	const widths = titles.map((title, c) => rows.reduce((most, row) => Math.max(most, widthOf(row[c])), title.length));
	const line = (row: string[]) =>
		row.map((cell, c) => (c === 4 ? cell : c === 2 ? padStart(cell, widths[c]) : padEnd(cell, widths[c]))).join("  ");
	const left = total - sessions.length;
	const more =
		left === 0 ? [] : ["", paint("dim", `${plural(left, "older session")} not shown; --limit ${total} shows all.`)];
	return [paint("dim", line(titles)), ...rows.map(line), ...more].join("\n");
}

/** Local time to the minute. */
function dateText(date: Date): string {
	const two = (n: number) => String(n).padStart(2, "0");
	const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
	return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
