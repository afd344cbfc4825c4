/** Drives `pi --mode rpc`: JSON lines on stdin and stdout, split at LF alone. */
import { spawn } from "node:child_process";

/** Any reply or event of Pi; what a test reads of it is named here. */
export interface RpcRecord {
	type: string;
	id?: string;
	success?: boolean;
	error?: string;
	data?: {
		disposition?: string;
		sessionFile?: string;
		contextUsage?: { tokens: number | null };
		messages?: unknown[];
	};
}

export interface Pi {
	/** Sends a command; resolves with its response. Rejects after 30 s, or when Pi answers that it failed. */
	command(type: string, fields?: object): Promise<RpcRecord>;
	/** Sends a prompt or slash command and waits until the agent has settled. */
	prompt(message: string): Promise<void>;
	/** Starts a prompt; `settled` resolves when the agent has done all that was queued. */
	start(message: string): Promise<{ settled: Promise<void> }>;
	/** Closes stdin; resolves with the exit code. */
	close(): Promise<number | null>;
	kill(): void;
}

const PATIENCE_MS = 30_000;

export function startPi(
	node: string,
	cli: string,
	options: { cwd: string; env: NodeJS.ProcessEnv; args: string[] },
): Pi {
	const { cwd, env, args } = options;
	const child = spawn(node, [cli, "--mode", "rpc", ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
	const listeners = new Set<(record: RpcRecord) => void>();
	let stderr = "";
	let rest = "";
	let sent = 0;
	child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
		stderr += chunk;
	});
	child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) {
			if (line.trim() === "") continue;
			const record = JSON.parse(line) as RpcRecord;
			for (const listener of [...listeners]) listener(record);
		}
	});
	const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));

	const next = (what: string, matches: (record: RpcRecord) => boolean) =>
		new Promise<RpcRecord>((resolve, reject) => {
			const end = () => {
				listeners.delete(listener);
				clearTimeout(timer);
			};
			const fail = (why: string) => {
				end();
				reject(new Error(`${what}: ${why}; stderr: ${stderr}`));
			};
			const listener = (record: RpcRecord) => {
				if (!matches(record)) return;
				end();
				resolve(record);
			};
			const timer = setTimeout(() => fail("no answer in time"), PATIENCE_MS);
			listeners.add(listener);
			void exited.then((code) => fail(`Pi ended with code ${code}`));
		});

	const command: Pi["command"] = async (type, fields = {}) => {
		const id = `c${++sent}`;
		const response = next(type, (record) => record.type === "response" && record.id === id);
		child.stdin.write(`${JSON.stringify({ id, type, ...fields })}\n`);
		const answer = await response;
		if (answer.success !== true) throw new Error(`${type}: ${answer.error}`);
		return answer;
	};
	const start: Pi["start"] = async (message) => {
		const settled = next("agent_settled", (record) => record.type === "agent_settled");
		settled.catch(() => {});
		const { data } = await command("prompt", { message });
		return { settled: data?.disposition === "handled" ? Promise.resolve() : settled.then(() => {}) };
	};
	return {
		command,
		start,
		prompt: async (message) => (await start(message)).settled,
		close: () => {
			child.stdin.end();
			return exited;
		},
		kill: () => void child.kill("SIGKILL"),
	};
}
