/** Worker: the originals of committed blocks, one compressed and hashed file for each. */
import { closeSync, linkSync, mkdirSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { asMidcompactError, encodeThreadError, MidcompactError } from "../src/errors.js";
import {
	archiveDamaged,
	archivedBlocks,
	archivePath,
	claimPath,
	FILE_MODE,
	FOLDER_MODE,
	folderUnavailable,
} from "../src/plan/archive-file.js";
import { MemberReader, MemberWriter } from "../src/plan/archive-members.js";
import { archivedRows, readHeader, writeContent } from "../src/plan/archive-records.js";
import type {
	ArchiveList,
	ArchiveResult,
	ArchiveTask,
	CopyArchive,
	CopyResult,
	ReadArchive,
	ReadResult,
	StopFlag,
	WriteArchive,
	WrittenArchive,
} from "../src/plan/archive-tasks.js";
import { renderBlock } from "../src/plan/block-rendering.js";
import { NewFile, removeAbandoned, syncFolder } from "../src/plan/new-file.js";

/** Bytes that are copied at once. */
const COPY = 1 << 20;
/** Rows that are read between two turns of the thread's event loop. */
const SEVERAL = 256;

/**
 * Errors: `state_unavailable` when the folder cannot be written or read; `output_exists` when a block of that id is archived already; `archive_damaged`, `unknown_block` for what is no block
 * id; `unreadable` when the session changed; `cancelled`. Whatever fails leaves no file behind.
 */
export default async function archive(task: ArchiveTask): Promise<ArchiveResult> {
	try {
		if (task.op === "write") return write(task);
		if (task.op === "list") return list(task.folder);
		if (task.op === "copy") return copy(task);
		return await read(task);
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

function write({ from, atoms, header, folder, stop }: WriteArchive): WrittenArchive {
	const file = archivePath(folder, header.block);
	return inFolder(folder, () => {
		mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
		removeAbandoned(folder, Date.now());
		const bytes = publish(header.block, file, (put) => {
			const members = new MemberWriter(put);
			writeContent(members, header, from, atoms, () => heed(stop));
			members.end();
		});
		return { file, bytes };
	});
}

/** Writes a file and gives it its name; answers its bytes. */
function publish(block: string, target: string, fill: (put: (bytes: Uint8Array) => void) => void): number {
	const file = new NewFile(target);
	try {
		fill((bytes) => file.write(bytes));
		file.publish();
		return file.bytes;
	} catch (cause) {
		throw isCode(cause, "EEXIST") ? taken(block, target) : cause;
	} finally {
		file.discard();
	}
}

function list(folder: string): ArchiveList {
	const found: ArchiveList = { headers: [], damaged: [] };
	for (const block of archivedBlocks(namesIn(folder))) {
		try {
			found.headers.push(headerOf(folder, block));
		} catch (thrown) {
			found.damaged.push({ block, message: asMidcompactError(thrown).message });
		}
	}
	return found;
}

function headerOf(folder: string, block: string): ArchiveList["headers"][number] {
	const reader = new MemberReader(archivePath(folder, block), block);
	try {
		return readHeader(reader, block).header;
	} finally {
		reader.close();
	}
}

/** Nothing is given back before the whole archive is known to be what was written. */
async function read({ folder, block, budget, stop }: ReadArchive): Promise<ReadResult> {
	const reader = new MemberReader(archivePath(folder, block), block);
	try {
		reader.verify(() => heed(stop));
		const start = readHeader(reader, block);
		return await renderBlock(
			async function* (wanted) {
				let rows = 0;
				for await (const row of archivedRows(reader, start, wanted)) {
					if (rows++ % SEVERAL === 0) heed(stop);
					yield row;
				}
			},
			start.header.atoms,
			budget,
		);
	} finally {
		reader.close();
	}
}

/** A block that stands in the other folder already is left there when it is the same file, or one of the same bytes. */
function copy({ from, to, block, stop }: CopyArchive): CopyResult {
	const source = archivePath(from, block);
	const file = archivePath(to, block);
	const bytes = sizeOf(source, block);
	// A damaged one is said now, while the other copy may still be mended.
	const reader = new MemberReader(source, block);
	try {
		reader.verify(() => heed(stop));
	} finally {
		reader.close();
	}
	return inFolder(to, () => {
		mkdirSync(to, { recursive: true, mode: FOLDER_MODE });
		claim(claimPath(to, block));
		try {
			linkSync(source, file);
			syncFolder(to);
			return { file, linked: true };
		} catch (cause) {
			if (isCode(cause, "EEXIST")) {
				if (!sameBytes(source, file)) throw taken(block, file);
				return { file, linked: statSync(source).ino === statSync(file).ino };
			}
		}
		// Another file system, or one without hard links.
		publish(block, file, (put) => {
			for (const part of pieces(source, bytes, stop)) put(part);
		});
		return { file, linked: false };
	});
}

function sizeOf(path: string, block: string): number {
	try {
		return statSync(path).size;
	} catch (cause) {
		throw archiveDamaged(block, "the archive is missing", cause);
	}
}

/** Takes the id in a folder that got the block from elsewhere. */
function claim(path: string): void {
	try {
		closeSync(openSync(path, "wx", FILE_MODE));
	} catch (cause) {
		if (!isCode(cause, "EEXIST")) throw cause;
	}
}

function sameBytes(one: string, other: string): boolean {
	const [a, b] = [statSync(one), statSync(other)];
	if (a.ino === b.ino && a.dev === b.dev) return true;
	if (a.size !== b.size) return false;
	const others = pieces(other, b.size);
	for (const part of pieces(one, a.size)) {
		const next = others.next();
		if (next.done || !part.equals(next.value)) return false;
	}
	return true;
}

/** A file piece by piece; each is a buffer of its own. */
function* pieces(path: string, size: number, stop?: StopFlag): Generator<Buffer, undefined> {
	const fd = openSync(path, "r");
	try {
		for (let at = 0; at < size; ) {
			heed(stop);
			const buffer = Buffer.allocUnsafe(Math.min(COPY, size - at));
			const n = readSync(fd, buffer, 0, buffer.length, at);
			if (n === 0) return;
			at += n;
			yield buffer.subarray(0, n);
		}
	} finally {
		closeSync(fd);
	}
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch (cause) {
		if (isCode(cause, "ENOENT")) return [];
		throw folderUnavailable(folder, cause);
	}
}

function inFolder<T>(folder: string, work: () => T): T {
	try {
		return work();
	} catch (cause) {
		throw folderUnavailable(folder, cause);
	}
}

function taken(block: string, file: string): MidcompactError {
	return new MidcompactError("output_exists", `${block} is archived already, in ${file}.`);
}

function heed(stop: StopFlag | undefined): void {
	if (stop && Atomics.load(stop, 0) !== 0) throw new MidcompactError("cancelled", "The work was cancelled.");
}

function isCode(thrown: unknown, code: string): boolean {
	return thrown instanceof Error && (thrown as NodeJS.ErrnoException).code === code;
}
