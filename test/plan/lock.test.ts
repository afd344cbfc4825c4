import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileLock } from "#src/plan/file-lock.js";
import { guarded } from "#src/plan/guard.js";
import { fateOf, lookWithPs, thisProcess } from "#src/plan/process-id.js";
import { scratchFolder } from "../helpers/files.js";
import { party } from "./parties.js";

const files = scratchFolder();
let made = 0;
function newFolder(): string {
	const path = join(files.path, String(++made));
	mkdirSync(path);
	return path;
}

/** A pid that was in use and is not any more. */
async function unusedPid(): Promise<number> {
	const child = party("leave", newFolder());
	await child.ended;
	return child.pid;
}

const SINCE = "2026-01-02T03:04:05.000Z";
const HOUR = 3_600_000;

async function writeLock(folder: string, content: object | string, silentFor = 0): Promise<void> {
	const whole = { owner: "agent", ...(await thisProcess()), since: SINCE, token: "somebody", ...Object(content) };
	const path = join(folder, "lock.json");
	writeFileSync(path, typeof content === "string" ? content : JSON.stringify(whole));
	const at = new Date(Date.now() - silentFor);
	utimesSync(path, at, at);
}

const locked = (...words: string[]) =>
	expect.objectContaining({ code: "locked", message: expect.stringMatching(words.join(".*")) });

