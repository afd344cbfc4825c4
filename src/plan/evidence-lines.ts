/** Commands and error texts: what a whole line says. */
import { isObject, type JsonValue } from "../session/record.js";

/** UTF-16 units of a command or an error text that are kept. */
export const LINE_MAX = 200;
/** Units of a line that are looked at for an error. */
const LOOKED_AT = 2_000;
/** Characters of a script that are looked at for commands. */
const SCRIPT_MAX = 20_000;

const SHELL =
	/^(?:bash|shell|sh|zsh|powershell|pwsh|cmd|terminal|exec|exec_command|unified_exec|local_shell(?:_call)?|container\.exec|shell_command|(?:run|execute)_?(?:command|shell_command|terminal_cmd|in_terminal))$/i;
const COMMAND_FIELDS = ["command", "cmd", "script", "commands"];
/** Commands that only look around: nobody misses them in a summary. */
const LOOKS = new Set(
	": [ [[ awk basename cat cd clear cut date dir dirname do done echo else esac export false fi file find for grep head if less ls mkdir more popd printf pushd pwd rg sed set sleep sort stat tail then tree true type uniq wait wc where whereis which while".split(
		" ",
	),
);
/** Programs by which code in a sentence is known to be a command. */
const PROGRAMS =
	/^(?:\.{0,2}\/?[\w./-]{1,60}\.sh|npm|npx|pnpm|yarn|bun|bunx|deno|node|tsc|vitest|jest|git|gh|python3?|pip3?|uv|uvx|poetry|pytest|tox|ruff|mypy|cargo|rustc|go|make|cmake|ninja|bazel|gradle|\.\/gradlew|mvn|dotnet|docker|docker-compose|podman|kubectl|helm|terraform|ansible|aws|gcloud|az|curl|wget|ssh|scp|rsync|brew|apt|apt-get|systemctl|psql|mysql|sqlite3|redis-cli|rails|bundle|rake|composer|php|swift|xcodebuild|flutter)(?: |$)/;
const CODE = /`([^`\n]{3,200})`/g;

const ANY_ERROR = /error|exception|fatal|panic|fail|denied|not found|no such|cannot|fault|ERR!|[✗✘×]|E[A-Z]{4}/i;
const ERRORS: readonly RegExp[] = [
	/\b(?:[A-Z]\w{0,60})?(?:Error|Exception|Panic)(?: \[[A-Z_]{2,40}\])?: ?\S/,
	/\berror(?: TS\d{1,6}|\[E\d{1,6}\]): ?\S/,
	/\bE[A-Z]{4,14}: \S/,
	/^\s{0,8}(?:npm ERR! \S|\[?(?:error|fatal|panic|fail(?:ed|ure)?|exception|unhandled)\]?(?:[:\]]| - ) ?\S|(?:FAIL|ERROR|FATAL|✗|✘|×) +\S|thread '[^'\n]{1,80}' panicked)/i,
	/\b(?:segmentation fault|command not found|no such file or directory|permission denied|connection refused|out of memory|cannot find module|is not recognized)\b/i,
];
/** Code that speaks of errors. */
const IS_CODE = /\b(?:throw|catch|class|extends|instanceof|import|raise|except|new)\b[^\n]{0,40}$|["'`(=]\s{0,2}$/;
const COLOURS = /\p{Cc}\[[\d;]{0,12}m/gu;

/** Whether a call of this tool runs commands in a shell. */
export function isShell(tool: string): boolean {
	return SHELL.test(tool);
}

/** The script in the arguments of a shell's call: its parsed JSON, or the text itself; null when there is none. */
export function scriptIn(value: JsonValue): string | null {
	if (typeof value === "string") return value;
	if (Array.isArray(value)) return scriptOf(value);
	if (!isObject(value)) return null;
	for (const field of COMMAND_FIELDS) {
		const given = value[field];
		if (typeof given === "string") return given;
		if (Array.isArray(given)) return scriptOf(given);
	}
	return isObject(value.action) ? scriptIn(value.action) : null;
}

/** Of `["bash", "-lc", "npm test"]` the script, of any other list its words. */
function scriptOf(words: readonly JsonValue[]): string | null {
	const texts = words.filter((word) => typeof word === "string");
	if (texts.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(texts[0]) && /^-\w{0,3}c$/.test(texts[1])) return texts[2];
	return texts.length > 0 ? texts.slice(0, 1_000).join(" ") : null;
}

/** The commands of a script, one item each: without what only looks around, without redirections and what output is piped into. */
export function commandsIn(script: string, visit: (item: string) => void): void {
	const text = script.length > SCRIPT_MAX ? script.slice(0, SCRIPT_MAX) : script;
	let quote = "";
	let start = 0;
	let piped = false;
	const end = (at: number) => {
		const command = commandOf(text.slice(start, at));
		if (command !== null && !piped) visit(command);
	};
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (quote !== "") {
			if (character === "\\" && quote === '"') at++;
			else if (character === quote) quote = "";
		} else if (character === "\\") at++;
		else if (character === '"' || character === "'") quote = character;
		else if (character === "<" && text.startsWith("<<", at) && text[at + 2] !== "<") {
			end(at);
			return;
		} else if (
			character === "\n" ||
			character === ";" ||
			character === "|" ||
			(character === "&" && text[at - 1] !== ">")
		) {
			end(at);
			const doubled = text[at + 1] === character;
			piped = character === "|" && !doubled;
			if (doubled) at++;
			start = at + 1;
		}
	}
	end(text.length);
}

