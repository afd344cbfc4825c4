/** Where the plans and originals of a session file are kept. */
import { createHash, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { HashTask } from "../../workers/hash.js";
import type { ArchiveTask } from "../plan/archive-tasks.js";
import { Desk } from "../plan/desk.js";
import { fileLock } from "../plan/file-lock.js";
import { FolderArchive } from "../plan/folder-archive.js";
import { FileJournal } from "../plan/journal.js";
import { archiveFolder, findSlot, makeSlot, type SessionFile, type Slot } from "../plan/state-folder.js";
import { placesOf } from "../session/places.js";
import type { FormatName } from "../session/record.js";
import type { Loaded } from "./load.js";
import type { WorkerPool } from "./pool.js";

/** Messages at the start of a session without an id that tell it from others. */
const TELLING = 2;
const TELLING_DIGITS = 24;

export class PlanHome {
	readonly root: string;
	readonly file: SessionFile;
	/** Findings about the state folder, in sentences. */
	readonly notices: string[] = [];
	#slot: Slot | null;
	#desk: Desk | null = null;

	private constructor(root: string, file: SessionFile, slot: Slot | null) {
		this.root = root;
		this.file = file;
		this.#slot = slot;
	}

	/** Looks the state of a session file up; creates nothing. Errors: `state_unavailable`, `unreadable`. */
	static async find(root: string, { format, id, path }: SessionFile): Promise<PlanHome> {
		const notices: string[] = [];
		const file = { format: stateFormat(format), id, path };
		const home = new PlanHome(root, file, await findSlot(root, file, (notice) => notices.push(notice)));
		home.notices.push(...notices);
		return home;
	}

	/** The desk of its plans; null while nothing was ever planned. */
	get desk(): Desk | null {
		if (this.#slot && !this.#desk) this.#desk = deskIn(this.#slot.folder);
		return this.#desk;
	}

	/** The same, made where there is none. Errors: `state_unavailable`, `locked`. */
	async makeDesk(): Promise<Desk> {
		this.#slot ??= await makeSlot(this.root, this.file);
		this.#desk ??= deskIn(this.#slot.folder);
		return this.#desk;
	}

	/** Originals of blocks; the folder need not be there. */
	archive(pool: WorkerPool): FolderArchive {
		return archiveIn(pool, archiveFolder(this.root, this.file));
	}
}

/**
 * The format whose folder keeps the state of a session: an array of nothing but texts is of both array formats (RULINGS 23), as the fork of an Anthropic array may be, so both share one.
 */
export function stateFormat(format: FormatName): FormatName {
	return format === "anthropic" ? "openai-chat" : format;
}

/** The desk of the plans in a slot's folder. */
export function deskIn(folder: string): Desk {
	return new Desk({
		store: new FileJournal(join(folder, "journal.jsonl")),
		lock: fileLock(folder),
		now: () => new Date(),
		newId: randomUUID,
		stands: (path, bytes) =>
			stat(path).then(
				(found) => found.isFile() && found.size >= bytes,
				() => false,
			),
	});
}

export function archiveIn(pool: WorkerPool, folder: string): FolderArchive {
	return new FolderArchive(folder, (task: ArchiveTask, signal) => pool.run("archive", task, signal));
}

/** The id that a session is kept under: its own, else a hash of its first messages. Errors: `unreadable`, `cancelled`. */
export async function sessionKey(
	pool: WorkerPool,
	{ session, table, sources, format }: Pick<Loaded, "session" | "table" | "sources"> & { format: FormatName },
	signal: AbortSignal,
): Promise<string> {
	if (session !== null) return session;
	const rows: number[] = [];
	for (let row = 0; row < table.rows && rows.length < TELLING; row++)
		if (table.roleOf(row) !== null && table.record.at(row) >= 0) rows.push(row);
	const task: HashTask = { from: { sources, format }, places: placesOf(table, rows) };
	const hashes = await pool.run<Uint8Array>("hash", task, signal);
	return `first-${createHash("sha256").update(hashes).digest("hex").slice(0, TELLING_DIGITS)}`;
}
