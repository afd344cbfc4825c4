/** The folder of a session's archives: names in it, what the first line of an archive says, and block ids that are claimed for good. */
import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { MidcompactError } from "../errors.js";
import { FORMATS, type FormatName, isObject, type JsonValue } from "../session/record.js";

/** What an archive says of its block. */
export interface ArchiveHeader {
	version: 1;
	/** `c0001`… */
	block: string;
	/** Transaction and range that the block was committed from: an archive without a commit in the journal is of one that never finished. */
	transaction: string;
	range: string;
	topic: string;
	summary: string;
	/** ISO date. */
	created_at: string;
	format: FormatName;
	/** Session that the originals stood in: its id where the format has one, its file unless it was in memory. */
	session: string | null;
	path: string | null;
	/** Entry ids of the first and the last message. */
	first_entry: string;
	last_entry: string;
	atoms: number;
	chars: number;
	images: number;
}

/** Only the user reads what is kept of a session. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

const NAME = /^(c\d{4,15})\.(?:gz|claimed)$/;
const TEXTS = [
	"transaction",
	"range",
	"topic",
	"summary",
	"created_at",
	"first_entry",
	"last_entry",
] as const satisfies readonly (keyof ArchiveHeader)[];
const COUNTS = ["atoms", "chars", "images"] as const satisfies readonly (keyof ArchiveHeader)[];

/** `c0001` for 1. */
export function blockId(number: number): string {
	return `c${String(number).padStart(4, "0")}`;
}

/** The number in a block id; 0 for anything that is none. */
export function blockNumber(block: string): number {
	const number = /^c\d{4,15}$/.test(block) ? Number(block.slice(1)) : 0;
	return blockId(number) === block ? number : 0;
}

/** File of a block's archive. Errors: `unknown_block` for what is no block id, so that no name leads out of the folder. */
export function archivePath(folder: string, block: string): string {
	return join(folder, `${checkedId(block)}.gz`);
}

/** Empty file by which a block id is taken for ever, whatever becomes of the commit. */
export function claimPath(folder: string, block: string): string {
	return join(folder, `${checkedId(block)}.claimed`);
}

/** Blocks with an archive among the names of a folder, by number. */
export function archivedBlocks(names: readonly string[]): string[] {
	const blocks = names.filter((name) => name.endsWith(".gz") && numberIn(name) > 0).map((name) => name.slice(0, -3));
	return blocks.sort((a, b) => blockNumber(a) - blockNumber(b));
}

/**
 * Claims the next block id of a folder, `atLeast` (≥ 1) or above and above all that are archived or claimed: no other call gets it, in this process or another. Creates the folder.
 * Errors: `state_unavailable`.
 */
export async function reserve(folder: string, atLeast: number): Promise<string> {
	try {
		await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
		let number = Math.max(1, atLeast);
		for (const name of await readdir(folder)) number = Math.max(number, numberIn(name) + 1);
		for (; ; number++) {
			const block = blockId(number);
			if (await claimed(claimPath(folder, block))) return block;
		}
	} catch (cause) {
		throw folderUnavailable(folder, cause);
	}
}

/** False when somebody else has it. */
async function claimed(path: string): Promise<boolean> {
	try {
		await (await open(path, "wx", FILE_MODE)).close();
		return true;
	} catch (cause) {
		if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw cause;
	}
}

/** A header as it was read; null for anything that is none. */
export function asHeader(value: JsonValue): ArchiveHeader | null {
	if (!isObject(value) || value.version !== 1) return null;
	const { block, format, session, path } = value;
	const known =
		typeof block === "string" &&
		blockNumber(block) > 0 &&
		FORMATS.some((name) => name === format) &&
		(session === null || typeof session === "string") &&
		(path === null || typeof path === "string") &&
		TEXTS.every((key) => typeof value[key] === "string") &&
		COUNTS.every((key) => Number.isSafeInteger(value[key]) && Number(value[key]) >= 0);
	return known ? (value as unknown as ArchiveHeader) : null;
}

/** A failure of the system in an archive folder. */
export function folderUnavailable(folder: string, cause: unknown): MidcompactError {
	if (cause instanceof MidcompactError) return cause;
	const reason = cause instanceof Error ? cause.message.split(",")[0] : String(cause);
	return new MidcompactError(
		"state_unavailable",
		`The originals of blocks cannot be kept in ${folder}: ${reason}.`,
		undefined,
		cause,
	);
}

export function archiveDamaged(block: string, why: string, cause?: unknown): MidcompactError {
	return new MidcompactError(
		"archive_damaged",
		`The archived originals of ${block} cannot be given back: ${why}.`,
		undefined,
		cause,
	);
}

function numberIn(name: string): number {
	const found = NAME.exec(name);
	return found ? blockNumber(found[1]) : 0;
}

function checkedId(block: string): string {
	if (blockNumber(block) === 0) throw new MidcompactError("unknown_block", `${shown(block)} is no block id.`);
	return block;
}

function shown(text: string): string {
	return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
