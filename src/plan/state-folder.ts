/**
 * Which folder belongs to which session file. A session has one folder for all files with its id, and in it a *slot* for each file:
 *
 *     <root>/<format>/<name of the session>/archive/    originals of blocks
 *     <root>/<format>/<name of the session>/<slot>/     where.json, the journal and the lock of one file
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { MidcompactError } from "../errors.js";
import { FORMATS, type FormatName } from "../session/record.js";
import { guarded } from "./guard.js";
import { type Place, pickSlot, type SlotPlace, standsAt } from "./slot-match.js";
import { isMissing, makeFolder, safeName, stateUnavailable, systemCode } from "./state-root.js";

export interface SessionFile {
	format: FormatName;
	/** The session's id as the file says it: it may be anything. */
	id: string;
	path: string;
}

export interface Slot {
	format: FormatName;
	/** Folder of the slot: where.json, journal and lock of one file. */
	folder: string;
	/** Folder of originals, one for all files with this session id. It need not be there. */
	archive: string;
	/** From 1 on, in the order in which the slots were made. */
	number: number;
	/** Real path at which the file was seen last; null where the record of it is damaged. */
	path: string | null;
}

/** Takes what was found damaged, in a sentence. */
export type Say = (notice: string) => void;
const silent: Say = () => {};

/**
 * The slot of a session file, null for none; nothing is created. What is known of the file's place is brought up to date where the folder can be written.
 * Errors: `unreadable` when the file is not there; `state_unavailable`.
 */
export async function findSlot(root: string, file: SessionFile, say: Say = silent): Promise<Slot | null> {
	const session = sessionFolder(root, file);
	const here = await placeOf(file.path);
	const found = await match(session, file.format, here, say);
	if (!found) return null;
	if (!found.moved) return found.slot;
	try {
		// Two files may claim a slot at once: the first one has it.
		return await guarded(session, async () => settle(await match(session, file.format, here, silent), here));
	} catch (refused) {
		if (refused instanceof MidcompactError && refused.code === "state_unavailable") return found.slot;
		throw refused;
	}
}

/**
 * The slot of a session file, made when there is none. Two processes that ask for one file get one slot, those that ask for two files get two. Errors: `unreadable`
 * when the file is not there; `state_unavailable`; `locked` when another process does not end making one.
 */
export async function makeSlot(root: string, file: SessionFile, say: Say = silent): Promise<Slot> {
	const session = sessionFolder(root, file);
	const here = await placeOf(file.path);
	const known = await match(session, file.format, here, say);
	if (known && !known.moved) return known.slot;
	await makeFolder(session);
	return guarded(session, async () => {
		const slot = await settle(await match(session, file.format, here, silent), here);
		return slot ?? newSlot(session, file.format, here);
	});
}

/** All slots of a session id, in the order in which they were made. Errors: `state_unavailable`. */
export async function slotsOf(root: string, format: FormatName, id: string, say: Say = silent): Promise<Slot[]> {
	return (await readSlots(sessionFolder(root, { format, id }), format, say)).map(({ slot }) => slot);
}

/** The slots of all sessions whose file was seen last at this path, whether or not a file stands there now. Errors: `state_unavailable`. */
export async function findByPath(root: string, path: string, say: Say = silent): Promise<Slot[]> {
	const wanted = await realPathOf(resolve(path));
	const found: Slot[] = [];
	for (const format of FORMATS) {
		for (const name of await namesIn(join(root, format))) {
			const slots = await readSlots(join(root, format, name), format, say);
			found.push(...slots.map(({ slot }) => slot).filter((slot) => slot.path === wanted));
		}
	}
	return found;
}

/** The folder of originals of all files with a session id; it need not be there. */
export function archiveFolder(root: string, session: Pick<SessionFile, "format" | "id">): string {
	return join(sessionFolder(root, session), "archive");
}

function sessionFolder(root: string, { format, id }: Pick<SessionFile, "format" | "id">): string {
	return join(root, format, safeName(id));
}

interface KnownSlot extends SlotPlace {
	slot: Slot;
}

interface Match {
	slot: Slot;
	/** The record of the place is not what it is now. */
	moved: boolean;
}

