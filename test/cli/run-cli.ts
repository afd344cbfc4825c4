/** Runs the built binary as a user does: its own process, with pipes. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export const BINARY = fileURLToPath(new URL("../../dist/src/hosts/cli/main.js", import.meta.url));

export interface Ended {
	code: number | null;
	out: string;
	err: string;
}

export interface RunOptions {
	stdin?: string;
	env?: Record<string, string>;
	/** Called with the child once it runs. */
	started?(child: ReturnType<typeof spawn>): void;
}

/** Runs `midcompact` with the given arguments. Its home is an empty folder unless `env` says otherwise. */
export function cli(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
	return command(process.execPath, [BINARY, ...args], options);
}

/** Runs a line of bash in which `$MIDCOMPACT` is the binary. */
export function bash(line: string, env: Record<string, string> = {}): Promise<Ended> {
	return command("bash", ["-c", line], { env: { MIDCOMPACT: `${process.execPath} ${BINARY}`, ...env } });
}

/** Runs a command on a terminal, which `script` of util-linux makes, and types an answer once `question` stands there. What both streams printed is in `out`. */
export function onTerminal(
	args: readonly string[],
	{ question, answer, env = {} }: { question: RegExp; answer: string; env?: Record<string, string> },
): Promise<Ended> {
	const words = [process.execPath, BINARY, ...args].map((word) => `'${word}'`);
	let seen = "";
	return command(SCRIPT, ["-qec", words.join(" "), "/dev/null"], {
		env: { TERM: "xterm", SHELL: "/bin/sh", ...env },
		started: ({ stdin, stdout }) =>
			stdout?.on("data", (chunk: Buffer) => {
				const asked = question.test(seen);
				seen += chunk.toString("utf8");
				if (!asked && question.test(seen)) stdin?.write(answer);
			}),
	});
}

/** `script` of util-linux gives a command a terminal. */
export const SCRIPT = "/usr/bin/script";
export const hasTerminals = process.platform === "linux" && existsSync(SCRIPT);

function command(file: string, args: readonly string[], { stdin, env = {}, started }: RunOptions): Promise<Ended> {
	return new Promise((resolve, reject) => {
		const child = spawn(file, args, { env: { PATH: process.env.PATH, HOME: folder("home"), ...env } });
		const out: Buffer[] = [];
		const err: Buffer[] = [];
		child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
		child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
		child.on("error", reject);
		child.on("close", (code) => {
			resolve({ code, out: Buffer.concat(out).toString("utf8"), err: Buffer.concat(err).toString("utf8") });
		});
		if (stdin !== undefined) child.stdin.end(stdin);
		started?.(child);
	});
}

const folders: string[] = [];
afterAll(() => {
	for (const path of folders) rmSync(path, { recursive: true, force: true });
});

/** A new empty folder, gone after the tests of the file. */
export function folder(name: string): string {
	const path = mkdtempSync(join(tmpdir(), `midcompact-${name}-`));
	folders.push(path);
	return path;
}

export function file(name: string, content: string | Buffer): string {
	const path = join(folder("session"), name);
	writeFileSync(path, content);
	return path;
}

type Content = string | { type: string; [key: string]: unknown }[];
export type Said = [role: "user" | "assistant" | "toolResult", content: Content, more?: object];

/** The lines of a Pi v3 session file. */
export function piLines(said: readonly Said[]): string[] {
	const header = {
		type: "session",
		version: 3,
		id: "0198f000-0000-7000-8000-000000000001",
		timestamp: "2026-01-02T03:04:05.000Z",
		cwd: "/w",
	};
	const entries = said.map(([role, content, more], i) => ({
		type: "message",
		id: id(i),
		parentId: i === 0 ? null : id(i - 1),
		timestamp: "2026-01-02T03:04:05.000Z",
		message: {
			role,
			content: typeof content === "string" && role !== "user" ? [{ type: "text", text: content }] : content,
			timestamp: 1,
			...more,
		},
	}));
	return [header, ...entries].map((entry) => JSON.stringify(entry));
}

const id = (i: number) => (0x10000000 + i).toString(16);

export function piFile(said: readonly Said[], name = "session.jsonl"): string {
	return file(name, `${piLines(said).join("\n")}\n`);
}

/** A call of a tool and its result. */
export function called(name: string, args: object, result: string, call = "call_1"): Said[] {
	return [
		["assistant", [{ type: "toolCall", id: call, name, arguments: args }]],
		["toolResult", [{ type: "text", text: result }], { toolCallId: call, toolName: name, isError: false }],
	];
}
