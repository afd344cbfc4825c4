/** A user's machine: a folder for sessions, a state folder and a home of its own; every command is a process of the built binary. */
import { createHash } from "node:crypto";
import { copyFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { expect } from "vitest";
import type { ErrorInfo } from "#src/errors.js";
import type { ProjectData, StatusData } from "#src/facade/transaction.js";
import type { ProjectedMessage } from "#src/plan/projected-message.js";
import { bash, cli, type Ended, folder, type RunOptions } from "./run-cli.js";

export class Machine {
	/** Where the sessions lie, and where plans and originals are kept. */
	readonly sessions: string;
	readonly state: string;
	readonly env: Record<string, string>;

	constructor() {
		const root = folder("machine");
		this.sessions = join(root, "sessions");
		this.state = join(root, "state");
		mkdirSync(this.sessions);
		mkdirSync(join(root, "home"));
		this.env = { HOME: join(root, "home"), MIDCOMPACT_STATE_DIR: this.state };
	}

	/** A path in the folder of the sessions. */
	at(name: string): string {
		return join(this.sessions, name);
	}

	/** Copies a session file there, writable. */
	copy(path: string, name = basename(path)): string {
		copyFileSync(path, this.at(name));
		return this.at(name);
	}

	write(name: string, lines: readonly (string | object)[]): string {
		const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
		writeFileSync(this.at(name), `${texts.join("\n")}\n`);
		return this.at(name);
	}

	run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
		return cli(args, { ...options, env: { ...this.env, ...options.env } });
	}

	/** A line of bash in which `$MIDCOMPACT` is the binary. */
	bash(line: string, env: Record<string, string> = {}): Promise<Ended> {
		return bash(line, { ...this.env, ...env });
	}

	/** The data of a command that must succeed. */
	async ok<D extends object>(args: readonly string[], options: RunOptions = {}): Promise<D> {
		const { code, out, err } = await this.run([...args, "--json"], options);
		expect({ code, err }, `${args.join(" ")}\n${out}`).toEqual({ code: 0, err: "" });
		const reply = JSON.parse(out);
		expect(reply).toMatchObject({ ok: true, action: expect.any(String), text: expect.stringMatching(/\S/) });
		return reply.data;
	}

	/** The error of a command that must be refused. */
	async refused(args: readonly string[], options: RunOptions = {}): Promise<ErrorInfo> {
		const { code, out, err } = await this.run([...args, "--json"], options);
		expect({ code, err }, `${args.join(" ")}\n${out}`).toEqual({ code: 1, err: "" });
		const reply = JSON.parse(out);
		expect(reply).toEqual({
			ok: false,
			error: { code: expect.any(String), message: expect.stringMatching(/\S/), hint: expect.stringMatching(/\S/) },
			text: expect.stringContaining(reply.error.message),
		});
		return reply.error;
	}

	/** The digest of the plan as it is now. */
	async digest(session: string, ...options: string[]): Promise<string> {
		const { digest } = await this.ok<StatusData>(["status", session, ...options]);
		return digest ?? "";
	}

	/** The projected messages, by way of a file. */
	async projected(session: string, name: string): Promise<{ messages: ProjectedMessage[]; data: ProjectData }> {
		const data = await this.ok<ProjectData>(["project", session, "--out", this.at(name)]);
		const lines = readFileSync(this.at(name), "utf8").trimEnd().split("\n");
		return { messages: lines.map((line) => JSON.parse(line) as ProjectedMessage), data };
	}

	/** Every file of the sessions and of the state, by its content; the state's empty claims of block numbers left out: a refused commit may use numbers up. */
	snapshot(): Record<string, string> {
		const found: Record<string, string> = {};
		for (const root of [this.sessions, this.state]) walk(root, root, found);
		return found;
	}
}

function walk(root: string, path: string, found: Record<string, string>): void {
	const entry = lstatSync(path, { throwIfNoEntry: false });
	if (!entry || path.endsWith(".claimed")) return;
	const name = join(basename(root), relative(root, path));
	if (!entry.isDirectory()) {
		found[name] = entry.isFile() ? sha256(path) : "special";
		return;
	}
	for (const child of readdirSync(path)) walk(root, join(path, child), found);
}

export function sha256(path: string): string {
	return createHash("sha256").update(readFileSync(path)).digest("hex");
}