async function match(session: string, format: FormatName, here: Place, say: Say): Promise<Match | null> {
	const picked = await pickSlot(await readSlots(session, format, say), here);
	return picked && { slot: picked.known.slot, moved: picked.moved };
}

/** Writes down where the file of a slot is now. */
async function settle(found: Match | null, here: Place): Promise<Slot | null> {
	if (!found?.moved) return found?.slot ?? null;
	await writePlace(found.slot.folder, here);
	return { ...found.slot, path: here.path };
}

async function newSlot(session: string, format: FormatName, here: Place): Promise<Slot> {
	const prepared = join(session, `slot.${randomUUID()}`);
	await makeFolder(prepared);
	try {
		await writePlace(prepared, here);
		for (let number = 1 + Math.max(0, ...(await slotNumbers(session))); ; number++) {
			const slot = slotAt(session, format, number, here.path);
			// A folder with something in it is never replaced by renaming.
			if (await renamed(prepared, slot.folder)) return slot;
		}
	} catch (cause) {
		await rm(prepared, { recursive: true, force: true }).catch(() => {});
		throw stateUnavailable(`No folder for the plan can be made in ${session}`, cause);
	}
}

async function renamed(from: string, to: string): Promise<boolean> {
	try {
		await rename(from, to);
		return true;
	} catch (refused) {
		if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(systemCode(refused) ?? "")) return false;
		throw refused;
	}
}

function slotAt(session: string, format: FormatName, number: number, path: string | null): Slot {
	return { format, folder: join(session, String(number)), archive: join(session, "archive"), number, path };
}

async function writePlace(folder: string, place: Place): Promise<void> {
	const path = join(folder, "where.json");
	try {
		await writeFileAtomic(path, `${JSON.stringify(place)}\n`, { mode: 0o600 });
	} catch (cause) {
		throw stateUnavailable(`The file ${path} cannot be written`, cause);
	}
}

async function readSlots(session: string, format: FormatName, say: Say): Promise<KnownSlot[]> {
	const slots: KnownSlot[] = [];
	for (const number of await slotNumbers(session)) {
		const { folder } = slotAt(session, format, number, null);
		const { place, seen } = await readPlace(folder);
		if (!place)
			say(
				`The file ${join(folder, "where.json")} is damaged: which session file the plan there belongs to is unknown.`,
			);
		slots.push({ slot: slotAt(session, format, number, place?.path ?? null), place, seen });
	}
	return slots;
}

async function slotNumbers(session: string): Promise<number[]> {
	const names = await namesIn(session);
	return names
		.filter((name) => /^[1-9]\d{0,8}$/.test(name))
		.map(Number)
		.sort((a, b) => a - b);
}

async function namesIn(folder: string): Promise<string[]> {
	try {
		return await readdir(folder);
	} catch (cause) {
		if (isMissing(cause)) return [];
		throw stateUnavailable(`The folder ${folder} cannot be read`, cause);
	}
}

async function readPlace(folder: string): Promise<{ place: Place | null; seen: number }> {
	const path = join(folder, "where.json");
	try {
		const text = await readFile(path, "utf8");
		return { place: parsePlace(text), seen: (await stat(path)).mtimeMs };
	} catch (cause) {
		if (isMissing(cause)) return { place: null, seen: 0 };
		throw stateUnavailable(`The file ${path} cannot be read`, cause);
	}
}

function parsePlace(text: string): Place | null {
	try {
		const { path, device, inode, born } = JSON.parse(text) as { [name in keyof Place]?: unknown };
		const isWhole = [path, device, inode, born].every((value) => typeof value === "string");
		return isWhole ? ({ path, device, inode, born } as Place) : null;
	} catch {
		return null;
	}
}

async function placeOf(path: string): Promise<Place> {
	try {
		const real = await realpath(path);
		const place = await standsAt(real);
		if (place) return place;
	} catch (cause) {
		throw new MidcompactError("unreadable", `The session file ${path} cannot be found.`, undefined, cause);
	}
	throw new MidcompactError("unreadable", `The session file ${path} cannot be found.`);
}

/** The path as it would be without symbolic links, although its end may not be there. */
async function realPathOf(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		return dirname(path) === path ? path : join(await realPathOf(dirname(path)), basename(path));
	}
}
