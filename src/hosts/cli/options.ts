/** Options that several commands share, and how their values are read. A value of the wrong form is a usage error. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Encoding } from "../../measure/encodings.js";
import { ENCODINGS } from "../../measure/encodings.js";
import type { Scope } from "../../session/branch.js";
import { FORMATS, type FormatName } from "../../session/record.js";

export interface OutputOptions {
	json?: boolean;
	/** False after `--no-color`. */
	color: boolean;
}

export interface SessionOptions extends OutputOptions {
	format?: FormatName;
	scope?: Scope;
	leaf?: string;
	encoding?: Encoding;
	threads?: number;
	wait?: boolean;
	/** False: the branch itself, also while a transaction is open. */
	atAnchor?: boolean;
}

/** What `<session>` takes. */
export const SESSION_ARGUMENT = "path, session id or unique prefix of one";

export function outputOptions(command: Command): Command {
	return command.option("--json", "print the reply as JSON").option("--no-color", "print without colours");
}

/** Options of every command that opens a session. */
export function sessionOptions(command: Command): Command {
	command
		.addOption(new Option("--format <name>", "read the file as this format, whatever it looks like").choices(FORMATS))
		.addOption(
			new Option("--scope <scope>", "what the agent would be sent, or every message from root to anchor").choices([
				"context",
				"path",
			]),
		)
		.option("--leaf <id>", "entry at which the branch ends")
		.addOption(new Option("--encoding <name>", "tokenizer of all token figures").choices(ENCODINGS))
		.option("--threads <n>", "worker threads at most", positiveInteger)
		.option("--wait", "answer when all tokens are counted (up to 8 MB that is done unasked wherever tokens are shown)");
	return outputOptions(command);
}

export function integer(value: string): number {
	if (!/^[+-]?\d+$/.test(value)) throw new InvalidArgumentError("It must be an integer.");
	return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, Number(value)));
}

/** How many to list: a number below 1 is taken as 1, as the facade clamps its own limits. */
export function limit(value: string): number {
	return Math.max(1, integer(value));
}

export function positiveInteger(value: string): number {
	const n = integer(value);
	if (n < 1) throw new InvalidArgumentError("It must be 1 or more.");
	return n;
}
