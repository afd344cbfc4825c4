/** Tells a process from every other one, so that a pid that was given out again is not taken for the process that had it before. */
import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { systemCode } from "./state-root.js";

export interface ProcessId {
	pid: number;
	host: string;
	/** What only this process has besides its pid: the world that numbers it and when it started, as `world/start`. Null where the system does not tell. */
	started: string | null;
}

/** `unknown`: the process cannot be asked, or the system does not tell it from another one with its pid. */
export type Fate = "alive" | "dead" | "unknown";

/** What the system says of a running process. */
export interface Seen {
	started: string;
	/** It ended, but nobody has asked for its exit code. */
	zombie: boolean;
}

let own: Promise<ProcessId> | null = null;

export function thisProcess(): Promise<ProcessId> {
	own ??= look(process.pid).then((seen) => ({ pid: process.pid, host: hostname(), started: seen?.started ?? null }));
	return own;
}

/** Whether a process still runs, as far as it can be known from here. */
export async function fateOf({ pid, host, started }: ProcessId): Promise<Fate> {
	const self = await thisProcess();
	if (host !== self.host || worldOf(started) !== worldOf(self.started)) return "unknown";
	if (pid === self.pid) return started === self.started ? "alive" : "dead";
	const answers = signalReaches(pid);
	if (!answers) return "dead";
	const seen = started === null ? null : await look(pid);
	// It may be hidden from us, or have ended a moment ago.
	if (!seen) return started === null || signalReaches(pid) ? "unknown" : "dead";
	return seen.zombie || seen.started !== started ? "dead" : "alive";
}

/** Pids of two containers, or of a machine before and after it was started anew, say nothing of each other, though the host name may be the same. */
function worldOf(started: string | null): string | null {
	return started === null ? null : started.slice(0, started.lastIndexOf("/"));
}

function signalReaches(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (refused) {
		return systemCode(refused) === "EPERM";
	}
}

async function look(pid: number): Promise<Seen | null> {
	if (process.platform === "linux") return lookInProc(pid);
	return process.platform === "darwin" ? lookWithPs(pid) : null;
}

async function lookInProc(pid: number): Promise<Seen | null> {
	try {
		const [stat, boot, namespace] = await Promise.all([
			readFile(`/proc/${pid}/stat`, "latin1"),
			readFile("/proc/sys/kernel/random/boot_id", "latin1"),
			readlink("/proc/self/ns/pid"),
		]);
		// The second field is the command in brackets, and may hold brackets and blanks itself; behind it come state (field 3) and, in ticks since boot, the start (field 22).
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return { started: `${boot.trim()}/${namespace}/${fields[19]}`, zombie: /^[ZXx]/.test(fields[0]) };
	} catch {
		return null;
	}
}

/** Asks `ps`, which tells the start to the second. Null when it knows no such process. */
export function lookWithPs(pid: number): Promise<Seen | null> {
	const env = { PATH: process.env.PATH ?? "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" };
	return new Promise((resolve) => {
		execFile("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)], { env }, (failed, out) => {
			const line = /^(\S+)\s+(\S.*)$/.exec(out.trim());
			resolve(failed || !line ? null : { started: `ps/${line[2].trim()}`, zombie: line[1].startsWith("Z") });
		});
	});
}
