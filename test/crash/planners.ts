/** Processes that plan on a session file, what they said they did, and what their journal must therefore hold. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect } from "vitest";
import { digestOf, PlanHistory } from "#src/plan/plan.js";
import type { JournalEntry } from "#src/plan/store.js";

const SCRIPT = fileURLToPath(new URL("planner.mjs", import.meta.url));
const running = new Set<ChildProcess>();
afterEach(() => {
	for (const child of running) child.kill("SIGKILL");
});

export interface Edit {
	transaction: string;
	revision: number;
	digest: string;
	kind: "add" | "update" | "remove" | "undo";
	summary?: string;
	range_id?: string;
}

export type Line =
	| { doing: "start" | "edit" | "commit" }
	| { done: "start"; transaction: string }
	| ({ done: "edit" } & Edit)
	| { done: "commit"; path: string; blocks: string[] }
	| { done: "nothing" }
	| { refused: "locked" };

export interface Planner {
	/** All lines so far. */
	lines: Line[];
	/** Resolves with the next line that passes, rejects when the process ends without. */
	next(passes: (line: Line) => boolean): Promise<Line>;
	kill(): void;
	/** Exit code or signal, and what it wrote to stderr. */
	ended: Promise<{ code: number | null; signal: string | null; err: string }>;
}

export function planner(deed: "edit" | "commit" | "share", ...args: readonly string[]): Planner {
	const child = spawn(process.execPath, [SCRIPT, deed, ...args], { stdio: ["ignore", "pipe", "pipe"] });
	running.add(child);
	const lines: Line[] = [];
	const waiting = new Set<(line: Line) => void>();
	let err = "";
	child.stderr.on("data", (chunk: Buffer) => {
		err += chunk.toString("utf8");
	});
	createInterface({ input: child.stdout }).on("line", (text) => {
		const line = JSON.parse(text) as Line;
		lines.push(line);
		for (const look of [...waiting]) look(line);
	});
	const ended = once(child, "close").then(() => {
		running.delete(child);
		return { code: child.exitCode, signal: child.signalCode, err };
	});
	const next = (passes: (line: Line) => boolean) =>
		new Promise<Line>((resolve, reject) => {
			const look = (line: Line) => {
				if (!passes(line)) return;
				waiting.delete(look);
				resolve(line);
			};
			waiting.add(look);
			ended.then(({ code, signal, err }) =>
				reject(new Error(`It ended (${signal ?? code}) before it said so: ${err}`)),
			);
		});
	return { lines, next, kill: () => void child.kill("SIGKILL"), ended };
}

/** A number from 0 up to 1; the same one for the same seed and place. */
export function randomOf(seed: string, place: number): number {
	return createHash("sha256").update(`${seed}/${place}`).digest().readUInt32BE() / 2 ** 32;
}

/** The session that is planned on: 40 questions, each with an exchange and an answer. */
export function sessionText(id: string): string {
	const lines: object[] = [];
	let parentUuid: string | null = null;
	const add = (type: string, message: object) => {
		const n = lines.length;
		const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
		const timestamp = new Date(Date.UTC(2026, 0, 1, 9, 0, n)).toISOString();
		lines.push({ type, uuid, parentUuid, isSidechain: false, sessionId: id, timestamp, message });
		parentUuid = uuid;
	};
	const answer = (n: string, block: object) =>
		add("assistant", { id: `msg_${n}`, role: "assistant", model: "m", content: [block] });
	for (let n = 0; n < 40; n++) {
		add("user", { role: "user", content: `Question ${n}: what does the file say?` });
		answer(`${n}a`, { type: "tool_use", id: `toolu_${n}`, name: "Bash", input: { command: `cat ${n}.txt` } });
		add("user", { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${n}`, content: `text ${n}` }] });
		answer(`${n}b`, { type: "text", text: `It says text ${n}.` });
	}
	return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Every journal below a state folder, parsed line by line: a line that is torn or none is thrown, but for a torn last one. */
export function journalsIn(stateDir: string): JournalEntry[][] {
	const names = readdirSync(stateDir, { recursive: true, encoding: "utf8" });
	return names
		.filter((name) => name.endsWith("journal.jsonl"))
		.map((name) => {
			const lines = readFileSync(join(stateDir, name), "utf8").split("\n");
			return lines.slice(0, -1).map((line) => JSON.parse(line) as JournalEntry);
		});
}

/** What was acknowledged must be in the journal as it was acknowledged: each change at its revision, with the plan that it led to. */
export function expectKept(journal: readonly JournalEntry[], edits: readonly Edit[]): void {
	const acknowledged = new Map(edits.map((edit) => [`${edit.transaction} ${edit.revision}`, edit]));
	expect(acknowledged.size).toBe(edits.length);
	const histories = new Map<string, { history: PlanHistory; start: Extract<JournalEntry, { type: "start" }> }>();
	for (const entry of journal) {
		if (entry.type === "start") histories.set(entry.transaction, { history: new PlanHistory(), start: entry });
		const open = histories.get(entry.transaction);
		if (entry.type !== "change" || !open) continue;
		expect(entry.revision).toBe(open.history.revision + 1);
		open.history.apply(entry.change);
		const key = `${entry.transaction} ${entry.revision}`;
		const edit = acknowledged.get(key);
		if (!edit) continue;
		acknowledged.delete(key);
		const { change } = entry;
		const summary =
			change.kind === "add" ? change.range.summary : change.kind === "update" ? change.summary : undefined;
		const digest = digestOf(open.start.anchor, open.history.plan.ranges);
		expect({ kind: change.kind, summary, digest }).toEqual({
			kind: edit.kind,
			summary: edit.summary,
			digest: edit.digest,
		});
	}
	expect([...acknowledged.keys()]).toEqual([]);
}
