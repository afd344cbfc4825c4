/** The journal of a slot: one file of JSON lines that is only ever appended to. */
import { constants, type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isObject, type JsonValue } from "../session/record.js";
import { isMissing, stateUnavailable } from "./state-root.js";
import type { JournalEntry, PlanStore } from "./store.js";
import { syncFolder } from "./sync-folder.js";

const NEWLINE = 10;
const MODE = 0o600;
/** Bytes of a journal that are read at most: far beyond any plan, near enough to keep a foreign file out of memory. */
const MOST = 256 << 20;
const TYPES: ReadonlySet<string> = new Set(["start", "change", "commit", "committed", "withdrawn", "abort"]);
const VERSION = 1;

/** Keeps entries in a file that is made with the first one; its folder must be there. */
export class FileJournal implements PlanStore {
	readonly #path: string;
	#entries: JournalEntry[] = [];
	#notices: string[] = [];
	/** Bytes that are read: all up to the end of the last whole line. */
	#end = 0;
	#inode = -1;

	constructor(path: string) {
		this.#path = path;
	}

	async load(): Promise<{ entries: JournalEntry[]; notices: string[] }> {
		try {
			const torn = await this.#readNew();
			const notices =
				torn > 0
					? [...this.#notices, `The journal's last ${torn} bytes are no whole entry and were left out.`]
					: this.#notices;
			return { entries: [...this.#entries], notices: [...notices] };
		} catch (cause) {
			throw stateUnavailable(`The journal ${this.#path} cannot be read`, cause);
		}
	}

	async append(entry: JournalEntry): Promise<void> {
		const failure = `The journal ${this.#path} cannot be written`;
		let handle: FileHandle;
		let made = false;
		try {
			made = (await stat(this.#path).catch(() => null)) === null;
			handle = await open(this.#path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, MODE);
		} catch (cause) {
			throw stateUnavailable(failure, cause);
		}
		try {
			await this.#readNew();
			await handle.truncate(this.#end);
			await this.#write(handle, Buffer.from(`${JSON.stringify(entry)}\n`));
			if (made) await syncFolder(dirname(this.#path));
		} catch (cause) {
			throw stateUnavailable(failure, cause);
		} finally {
			await handle.close();
		}
		await this.load();
	}

	/** All of it or nothing. */
	async #write(handle: FileHandle, bytes: Buffer): Promise<void> {
		try {
			for (let done = 0; done < bytes.length; ) {
				const { bytesWritten } = await handle.write(bytes, done);
				done += bytesWritten;
			}
			await handle.sync();
		} catch (cause) {
			await handle.truncate(this.#end).catch(() => {});
			throw cause;
		}
	}

	/** Takes in what was appended since the last time; returns the number of bytes behind the last whole entry. */
	async #readNew(): Promise<number> {
		let handle: FileHandle;
		try {
			handle = await open(this.#path, "r");
		} catch (cause) {
			if (!isMissing(cause)) throw cause;
			this.#forget();
			return 0;
		}
		try {
			const { size, ino } = await handle.stat();
			if (ino !== this.#inode || size < this.#end) this.#forget();
			this.#inode = ino;
			if (size > MOST) throw new Error(`it has ${size} bytes, more than any journal`);
			const bytes = Buffer.alloc(size - this.#end);
			let read = 0;
			while (read < bytes.length) {
				const { bytesRead } = await handle.read(bytes, read, bytes.length - read, this.#end + read);
				if (bytesRead === 0) break;
				read += bytesRead;
			}
			return this.#take(bytes.subarray(0, read));
		} finally {
			await handle.close();
		}
	}

	#forget(): void {
		this.#entries = [];
		this.#notices = [];
		this.#end = 0;
	}

	#take(bytes: Buffer): number {
		let from = 0;
		/** Lines that are no entries and have nothing behind them yet: a crash may have left them. */
		let damaged: number[] = [];
		for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
			const value = parsed(bytes.toString("utf8", from, to));
			const start = from;
			from = to + 1;
			if (value === undefined) {
				damaged.push(this.#end + start);
				continue;
			}
			for (const at of damaged) this.#notices.push(`The journal's line at byte ${at} does not read and was left out.`);
			damaged = [];
			this.#add(value);
			this.#end += from;
			bytes = bytes.subarray(from);
			from = 0;
		}
		return bytes.length;
	}

	#add(value: JsonValue): void {
		if (isEntry(value)) this.#entries.push(value as unknown as JournalEntry);
		else this.#notices.push("The journal holds an entry of a kind that this version does not know; it was left out.");
	}
}

function parsed(line: string): JsonValue | undefined {
	try {
		return JSON.parse(line) as JsonValue;
	} catch {
		return undefined;
	}
}

function isEntry(value: JsonValue): boolean {
	if (!isObject(value) || typeof value.type !== "string" || typeof value.transaction !== "string") return false;
	return TYPES.has(value.type) && (value.type !== "start" || value.version === VERSION);
}
