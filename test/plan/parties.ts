/** Other processes, for what happens between processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

const SCRIPT = fileURLToPath(new URL("party.mjs", import.meta.url));
const running = new Set<ChildProcess>();
afterEach(() => {
	for (const child of running) child.kill("SIGKILL");
});

export interface Party {
	pid: number;
	/** All lines so far. */
	lines: string[];
	/** Resolves when the process has said the line, rejects when it ends without. */
	said(line: string): Promise<void>;
	/** Tells a waiting process to go on. */
	goOn(): void;
	signal(name: NodeJS.Signals): void;
	/** Exit code, null after a signal; and what it wrote to stderr. */
	ended: Promise<{ code: number | null; err: string }>;
}

/** Starts `party.mjs` with a deed and its arguments. */
export function party(...args: string[]): Party {
	const child = spawn(process.execPath, [SCRIPT, ...args]);
	running.add(child);
	const lines: string[] = [];
	const output = createInterface({ input: child.stdout });
	let err = "";
	child.stderr.on("data", (chunk: Buffer) => {
		err += chunk.toString("utf8");
	});
	const ended = once(child, "close").then(([code]: (number | null)[]) => {
		running.delete(child);
		return { code, err };
	});
	output.on("line", (line) => lines.push(line));
	return {
		pid: child.pid ?? 0,
		lines,
		ended,
		said: (line) =>
			new Promise((resolve, reject) => {
				if (lines.includes(line)) resolve();
				output.on("line", (next) => next === line && resolve());
				ended.then(() => reject(new Error(`It ended and never said "${line}": ${err}`)));
			}),
		goOn: () => void child.stdin.write("go on\n"),
		signal: (name) => void child.kill(name),
	};
}
