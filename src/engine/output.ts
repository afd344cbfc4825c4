/** Where a fork goes: the name that its host looks for, and a file that appears only when it is complete. */
import { constants, type FileHandle, link, open, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { MidcompactError } from "../errors.js";
import { removeAbandoned, temporaryName } from "../plan/new-file.js";
import { syncFolder } from "../plan/sync-folder.js";
import type { FormatWriter } from "../session/fork.js";

export interface Target {
	path: string;
	/** Session id of the fork. */
	id: string;
}

/** Names with a number behind them that are tried before a default name is given up. */
const NUMBERED = 1_000;

/**
 * The file of a fork. `out`: what the user chose, a file or a folder that exists; null: beside the session. Errors: `output_exists`, `invalid_output`.
 */
export async function chooseTarget(
	writer: FormatWriter,
	{ out, session, now, newId }: { out: string | null; session: string; now: Date; newId(): string },
): Promise<Target> {
	const given = out === null ? null : resolve(out);
	if (out !== null && given !== null && /[\\/]$/.test(out) && !(await isFolder(given)))
		throw new MidcompactError("invalid_output", `There is no folder ${given} to write the new session into.`);
	const folder = given !== null && (await isFolder(given)) ? given : dirname(given ?? session);
	if (!(await isFolder(folder)))
		throw new MidcompactError("invalid_output", `There is no folder ${folder} to write the new session into.`);
	if (given !== null && given !== folder) {
		const id = writer.idInName(basename(given)) ?? newId();
		if (await exists(given)) throw outputExists(given);
		return { path: given, id };
	}
	const id = newId();
	const name = writer.fileName(id, now, session);
	for (let n = 1; n <= NUMBERED; n++) {
		const path = join(folder, n === 1 ? name : numbered(name, n));
		if (!(await exists(path))) return { path, id };
	}
	throw outputExists(join(folder, name));
}

function numbered(name: string, n: number): string {
	const extension = extname(name);
	return `${name.slice(0, name.length - extension.length)}-${n}${extension}`;
}

export function outputExists(path: string): MidcompactError {
	return new MidcompactError("output_exists", `${path} exists already.`);
}

/** A file beside its target, under another name until it is complete. */
export class PendingFile {
	readonly path: string;
	readonly #target: string;
	readonly #what: string;
	readonly #handle: FileHandle;
	#open = true;

	private constructor(path: string, target: string, what: string, handle: FileHandle) {
		this.path = path;
		this.#target = target;
		this.#what = what;
		this.#handle = handle;
	}

	/** Creates it, empty, with the permissions of `like`; `what` says in errors what it is. Errors: `invalid_output` with the system's reason. */
	static async create(target: string, like: string, what = "The new session"): Promise<PendingFile> {
		const path = temporaryName(target);
		try {
			removeAbandoned(dirname(target), Date.now());
			const { mode } = await stat(like);
			const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, (mode & 0o777) | 0o600);
			return new PendingFile(path, target, what, handle);
		} catch (cause) {
			throw unwritable(target, cause, what);
		}
	}

	/** Makes its content outlive a crash. Errors: `invalid_output`. */
	async sync(): Promise<void> {
		try {
			await this.#handle.sync();
			await this.#close();
		} catch (cause) {
			throw unwritable(this.#target, cause, this.#what);
		}
	}

	/** Gives it its name; a file that has it is never overwritten. Errors: `output_exists`, `invalid_output`. */
	async publish(): Promise<void> {
		try {
			await this.#giveName();
			await syncFolder(dirname(this.#target));
		} catch (cause) {
			if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw outputExists(this.#target);
			throw unwritable(this.#target, cause, this.#what);
		}
	}

	/** Removes what has not been published. */
	async discard(): Promise<void> {
		await this.#close().catch(() => {});
		await unlink(this.path).catch(() => {});
	}

	async #giveName(): Promise<void> {
		try {
			await link(this.path, this.#target);
		} catch (cause) {
			const { code } = cause as NodeJS.ErrnoException;
			if (code === "EEXIST" || code === "ENOENT") throw cause;
			// A file system without hard links: claim the name, then take it over.
			await (await open(this.#target, "wx")).close();
			await rename(this.path, this.#target).catch(async (failed) => {
				await unlink(this.#target).catch(() => {});
				throw failed;
			});
			return;
		}
		// The session has its name by now; a second one that stays is swept later.
		await unlink(this.path).catch(() => {});
	}

	async #close(): Promise<void> {
		if (!this.#open) return;
		this.#open = false;
		await this.#handle.close();
	}
}

const SYSTEM_REFUSAL = /^Unexpected failure: E[A-Z0-9]+: /;

/** A failure of the system while a file is written, in words. */
export function unwritable(target: string, cause: unknown, what = "The new session"): MidcompactError {
	// What a worker's system call refused comes over as `internal`; any other such fault is ours.
	if (cause instanceof MidcompactError && !SYSTEM_REFUSAL.test(cause.message)) return cause;
	const reason =
		cause instanceof Error ? cause.message.replace(/^Unexpected failure: /, "").split(",")[0] : String(cause);
	return new MidcompactError("invalid_output", `${what} ${target} cannot be written: ${reason}.`, undefined, cause);
}

async function exists(path: string): Promise<boolean> {
	return stat(path).then(
		() => true,
		(cause: NodeJS.ErrnoException) => cause.code !== "ENOENT",
	);
}

async function isFolder(path: string): Promise<boolean> {
	return stat(path).then(
		(found) => found.isDirectory(),
		() => false,
	);
}
