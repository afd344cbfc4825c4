/** The real Codex in a world of its own: a fresh home, a configuration that names only the scripted server, no inherited environment. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "#src/session/record.js";
import { type Reply, type RequestBody, type ScriptedServer, startServer } from "./server.js";

const FLAGS = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
const TIMEOUT_MS = 60_000;

export interface Ran {
	code: number | null;
	stderr: string;
	/** Id that Codex itself reports: a resume of an unknown name starts a new thread and exits 0. */
	thread: string;
	requests: RequestBody[];
}

export class CodexHost {
	readonly server: ScriptedServer;
	readonly #bin: string;
	readonly #root: string;

	private constructor(bin: string, server: ScriptedServer) {
		this.#bin = bin;
		this.server = server;
		this.#root = realpathSync(mkdtempSync(join(tmpdir(), "midcompact-codex-")));
		for (const name of ["home", "config", "project", "tmp"]) mkdirSync(join(this.#root, name));
		writeFileSync(join(this.#root, "config", "config.toml"), configuration(server.baseUrl));
	}

	static async start(bin: string): Promise<CodexHost> {
		return new CodexHost(bin, await startServer());
	}

	/** A new session of one turn. */
	exec(prompt: string, replies: Reply[], options: string[] = []): Promise<Ran> {
		return this.#run(["exec", ...options, ...FLAGS, prompt], replies);
	}

	resume(id: string, prompt: string, replies: Reply[], options: string[] = []): Promise<Ran> {
		return this.#run(["exec", ...options, "resume", ...FLAGS, id, prompt], replies);
	}

	/** Codex's own fork: a child file that goes on where the parent's bytes end. */
	fork(id: string, prompt: string, replies: Reply[]): Promise<Ran> {
		return this.#run(["exec", "fork", ...FLAGS, id, prompt], replies);
	}

	/** The rollout of a thread. */
	rollout(id: string): string {
		const found = filesUnder(join(this.#root, "config", "sessions")).find((f) => f.endsWith(`-${id}.jsonl`));
		if (!found) throw new Error(`no rollout of ${id}`);
		return found;
	}

	/** Puts a file where Codex finds it by its id. */
	place(id: string, text: string): void {
		const folder = join(this.#root, "config", "sessions", "2026", "01", "02");
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, `rollout-2026-01-02T03-04-05-${id}.jsonl`), text);
	}

	async stop(): Promise<void> {
		await this.server.close();
		rmSync(this.#root, { recursive: true, force: true });
	}

	#run(args: string[], replies: Reply[]): Promise<Ran> {
		this.server.script(replies);
		const from = this.server.requests.length;
		const child = spawn(this.#bin, args, {
			cwd: join(this.#root, "project"),
			env: this.#environment(),
			stdio: ["ignore", "pipe", "pipe"],
		});
		let stdout = "";
		let stderr = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			stdout += text;
		});
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			stderr += text;
		});
		const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
		return new Promise((done, fail) => {
			child.on("error", fail);
			child.on("close", (code) => {
				clearTimeout(timer);
				const thread = /"thread_id":"([^"]+)"/.exec(stdout)?.[1] ?? "";
				done({ code, stderr, thread, requests: this.server.requests.slice(from) });
			});
		});
	}

	/** Nothing is inherited; a proxy that is not there stops whatever would leave the machine. */
	#environment(): Record<string, string> {
		const nowhere = "http://127.0.0.1:9";
		return {
			PATH: "/usr/bin:/bin",
			HOME: join(this.#root, "home"),
			CODEX_HOME: join(this.#root, "config"),
			TMPDIR: join(this.#root, "tmp"),
			TERM: "xterm-256color",
			LANG: "C.UTF-8",
			FAKE_KEY: "dummy",
			HTTP_PROXY: nowhere,
			HTTPS_PROXY: nowhere,
			ALL_PROXY: nowhere,
			NO_PROXY: "127.0.0.1",
		};
	}
}

function configuration(baseUrl: string): string {
	return `model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false
[model_providers.fake]
name = "fake"
base_url = "${baseUrl}"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
}

function filesUnder(folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		return entry.isDirectory() ? filesUnder(path) : [path];
	});
}

/** The lines of a rollout, as Codex wrote them. */
export function recordsOf(path: string): JsonObject[] {
	return readFileSync(path, "utf8")
		.split("\n")
		.filter((text) => text !== "")
		.map((text) => JSON.parse(text) as JsonObject);
}

/** The record in a range of bytes of a file. */
export function recordAt(path: string, start: number, end: number): JsonObject {
	return JSON.parse(readFileSync(path).toString("utf8", start, end)) as JsonObject;
}
