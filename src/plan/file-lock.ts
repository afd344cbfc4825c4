/** The planning lock of a file session: `lock.json` in the slot of the file, written inside the slot's guard. */
import { randomUUID } from "node:crypto";
import { readFileSync, unlinkSync } from "node:fs";
import { readFile, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { MidcompactError } from "../errors.js";
import { atExit } from "./at-exit.js";
import { guarded } from "./guard.js";
import type { Holder, Owner, PlanLock } from "./lock.js";
import { fateOf, type ProcessId, thisProcess } from "./process-id.js";
import { isMissing, stateUnavailable } from "./state-root.js";

/** Milliseconds between two signs of life. */
const HEARTBEAT = 15_000;
/** Milliseconds without one after which a holder that cannot be asked is given up. */
const SILENCE = 60_000;

interface Stored extends Holder, ProcessId {
	token: string;
}

type Found = { kind: "none" } | { kind: "damaged" } | { kind: "dead" | "living"; stored: Stored };

/** The planning lock in the folder of a slot, which must be there. Every object is a party of its own. Errors of all methods: `state_unavailable` too. */
export function fileLock(folder: string): PlanLock {
	return new FileLock(folder);
}

class FileLock implements PlanLock {
	readonly #folder: string;
	readonly #path: string;
	readonly #token = randomUUID();
	#heartbeat: NodeJS.Timeout | null = null;
	/** Forgets the removal at exit. */
	#keep: (() => void) | null = null;

	constructor(folder: string) {
		this.#folder = folder;
		this.#path = join(folder, "lock.json");
	}

	/** The file is only ever replaced as a whole, so that a look at it needs no guard and leaves no trace. */
	async holder(): Promise<Holder | null> {
		const found = await find(this.#path);
		return found.kind === "living" ? holderOf(found.stored) : null;
	}

	async exclusively<T>(work: () => Promise<T>): Promise<T> {
		// The living holder may be inside the guard for long.
		await this.#refuseOthers();
		return guarded(this.#folder, async () => {
			await this.#refuseOthers();
			return work();
		});
	}

	acquire(owner: Owner): Promise<{ notice: string | null }> {
		return guarded(this.#folder, async () => {
			const found = await this.#refuseOthers();
			const self = await thisProcess();
			const stored: Stored = { owner, ...self, since: new Date().toISOString(), token: this.#token };
			try {
				await writeFileAtomic(this.#path, `${JSON.stringify(stored)}\n`, { mode: 0o600 });
			} catch (cause) {
				throw stateUnavailable(`The planning lock ${this.#path} cannot be written`, cause);
			}
			this.#keep ??= atExit(() => this.#removeNow());
			this.#heartbeat ??= setInterval(() => void this.#beat(), HEARTBEAT).unref();
			return { notice: noticeOf(found) };
		});
	}

	async release(): Promise<void> {
		if (!this.#heartbeat) return;
		try {
			await guarded(this.#folder, async () => {
				const found = await find(this.#path);
				if ("stored" in found && found.stored.token === this.#token) await unlink(this.#path);
			});
		} catch (refused) {
			// Where the folder of the slot is gone, so is the lock.
			if (!isMissing(refused) && !(refused instanceof MidcompactError && isMissing(refused.cause))) {
				throw stateUnavailable(`The planning lock ${this.#path} cannot be removed`, refused);
			}
		}
		this.#forget();
	}

	async #refuseOthers(): Promise<Found> {
		const found = await find(this.#path);
		if (found.kind !== "living" || found.stored.token === this.#token) return found;
		throw new MidcompactError("locked", `The plan is held by ${named(found.stored)}.`);
	}

	/** Nothing may come of a failure here: the next change says what is wrong. */
	async #beat(): Promise<void> {
		try {
			const found = await find(this.#path);
			const now = new Date();
			if ("stored" in found && found.stored.token === this.#token) await utimes(this.#path, now, now);
			else this.#forget();
		} catch {}
	}

	#forget(): void {
		clearInterval(this.#heartbeat ?? undefined);
		this.#heartbeat = null;
		this.#keep?.();
		this.#keep = null;
	}

	/** Without the guard, as nothing can be waited for. No other process takes a lock over while its holder still runs. */
	#removeNow(): void {
		if (parse(readFileSync(this.#path, "utf8"))?.token === this.#token) unlinkSync(this.#path);
	}
}

async function find(path: string): Promise<Found> {
	let text: string;
	let age: number;
	try {
		text = await readFile(path, "utf8");
		age = Date.now() - (await stat(path)).mtimeMs;
	} catch (cause) {
		if (isMissing(cause)) return { kind: "none" };
		throw stateUnavailable(`The planning lock ${path} cannot be read`, cause);
	}
	const stored = parse(text);
	if (!stored) return { kind: "damaged" };
	const fate = await fateOf(stored);
	const lives = fate === "alive" || (fate === "unknown" && age < SILENCE);
	return { kind: lives ? "living" : "dead", stored };
}

function parse(text: string): Stored | null {
	try {
		const { owner, pid, host, since, started, token } = JSON.parse(text) as { [name in keyof Stored]?: unknown };
		if (owner !== "agent" && owner !== "ui") return null;
		if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return null;
		if (typeof host !== "string" || typeof since !== "string" || typeof token !== "string") return null;
		return { owner, pid, host, since, started: typeof started === "string" ? started : null, token };
	} catch {
		return null;
	}
}

function holderOf({ owner, pid, host, since }: Stored): Holder {
	return { owner, pid, host, since };
}

function named({ owner, pid, host, since }: Holder): string {
	return `${owner === "agent" ? "the agent" : "the user interface"} (process ${pid} on ${host}, since ${since})`;
}

function noticeOf(found: Found): string | null {
	if (found.kind === "damaged")
		return "The record of who holds the plan was damaged: the planning lock was taken over.";
	if (found.kind !== "dead") return null;
	return `The planning lock of ${named(found.stored)} was taken over: that process is no longer running.`;
}
