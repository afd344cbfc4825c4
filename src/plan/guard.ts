/** One operation at a time in a folder, among all processes. */
import { AsyncLocalStorage } from "node:async_hooks";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lock } from "proper-lockfile";
import { MidcompactError } from "../errors.js";
import { GuardFolder } from "./guard-folder.js";
import { thisProcess } from "./process-id.js";
import { stateUnavailable, systemCode } from "./state-root.js";

/** Milliseconds without a sign of life after which a holder that cannot be asked is given up. */
const STALE = 5_000;
/** Milliseconds that a caller waits for its turn. */
const PATIENCE = 10_000;
/** Milliseconds after which what a killed process left half made is swept away. */
const LITTER = 60_000;

interface Inside {
	folder: string;
	running: boolean;
	outer: Inside | undefined;
}
const inside = new AsyncLocalStorage<Inside>();

/**
 * Runs `work` while nobody else is inside the folder's guard; inside `work` itself another call for the same folder runs at once. A holder that was killed is
 * succeeded at once, a suspended one is waited for. Errors: `locked` after `patience` milliseconds, or when a process on another host took over while this
 * one was suspended; `state_unavailable`; those of `work`.
 */
export async function guarded<T>(folder: string, work: () => Promise<T>, patience = PATIENCE): Promise<T> {
	const outer = inside.getStore();
	for (let at = outer; at; at = at.outer) if (at.running && at.folder === folder) return work();
	const leave = await enter(folder, patience);
	const here: Inside = { folder, running: true, outer };
	let stillOurs = true;
	let result: T;
	try {
		result = await inside.run(here, work);
	} finally {
		here.running = false;
		stillOurs = await leave();
	}
	if (!stillOurs) {
		throw new MidcompactError(
			"locked",
			"This process was suspended for so long that another one took its turn: the plan may be another now.",
			"Look at the plan again before you repeat the change.",
		);
	}
	return result;
}

/** Returns what gives the guard up; that resolves to false when somebody else had taken it. */
async function enter(folder: string, patience: number): Promise<() => Promise<boolean>> {
	const files = new GuardFolder(folder, await thisProcess());
	const patienceEnds = performance.now() + patience;
	for (;;) {
		try {
			const release = await lock(folder, {
				fs: files,
				lockfilePath: files.path,
				realpath: false,
				stale: STALE,
				// Whether the guard was lost is known for certain when it is given up.
				onCompromised: () => {},
			});
			await sweep(folder);
			return async () => {
				// It refuses when its own clock says that the guard was lost, which the folder may know better.
				await release().catch(() => files.withdraw().catch(() => {}));
				return !files.lost;
			};
		} catch (refused) {
			const waits = systemCode(refused) === "ELOCKED";
			if (waits && performance.now() < patienceEnds) {
				await sleep(5 + Math.random() * 45);
				continue;
			}
			await files.discard();
			if (!waits) throw stateUnavailable(`The folder ${folder} cannot be locked`, refused);
			const by = files.holder ? ` by process ${files.holder.pid} on ${files.holder.host}` : "";
			throw new MidcompactError("locked", `The plan is being changed${by}, and it did not end in time.`);
		}
	}
}

/** A process that is killed while it waits, or while it writes a file, leaves the half of it. */
async function sweep(folder: string): Promise<void> {
	for (const name of await readdir(folder).catch(() => [])) {
		if (!/^guard\.[0-9a-f-]{36}$|^slot\.[0-9a-f-]{36}$|^(lock|where)\.json\.\d+$/.test(name)) continue;
		const path = join(folder, name);
		const age = await stat(path).then(
			({ mtimeMs }) => Date.now() - mtimeMs,
			() => 0,
		);
		if (age > LITTER) await rm(path, { recursive: true, force: true }).catch(() => {});
	}
}