/** Commands that stand as code in a sentence, or behind a prompt. */
export function quotedCommands(text: string, visit: (item: string) => void): void {
	if (!text.includes("`")) return;
	for (const [, code] of text.matchAll(CODE)) if (PROGRAMS.test(code) && code.includes(" ")) commandsIn(code, visit);
}

/** Error texts, each from where the error begins to the end of its line. */
export function errorsIn(text: string, visit: (item: string) => void): void {
	if (!ANY_ERROR.test(text)) return;
	for (let start = 0; start < text.length; ) {
		const newline = text.indexOf("\n", start);
		const end = newline < 0 ? text.length : newline;
		const line = text.slice(start, Math.min(end, start + LOOKED_AT));
		if (end - start > 8 && ANY_ERROR.test(line)) {
			const error = errorOf(line);
			if (error !== null) visit(error);
		}
		start = end + 1;
	}
}

function errorOf(line: string): string | null {
	const plain = line.replace(COLOURS, "");
	for (const pattern of ERRORS) {
		const found = pattern.exec(plain);
		if (!found) continue;
		const wide = pattern === ERRORS[ERRORS.length - 1];
		if (!wide && IS_CODE.test(plain.slice(0, found.index))) return null;
		const error = tidy(plain.slice(wide ? 0 : found.index));
		return error.length >= 8 ? error : null;
	}
	return null;
}

function commandOf(text: string): string | null {
	const command = tidy(
		text
			.trimStart()
			.replace(/\n[\s\S]*$|["']?\$\(cat <<[\s\S]*$/, "")
			.replace(/\s(?:\d|&)?>{1,2}\s?(?:&\d|[\w./$-]{1,200})/g, " ")
			.replace(/^[\s$({!]{0,20}/, "")
			.replace(/^(?:(?:[A-Za-z_]\w{0,40}=[^\s"']{0,100}|sudo|time|env|then|do|else)\s+){1,8}/, ""),
	);
	const [program] = command.split(" ", 1);
	return command.length >= 3 && /^[\w./~@$-]+$/.test(program) && !LOOKS.has(program) && !/^\w+=/.test(command)
		? command
		: null;
}

/** On one line and bounded. */
function tidy(text: string): string {
	const line = text.slice(0, LOOKED_AT).replace(/\s+/g, " ").trim();
	return line.length > LINE_MAX ? line.slice(0, cut(line)).trimEnd() : line;
}

/** A cut that leaves no half of a surrogate pair. */
function cut(line: string): number {
	return (line.charCodeAt(LINE_MAX - 1) & 0xfc00) === 0xd800 ? LINE_MAX - 1 : LINE_MAX;
}
