/** The journal of a slot: one file of JSON lines that is only ever appended to. */
import { isUtf8 } from "node:buffer";
import { constants, type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonValue } from "../session/record.js";
import { asEntry } from "./entry.js";
import { bytesOf, wholeLines } from "./journal-lines.js";
import { isMissing, stateUnavailable } from "./state-root.js";
import type { JournalEntry, PlanStore } from "./store.js";
import { syncFolder } from "./sync-folder.js";

const MODE = 0o600;
/** Bytes in front of what is new by which a file is known again. */
const KNOWN_BY = 64;
/** Milliseconds in which another process ends the line that it is writing. */
const SETTLES = 20;

/** What was read of the file so far. */
interface Known {
	entries: JournalEntry[];
	/** End of the last line that reads. */
	end: number;
	/** The last bytes before that. */
	last: Buffer;
	inode: number;
	/** Lines that do not read, with readable ones behind them; and the offset of the first. */
	damaged: number;
	firstDamage: number;
	/** Lines that are no entries of this version. */
	foreign: number;
}

const nothing = (): Known => ({
	entries: [],
	end: 0,
	last: Buffer.alloc(0),
	inode: -1,
	damaged: 0,
	firstDamage: 0,
	foreign: 0,
});

/**
 * Keeps entries in a file that is made with the first one; its folder must be there. Callers see to it that only one process appends at a time; anybody may read meanwhile.
 */
export class FileJournal implements PlanStore {
	readonly #path: string;
	#known = nothing();
	/** Whether the name of the file outlives a crash. */
	#named = false;
	/** Bytes of torn entries that were cut off. */
	#cut = 0;
	/** The torn end that was seen last. */
	#seen = "";
	#last: Promise<unknown> = Promise.resolve();

	constructor(path: string) {
		this.#path = path;
	}

	/** Reads only what was appended since the last time. */
	load(): Promise<{ entries: JournalEntry[]; notices: string[] }> {
		return this.#alone(async () => {
			try {
				const torn = await this.#readSettled();
				return { entries: [...this.#known.entries], notices: this.#notices(torn) };
			} catch (cause) {
				throw stateUnavailable(`The journal ${this.#path} cannot be read`, cause);
			}
		});
	}

	/** A torn end is cut off first. */
	append(entry: JournalEntry): Promise<void> {
		return this.#alone(async () => {
			let handle: FileHandle | null = null;
			try {
				handle = await open(this.#path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, MODE);
				const torn = await this.#readNew(handle);
				if (torn > 0) {
					await handle.truncate(this.#known.end);
					this.#cut += torn;
				}
				await this.#write(handle, Buffer.from(`${JSON.stringify(entry)}\n`));
				if (!this.#named) await syncFolder(dirname(this.#path));
				this.#named = true;
			} catch (cause) {
				throw stateUnavailable(`The journal ${this.#path} cannot be written`, cause);
			} finally {
				await handle?.close().catch(() => {});
			}
		});
	}

	/** All of it or nothing: the system may take a part before it refuses. */
	async #write(handle: FileHandle, bytes: Buffer): Promise<void> {
		const { end } = this.#known;
		try {
			for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done)).bytesWritten;
			await handle.sync();
		} catch (cause) {
			// More than that is not ours.
			const size = await handle.stat().then(
				(found) => found.size,
				() => end,
			);
			if (size > end && size <= end + bytes.length) await handle.truncate(end).catch(() => {});
			throw cause;
		}
	}

	/** What looks torn may be what another process is writing just now. */
	async #readSettled(): Promise<number> {
		for (;;) {
			const torn = await this.#readFile();
			if (torn === 0) return 0;
			const seen = `${this.#known.end} ${torn}`;
			if (seen === this.#seen) return torn;
			this.#seen = seen;
			await sleep(SETTLES);
		}
	}

	async #readFile(): Promise<number> {
		let handle: FileHandle;
		try {
			handle = await open(this.#path, "r");
		} catch (cause) {
			if (!isMissing(cause)) throw cause;
			this.#known = nothing();
			return 0;
		}
		try {
			return await this.#readNew(handle);
		} finally {
			await handle.close();
		}
	}

	/** Takes in what was appended since the last time; returns the number of bytes behind the last line that reads. */
	async #readNew(handle: FileHandle): Promise<number> {
		const { size, ino } = await handle.stat();
		if (!(await this.#isKnown(handle, ino))) this.#known = { ...nothing(), inode: ino };
		const known = this.#known;
		let damaged = 0;
		let firstDamage = 0;
		for await (const { start, end, bytes } of wholeLines(handle, known.end, size)) {
			const value = parsed(bytes);
			if (bytes === null || value === undefined) {
				if (damaged++ === 0) firstDamage = start;
				continue;
			}
			if (damaged > 0 && known.damaged === 0) known.firstDamage = firstDamage;
			known.damaged += damaged;
			damaged = 0;
			const entry = asEntry(value);
			if (entry) known.entries.push(entry);
			else known.foreign++;
			known.end = end;
			known.last = Buffer.concat([bytes.subarray(-KNOWN_BY), Buffer.from("\n")]);
		}
		return Math.max(0, size - known.end);
	}

	/** Whether the file still begins with what was read of it: it may have been replaced, or an entry taken back that could not be made durable. */
	async #isKnown(handle: FileHandle, inode: number): Promise<boolean> {
		const { end, last } = this.#known;
		return inode === this.#known.inode && (await bytesOf(handle, end - last.length, end)).equals(last);
	}

	#notices(torn: number): string[] {
		const { damaged, firstDamage, foreign } = this.#known;
		const notices: string[] = [];
		if (damaged > 0) {
			const lines = damaged === 1 ? "a line that does not read" : `${damaged} lines that do not read`;
			notices.push(`The journal holds ${lines}, from byte ${firstDamage} on: what stood there was left out.`);
		}
		if (foreign > 0) {
			const kept = foreign === 1 ? "an entry" : `${foreign} entries`;
			notices.push(
				`The journal holds ${kept} of a kind that this version does not know: left in place and passed over.`,
			);
		}
		if (this.#cut > 0)
			notices.push(`At the end of the journal ${this.#cut} bytes were no whole entry and were cut off.`);
		if (torn > 0) notices.push(`The journal's last ${torn} bytes are no whole entry and were left out.`);
		return notices;
	}

	/** One after the other: all share what is known of the file. */
	#alone<T>(work: () => Promise<T>): Promise<T> {
		const next = this.#last.then(work);
		this.#last = next.catch(() => {});
		return next;
	}
}

/** Undefined for what is no JSON. */
function parsed(bytes: Buffer | null): JsonValue | undefined {
	if (bytes === null || !isUtf8(bytes)) return undefined;
	try {
		return JSON.parse(bytes.toString("utf8")) as JsonValue;
	} catch {
		return undefined;
	}
}