describe("one change at a time", () => {
	it("loses no update of two processes, and of two objects in one process", async () => {
		const folder = newFolder();
		const file = files.write("number", "0");
		const others = [party("count", folder, file, "150"), party("count", folder, file, "150")];
		const ours = [fileLock(folder), fileLock(folder)].map(async (lock) => {
			for (let i = 0; i < 50; i++) {
				await lock.exclusively(async () => {
					const before = Number(readFileSync(file, "utf8"));
					await new Promise(setImmediate);
					writeFileSync(file, String(before + 1));
				});
			}
		});
		await Promise.all(ours);
		for (const { ended } of others) expect(await ended).toEqual({ code: 0, err: "" });
		expect(readFileSync(file, "utf8")).toBe("400");
		expect(readdirSync(folder)).toEqual([]);
	});

	it("lets two never in at once while processes are killed inside and while they wait", async () => {
		const folder = newFolder();
		const seen: string[] = [];
		let parties = [1, 2, 3].map(() => party("meet", folder));
		for (let kills = 0; kills < 12; kills++) {
			const [first, ...rest] = parties;
			const before = first.lines.length;
			await first.said("out");
			await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
			first.signal("SIGKILL");
			await first.ended;
			expect(first.lines.length).toBeGreaterThanOrEqual(before);
			seen.push(...first.lines);
			parties = [...rest, party("meet", folder)];
		}
		for (const last of parties) {
			await last.said("out");
			last.signal("SIGKILL");
			await last.ended;
			seen.push(...last.lines);
		}
		expect(new Set(seen)).toEqual(new Set(["out"]));
	});

	it("passes on what the work returns and throws, and is free afterwards", async () => {
		const folder = newFolder();
		const lock = fileLock(folder);
		const fault = new Error("no");
		await expect(lock.exclusively(() => Promise.reject(fault))).rejects.toBe(fault);
		await expect(lock.exclusively(async () => 5)).resolves.toBe(5);
		expect(readdirSync(folder)).toEqual([]);
	});

	it("lets a change that is under way change, take and give up the lock itself", async () => {
		const lock = fileLock(newFolder());
		const inner = lock.exclusively(async () => {
			await lock.acquire("agent");
			const deep = await lock.exclusively(async () => "deep");
			await lock.release();
			return deep;
		});
		await expect(inner).resolves.toBe("deep");
		expect(await lock.holder()).toBeNull();
	});

	it("waits for a suspended process rather than to take its turn, and then refuses by its name", async () => {
		const folder = newFolder();
		const other = party("inside", folder);
		await other.said("inside");
		other.signal("SIGSTOP");
		// Long silent, as after hours in the background.
		const old = new Date(Date.now() - HOUR);
		utimesSync(join(folder, "guard"), old, old);
		const entered = guarded(folder, async () => "in", 300);
		await expect(entered).rejects.toEqual(locked(`process ${other.pid} on ${hostname()}`));
		other.signal("SIGCONT");
		other.goOn();
		expect(await other.ended).toEqual({ code: 0, err: "" });
		await expect(guarded(folder, async () => "in")).resolves.toBe("in");
	});

	it("gives up a silent holder that cannot be asked, and that one learns that it lost its turn", async () => {
		const folder = newFolder();
		const token = "00000000-0000-4000-8000-000000000000";
		mkdirSync(join(folder, "guard"));
		writeFileSync(join(folder, "guard", token), JSON.stringify({ pid: 1, host: "elsewhere.example", started: null }));
		await expect(guarded(folder, async () => "in", 100)).rejects.toEqual(locked("process 1 on elsewhere.example"));
		const old = new Date(Date.now() - HOUR);
		utimesSync(join(folder, "guard"), old, old);
		const outer = guarded(folder, async () => {
			// What a process elsewhere does that judged this one silent.
			rmSync(join(folder, "guard"), { recursive: true });
			mkdirSync(join(folder, "guard"));
			writeFileSync(join(folder, "guard", token), "{}");
		});
		await expect(outer).rejects.toEqual(locked("suspended"));
		expect(readdirSync(join(folder, "guard"))).toEqual([token]);
	});

	it.each([
		["empty", () => {}],
		["with a file that nobody can read", (guard: string) => writeFileSync(join(guard, "what"), "\0")],
	])("takes over a guard that a crash left %s", async (_name, fill) => {
		const folder = newFolder();
		const guard = join(folder, "guard");
		mkdirSync(guard);
		fill(guard);
		const old = new Date(Date.now() - HOUR);
		utimesSync(guard, old, old);
		await expect(guarded(folder, async () => "in")).resolves.toBe("in");
		expect(readdirSync(folder)).toEqual([]);
	});

	it("sweeps away what killed processes left half made, and nothing younger", async () => {
		const folder = newFolder();
		const old = new Date(Date.now() - HOUR);
		const uuid = "00000000-0000-4000-8000-00000000000";
		for (const name of [`guard.${uuid}1`, `slot.${uuid}1`, `guard.${uuid}2`]) mkdirSync(join(folder, name));
		writeFileSync(join(folder, `guard.${uuid}1`, "file"), "");
		for (const name of ["lock.json.123", "journal.jsonl"]) writeFileSync(join(folder, name), "");
		for (const name of [`guard.${uuid}1`, `slot.${uuid}1`, "lock.json.123", "journal.jsonl"]) {
			utimesSync(join(folder, name), old, old);
		}
		await guarded(folder, async () => {});
		expect(readdirSync(folder).sort()).toEqual([`guard.${uuid}2`, "journal.jsonl"]);
	});
});

