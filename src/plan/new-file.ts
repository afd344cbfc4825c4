/** A file that has its name only when it is complete, and never takes one that is in use. For workers: everything blocks. */
import { randomBytes } from "node:crypto";
import {
	closeSync,
	fsyncSync,
	linkSync,
	openSync,
	readdirSync,
	renameSync,
	statSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { FILE_MODE } from "./archive-file.js";

const TEMPORARY = /^\..+\.midcompact-[0-9a-f]{12}\.tmp$/;
/** Units of the target's name that a temporary one repeats. */
const NAME_KEPT = 100;
/** A writer adds to its file all the time: one left alone for so long (ms) is dead. */
const DEAD_AFTER = 24 * 3600 * 1000;

export class NewFile {
	/** Bytes written. */
	bytes = 0;
	readonly #target: string;
	readonly #path: string;
	#fd: number;

	/** Creates it beside its target, under another name, for its owner alone. Errors: those of the system. */
	constructor(target: string) {
		this.#target = target;
		this.#path = temporaryName(target);
		this.#fd = openSync(this.#path, "wx", FILE_MODE);
	}

	write(bytes: Uint8Array): void {
		for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done, bytes.length - done);
		this.bytes += bytes.length;
	}

	/** Makes it outlive a crash under its own name. Errors: EEXIST when the name is in use, and those of the system. */
	publish(): void {
		fsyncSync(this.#fd);
		this.#close();
		giveName(this.#path, this.#target);
		syncFolder(dirname(this.#target));
	}

	/** Removes what was not published; nothing otherwise. */
	discard(): void {
		this.#close();
		quietly(() => unlinkSync(this.#path));
	}

	#close(): void {
		if (this.#fd < 0) return;
		closeSync(this.#fd);
		this.#fd = -1;
	}
}

/** A name beside the target that nobody takes for a session: hidden, and short enough where the target's own is long. */
export function temporaryName(target: string): string {
	const start = basename(target).slice(0, NAME_KEPT);
	return join(dirname(target), `.${start}.midcompact-${randomBytes(6).toString("hex")}.tmp`);
}

/** Removes files whose writers died before they were complete. */
export function removeAbandoned(folder: string, now: number): void {
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		// Another process may clean up at the same time.
		if (TEMPORARY.test(name)) quietly(() => now - statSync(path).mtimeMs > DEAD_AFTER && unlinkSync(path));
	}
}

/** A new name in a folder outlives a crash once the folder is synced; where folders cannot be opened, as on Windows, the system sees to it. */
export function syncFolder(folder: string): void {
	quietly(() => {
		const fd = openSync(folder, "r");
		try {
			fsyncSync(fd);
		} finally {
			closeSync(fd);
		}
	});
}

function giveName(path: string, target: string): void {
	try {
		linkSync(path, target);
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		if (code === "EEXIST" || code === "ENOENT") throw cause;
		// A file system without hard links: claim the name, then take it over.
		closeSync(openSync(target, "wx", FILE_MODE));
		try {
			renameSync(path, target);
		} catch (failed) {
			quietly(() => unlinkSync(target));
			throw failed;
		}
		return;
	}
	quietly(() => unlinkSync(path));
}

function quietly(work: () => unknown): void {
	try {
		work();
	} catch {
		// Nothing depends on it.
	}
}
