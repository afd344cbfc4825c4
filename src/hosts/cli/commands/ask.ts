/** The commands that put one request to the facade and print its reply: measure, find, show, request. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { SOURCES } from "../../../atoms/table.js";
import { asMidcompactError, MidcompactError } from "../../../errors.js";
import { askSession, SMALL_SESSION, withSession } from "../open.js";
import { integer, SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import type { Shell } from "../shell.js";
import { cliWords, parseSpan, type Span } from "../words.js";

export function addMeasure(program: Command, shell: Shell): void {
	const command = program
		.command("measure")
		.description("Measure ranges of atoms: size, share, tokens, calls by tool, what is protected.")
		.argument("<session>", SESSION_ARGUMENT)
		.argument("<range...>", "ranges such as a0001..a0010, or single atoms", spans)
		.addHelpText("after", "\nExample:\n  midcompact measure session.jsonl a0001..a0010 a0020..a0031");
	sessionOptions(command).action((session: string, ranges: Span[], options: SessionOptions) => {
		const candidates = ranges.map(({ start, end }) => ({ start, end }));
		return askSession(shell, session, options, {
			request: { action: "measure", candidates },
			words: cliWords(ranges),
			countUpTo: SMALL_SESSION,
		});
	});
}

interface FindOptions extends SessionOptions {
	tool?: string;
	source?: string;
	newest?: boolean;
	limit?: number;
}

export function addFind(program: Command, shell: Shell): void {
	const command = program
		.command("find")
		.description("Find atoms by text, tool or source; all filters that are given must hold.")
		.argument("<session>", SESSION_ARGUMENT)
		.argument("[pattern]", "literal text, in any case")
		.option("--tool <name>", "only atoms that call this tool")
		.addOption(new Option("--source <source>", "only atoms that hold this").choices(SOURCES))
		.option("--newest", "from the end of the session backwards")
		.option("--limit <n>", "matches to show, 1-3", integer)
		.addHelpText("after", '\nExample:\n  midcompact find session.jsonl "connection refused" --tool bash --newest');
	sessionOptions(command).action((session: string, pattern: string | undefined, options: FindOptions) => {
		const { tool, source, newest, limit } = options;
		if (pattern === undefined && tool === undefined && source === undefined) {
			command.error("error: nothing to find: give a PATTERN, --tool or --source");
		}
		const direction = newest ? "newest" : undefined;
		return askSession(shell, session, options, {
			request: { action: "locate_search", pattern, tool_name: tool, source, direction, limit },
			words: cliWords(),
		});
	});
}

export function addShow(program: Command, shell: Shell): void {
	const command = program
		.command("show")
		.description("Show one atom: place, kind, protection, size and text.")
		.argument("<session>", SESSION_ARGUMENT)
		.argument("<ref>", "atom ref such as a0007")
		.option("--full", "as much of the text as a reply holds")
		.addHelpText("after", "\nExample:\n  midcompact show session.jsonl a0007 --full");
	sessionOptions(command).action((session: string, ref: string, options: SessionOptions & { full?: boolean }) =>
		askSession(shell, session, options, {
			request: { action: "locate_ref", ref, detail: options.full ? "full" : "brief" },
			words: cliWords(),
			countUpTo: SMALL_SESSION,
		}),
	);
}

export function addRequest(program: Command, shell: Shell): void {
	const command = program
		.command("request")
		.description("Put a raw request to the facade; the reply is always JSON.")
		.argument("<session>", SESSION_ARGUMENT)
		.argument("<json>", "the envelope, or - to read it from stdin")
		.addHelpText(
			"after",
			`\nExample:\n  midcompact request session.jsonl '{"request":{"action":"inspect","page_size":5}}'`,
		);
	sessionOptions(command).action(async (session: string, json: string, options: SessionOptions) => {
		const envelope = await readEnvelope(shell, json);
		if (envelope === UNREADABLE) return;
		await withSession(shell, session, { ...options, json: true }, async (open) => {
			shell.printReply(await open.request(envelope), true);
		});
	});
}

const UNREADABLE = Symbol("unreadable");

/** The envelope that was given or stands on stdin; what is no JSON is told before a session is opened. */
async function readEnvelope(shell: Shell, json: string): Promise<unknown> {
	try {
		return parsed(json === "-" ? await shell.readStdin() : json);
	} catch (thrown) {
		shell.fail(asMidcompactError(thrown), true);
		return UNREADABLE;
	}
}

/** Some shells put a byte order mark before what they pipe. */
function parsed(json: string): unknown {
	try {
		return JSON.parse(json.replace(/^\ufeff/, ""));
	} catch {
		throw new MidcompactError("invalid_request", "The request is not valid JSON.");
	}
}

function spans(value: string, before: Span[] = []): Span[] {
	const span = parseSpan(value);
	if (!span) throw new InvalidArgumentError("Write a range as a0001..a0010, or a single atom as a0001.");
	return [...before, span];
}