describe("the planning lock", () => {
	it("is held by one object at a time, in one process too", async () => {
		const folder = newFolder();
		const [agent, user] = [fileLock(folder), fileLock(folder)];
		expect(await agent.holder()).toBeNull();
		expect(await agent.acquire("agent")).toEqual({ notice: null });
		const { pid, host, since } = (await user.holder()) ?? {};
		expect([pid, host, since]).toEqual([process.pid, hostname(), expect.stringMatching(/^\d{4}-.*Z$/)]);
		const refusal = locked(`held by the agent \\(process ${process.pid} on ${hostname()}, since ${since}\\)`);
		await expect(user.acquire("ui")).rejects.toEqual(refusal);
		await expect(user.exclusively(async () => {})).rejects.toEqual(refusal);
		await expect(agent.exclusively(async () => "passes")).resolves.toBe("passes");
		expect(await agent.acquire("ui")).toEqual({ notice: null });
		expect(await user.holder()).toMatchObject({ owner: "ui" });
		expect(statSync(join(folder, "lock.json")).mode & 0o777).toBe(0o600);
		await agent.release();
		expect(await user.acquire("ui")).toEqual({ notice: null });
		await user.release();
		expect(readdirSync(folder)).toEqual([]);
	});

	it("is not given up by somebody else", async () => {
		const folder = newFolder();
		const [holder, other] = [fileLock(folder), fileLock(folder)];
		await holder.acquire("agent");
		const before = readFileSync(join(folder, "lock.json"), "utf8");
		await other.release();
		expect(readFileSync(join(folder, "lock.json"), "utf8")).toBe(before);
		await writeLock(folder, { owner: "ui" });
		await holder.release();
		expect(await other.holder()).toMatchObject({ owner: "ui" });
	});

	it("names a holder in another process, and refuses at once though that one is inside the guard", async () => {
		const folder = newFolder();
		const other = party("both", folder, "ui");
		await other.said("inside");
		const lock = fileLock(folder);
		expect(await lock.holder()).toMatchObject({ owner: "ui", pid: other.pid });
		const refusal = locked(`the user interface \\(process ${other.pid} on`);
		await expect(lock.exclusively(async () => {})).rejects.toEqual(refusal);
		expect(existsSync(join(folder, "guard"))).toBe(true);
	});

	it.each([
		["has nothing more to do", "leave", 0],
		["ends itself inside a change", "quit", 7],
	])("keeps no process alive and is gone with one that %s", async (_name, deed, code) => {
		const folder = newFolder();
		expect(await party(deed, folder).ended).toEqual({ code, err: "" });
		expect(readdirSync(folder)).toEqual([]);
	});

	it.each(["hold", "both"])(
		"is taken over at once, with a notice, from a process that was killed (openclaw#60258): %s",
		async (deed) => {
			const folder = newFolder();
			const other = party(deed, folder, "agent");
			await other.said(deed === "hold" ? "held" : "inside");
			other.signal("SIGKILL");
			await other.ended;
			const lock = fileLock(folder);
			expect(await lock.holder()).toBeNull();
			await expect(lock.exclusively(async () => "passes")).resolves.toBe("passes");
			const { notice } = await lock.acquire("ui");
			expect(notice).toMatch(new RegExp(`the agent \\(process ${other.pid} on .*taken over.*no longer running`));
			expect(await fileLock(folder).holder()).toMatchObject({ owner: "ui", pid: process.pid });
			await lock.release();
		},
	);

	it("is taken over when its pid is not in use (openclaw#3030)", async () => {
		const folder = newFolder();
		await writeLock(folder, { pid: await unusedPid() });
		expect(await fileLock(folder).holder()).toBeNull();
		expect((await fileLock(folder).acquire("agent")).notice).toContain("taken over");
	});

	it.runIf(process.platform === "linux").each([
		["another program", () => process.ppid],
		["this very process", () => process.pid],
	])("is taken over when its pid is now that of %s (gsd-2 PR#3668)", async (_name, pid) => {
		const folder = newFolder();
		const started = (await thisProcess()).started?.replace(/\d+$/, "1");
		await writeLock(folder, { pid: pid(), started });
		expect(await fileLock(folder).holder()).toBeNull();
		expect((await fileLock(folder).acquire("agent")).notice).toContain(`process ${pid()}`);
	});

	it.each([
		["on another host", { host: "elsewhere.example" }],
		["of a world of pids that is not ours", { started: "another boot/pid:[1]/5" }],
		["that did not say when it started", { started: null, pid: process.ppid }],
	])("counts a holder %s as alive as long as it gives signs of life", async (_name, facts) => {
		const folder = newFolder();
		const lock = fileLock(folder);
		await writeLock(folder, facts, 50_000);
		await expect(lock.acquire("ui")).rejects.toEqual(locked("held by the agent"));
		await writeLock(folder, facts, 70_000);
		expect((await lock.acquire("ui")).notice).toContain("taken over");
	});

	it.each([
		["empty", ""],
		["torn", '{"owner":"agent","pid":1'],
		["no object", "null"],
		["without a token", '{"owner":"agent","pid":1,"host":"h","since":"s"}'],
		["of an owner that is none", '{"owner":"x","pid":1,"host":"h","since":"s","token":"t"}'],
		["of a pid that is none", '{"owner":"ui","pid":-1,"host":"h","since":"s","token":"t"}'],
		["binary", "\0\0\0\0"],
	])("is taken over, with a notice, when its file is damaged: %s", async (_name, content) => {
		const folder = newFolder();
		await writeLock(folder, content);
		const lock = fileLock(folder);
		expect(await lock.holder()).toBeNull();
		await expect(lock.exclusively(async () => "passes")).resolves.toBe("passes");
		expect((await lock.acquire("agent")).notice).toContain("damaged");
		expect(await fileLock(folder).holder()).toMatchObject({ owner: "agent", pid: process.pid });
	});

	it("says `state_unavailable` where the folder is not there or cannot be written, and leaves no trace", async () => {
		const missing = join(files.path, "missing");
		const unavailable = expect.objectContaining({ code: "state_unavailable", hint: expect.stringContaining("DIR") });
		await expect(fileLock(missing).exclusively(async () => {})).rejects.toEqual(unavailable);
		await expect(fileLock(missing).acquire("ui")).rejects.toEqual(unavailable);
		expect(await fileLock(missing).holder()).toBeNull();
		expect(existsSync(missing)).toBe(false);
		const blocked = newFolder();
		writeFileSync(join(blocked, "guard"), "");
		await expect(fileLock(blocked).exclusively(async () => {})).rejects.toEqual(unavailable);
		mkdirSync(join(blocked, "lock.json"));
		await expect(fileLock(blocked).holder()).rejects.toEqual(unavailable);
		expect(readdirSync(blocked).sort()).toEqual(["guard", "lock.json"]);
	});

	it("is given up in peace when its folder is gone", async () => {
		const folder = newFolder();
		const lock = fileLock(folder);
		await lock.acquire("ui");
		rmSync(folder, { recursive: true });
		await expect(lock.release()).resolves.toBeUndefined();
		expect(existsSync(folder)).toBe(false);
	});
});

