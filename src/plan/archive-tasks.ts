/** Tasks and results of `workers/archive.ts`. Each may run in any thread; a long one ends with `cancelled` soon after its `stop` was set. */
import type { Landmark } from "../search/landmark.js";
import type { AtomPlaces } from "../search/places.js";
import type { RowSource } from "../session/rows.js";
import type { ArchiveHeader } from "./archive-file.js";

/** Shared memory; anything but 0 in it ends the task. */
export type StopFlag = Int32Array<SharedArrayBuffer>;

export interface WriteArchive {
	op: "write";
	from: RowSource;
	/** The rows of the range, atom by atom. */
	atoms: AtomPlaces;
	header: ArchiveHeader;
	folder: string;
	stop?: StopFlag;
}

/** `bytes`: of the compressed file. */
export interface WrittenArchive {
	file: string;
	bytes: number;
}

export interface ListArchives {
	op: "list";
	folder: string;
}

/** Archives of a folder, by number; of those that are damaged the block and a sentence. */
export interface ArchiveList {
	headers: ArchiveHeader[];
	damaged: { block: string; message: string }[];
}

/** `budget`: UTF-16 units of the text at most. */
export interface ReadArchive {
	op: "read";
	folder: string;
	block: string;
	budget: number;
	stop?: StopFlag;
}
export type ReadResult = Landmark;

/** Puts an archive of one folder into another, under the same id. `linked`: both are one file now. */
export interface CopyArchive {
	op: "copy";
	from: string;
	to: string;
	block: string;
	stop?: StopFlag;
}
export interface CopyResult {
	file: string;
	linked: boolean;
}

export type ArchiveTask = WriteArchive | ListArchives | ReadArchive | CopyArchive;
export type ArchiveResult = WrittenArchive | ArchiveList | ReadResult | CopyResult;
