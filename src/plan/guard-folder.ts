/**
 * The folder by which `proper-lockfile` locks, with its holder's name inside. By itself that library removes what it judged stale by path, and so may remove the lock
 * of a process that was faster. Here a lock is made together with a file that only this turn has, and is taken away by that file: an empty folder is no lock, a
 * folder with another file in it cannot be removed.
 */
import { randomUUID } from "node:crypto";
import { rmdirSync, type Stats, unlinkSync } from "node:fs";
import { chmod, mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { atExit } from "./at-exit.js";
import { type Fate, fateOf, type ProcessId } from "./process-id.js";
import { systemCode } from "./state-root.js";

type Done<T = void> = (failed: unknown, result?: T) => void;

/** The part of `node:fs` that `proper-lockfile` calls, for one turn in one folder. */
export class GuardFolder {
	readonly path: string;
	/** Who was seen to hold the guard last. */
	holder: ProcessId | null = null;
	/** Somebody else had taken the guard before it was given up. */
	lost = false;
	readonly #me: ProcessId;
	readonly #token = randomUUID();
	readonly #prepared: string;
	#isPrepared = false;
	/** Forgets the removal at exit; null while the guard is not ours. */
	#keep: (() => void) | null = null;
	/** Files in the guard when it was judged last. */
	#judged: string[] = [];

	constructor(folder: string, me: ProcessId) {
		this.path = join(folder, "guard");
		this.#prepared = join(folder, `guard.${this.#token}`);
		this.#me = me;
	}

	mkdir(_path: string, done: Done): void {
		answer(this.#place(), done);
	}

	/** As the library judges by age alone, a holder known to be dead is of the year 1970, and one known to live is of now. */
	stat(path: string, done: Done<Pick<Stats, "mtime">>): void {
		answer(this.#keep ? stat(path) : this.#judge(), done);
	}

	rmdir(_path: string, done: Done): void {
		answer(this.#keep ? this.withdraw() : this.#clear(this.#judged), done);
	}

	utimes(path: string, atime: Date, mtime: Date, done: Done): void {
		answer(utimes(path, atime, mtime), done);
	}

	/**
	 * Called when a signal ends the process. The library also calls it at other exits, unless another version of its `signal-exit` is in use, as by
	 * `write-file-atomic`: that one takes the hook out.
	 */
	rmdirSync(): void {
		unlinkSync(join(this.path, this.#token));
		rmdirSync(this.path);
	}

	/** Gives up the guard; nothing where it is not ours. */
	async withdraw(): Promise<void> {
		if (!this.#keep) return;
		this.#keep();
		this.#keep = null;
		await unlink(join(this.path, this.#token)).catch((refused) => {
			if (systemCode(refused) !== "ENOENT") throw refused;
			this.lost = true;
		});
		await this.#clear([]);
	}

	/** Removes what was prepared for a turn that did not come. */
	async discard(): Promise<void> {
		if (this.#isPrepared) await rm(this.#prepared, { recursive: true, force: true }).catch(() => {});
		this.#isPrepared = false;
	}

	async #place(again = true): Promise<void> {
		if (!this.#isPrepared) await this.#prepare();
		try {
			await rename(this.#prepared, this.path);
		} catch (refused) {
			const code = systemCode(refused);
			if (code === "ENOENT" && again) {
				// Swept away by somebody else while this process was suspended.
				this.#isPrepared = false;
				return this.#place(false);
			}
			if (code !== null && TAKEN.has(code)) throw Object.assign(new Error("taken"), { code: "EEXIST" });
			throw refused;
		}
		this.#isPrepared = false;
		this.#keep = atExit(() => this.rmdirSync());
	}

	async #prepare(): Promise<void> {
		await mkdir(this.#prepared, { mode: 0o700 });
		this.#isPrepared = true;
		await chmod(this.#prepared, 0o700);
		const file = await open(join(this.#prepared, this.#token), "wx", 0o600);
		try {
			await file.chmod(0o600);
			await file.writeFile(JSON.stringify(this.#me));
		} finally {
			await file.close();
		}
	}

	async #judge(): Promise<Pick<Stats, "mtime">> {
		this.#judged = await readdir(this.path);
		this.holder = null;
		if (this.#judged.length === 0) return { mtime: new Date(0) };
		// Some systems put files of their own into folders.
		const token = this.#judged.find((name) => TOKEN.test(name));
		this.holder = token === undefined ? null : await readHolder(join(this.path, token));
		const fate: Fate = this.holder ? await fateOf(this.holder) : "unknown";
		if (fate === "unknown") return stat(this.path);
		return { mtime: fate === "dead" ? new Date(0) : new Date() };
	}

	/** Removes these files of the guard, and the guard itself if it is empty then. */
	async #clear(names: readonly string[]): Promise<void> {
		for (const name of names) await unlink(join(this.path, name)).catch(unless("ENOENT"));
		await rmdir(this.path).catch(unless("ENOENT", "ENOTEMPTY", "EEXIST"));
	}
}

const TOKEN = /^[0-9a-f-]{36}$/;
/** How systems say that a folder cannot be renamed to a name that is taken. The folder itself is known to be writable then. */
const TAKEN: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "EPERM", "EACCES", "EBUSY"]);

function unless(...codes: string[]): (refused: unknown) => void {
	return (refused) => {
		if (!codes.includes(systemCode(refused) ?? "")) throw refused;
	};
}

async function readHolder(path: string): Promise<ProcessId | null> {
	try {
		const { pid, host, started } = JSON.parse(await readFile(path, "utf8")) as Partial<ProcessId>;
		if (!Number.isSafeInteger(pid) || pid! <= 0 || typeof host !== "string") return null;
		return { pid: pid!, host, started: typeof started === "string" ? started : null };
	} catch {
		return null;
	}
}

function answer<T>(result: Promise<T>, done: Done<T>): void {
	result.then((value) => done(null, value), done);
}