describe("a process", () => {
	it("is alive, dead, or not to be asked", async () => {
		const self = await thisProcess();
		expect(await fateOf(self)).toBe("alive");
		expect(await fateOf({ ...self, pid: await unusedPid() })).toBe("dead");
		expect(await fateOf({ ...self, host: "elsewhere.example" })).toBe("unknown");
	});

	it.runIf(process.platform === "linux")("that ended is dead though nobody has asked for its exit code", async () => {
		const { spawn } = await import("node:child_process");
		// The shell becomes a program that never waits for its child.
		const parent = spawn("sh", ["-c", "sleep 0.01 & echo $!; exec sleep 60"]);
		const [line] = await new Promise<string[]>((resolve) =>
			parent.stdout.on("data", (chunk: Buffer) => resolve(chunk.toString().split("\n"))),
		);
		const pid = Number(line);
		const statOf = () => readFileSync(`/proc/${pid}/stat`, "latin1");
		while (!/\) Z /.test(statOf())) await new Promise((resolve) => setTimeout(resolve, 5));
		const start = statOf().split(") ")[1].split(" ")[19];
		const self = await thisProcess();
		expect(await fateOf({ ...self, pid, started: self.started?.replace(/\d+$/, start) ?? null })).toBe("dead");
		parent.kill("SIGKILL");
	});

	it("is told by `ps` by its start", async () => {
		const [seen, again, none] = await Promise.all([
			lookWithPs(process.pid),
			lookWithPs(process.pid),
			lookWithPs(await unusedPid()),
		]);
		expect(seen).toEqual({ started: expect.stringMatching(/^ps\/\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/), zombie: false });
		expect(again).toEqual(seen);
		expect(none).toBeNull();
	});
});
