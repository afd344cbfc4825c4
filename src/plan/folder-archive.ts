/** The archives of one session, in a folder beside its journal. */

import { MidcompactError } from "../errors.js";
import type { AtomPlaces } from "../search/places.js";
import type { RowSource } from "../session/rows.js";
import type { BlockArchive, BlockFacts } from "./archive.js";
import { type ArchiveHeader, blockNumber, reserve } from "./archive-file.js";
import type { ArchiveList, ArchiveTask, CopyResult, ReadResult, StopFlag, WrittenArchive } from "./archive-tasks.js";

/** Runs a task of `workers/archive.ts`. */
export type RunArchive = <T>(task: ArchiveTask, signal?: AbortSignal) => Promise<T>;

export class FolderArchive implements BlockArchive {
	readonly folder: string;
	readonly #run: RunArchive;

	constructor(folder: string, run: RunArchive) {
		this.folder = folder;
		this.#run = run;
	}

	/** Blocks whose archive can be read, by number; none where there is no folder. Errors: `state_unavailable`. */
	async list(): Promise<BlockFacts[]> {
		return (await this.headers()).headers.map(factsOf);
	}

	/** The same with all that their headers say, and what is damaged. Errors: `state_unavailable`. */
	headers(): Promise<ArchiveList> {
		return this.#run<ArchiveList>({ op: "list", folder: this.folder });
	}

	/** Errors: `unknown_block` for what is no block id, `archive_damaged` (missing too), `cancelled`. */
	async read(id: string, budget: number, signal?: AbortSignal): Promise<{ text: string; omitted: number }> {
		if (blockNumber(id) === 0) throw new MidcompactError("unknown_block", "There is no block of that id.");
		return heeding(signal, (stop) =>
			this.#run<ReadResult>({ op: "read", folder: this.folder, block: id, budget, stop }, signal),
		);
	}

	/** Claims the next block id, `atLeast` or above, for good. Errors: `state_unavailable`. */
	reserve(atLeast = 1): Promise<string> {
		return reserve(this.folder, atLeast);
	}

	/**
	 * Keeps the originals of a block; when it resolves, they outlive a crash. Errors: `state_unavailable`, `output_exists` when the block is archived already, `unreadable`,
	 * `cancelled`; and then nothing is left.
	 */
	write(
		header: ArchiveHeader,
		{ from, atoms }: { from: RowSource; atoms: AtomPlaces },
		signal?: AbortSignal,
	): Promise<WrittenArchive> {
		return heeding(signal, (stop) =>
			// The signal goes by the flag alone: what the task leaves behind is known only when it has ended.
			this.#run<WrittenArchive>({ op: "write", from, atoms, header, folder: this.folder, stop }),
		);
	}

	/** Puts a block of this folder into another one as well. Errors: `archive_damaged` when it is missing, `output_exists` for another block of that id, `state_unavailable`, `cancelled`. */
	copyTo(folder: string, block: string, signal?: AbortSignal): Promise<CopyResult> {
		return heeding(signal, (stop) => this.#run<CopyResult>({ op: "copy", from: this.folder, to: folder, block, stop }));
	}
}

/** What recall says of an archived block. */
function factsOf({ block, topic, summary, atoms, chars, images, created_at }: ArchiveHeader): BlockFacts {
	return { id: block, topic, summary, atoms, chars, images, createdAt: created_at, archived: true };
}

/** Lets a signal reach a task that is on its way in another thread. */
async function heeding<T>(signal: AbortSignal | undefined, work: (stop?: StopFlag) => Promise<T>): Promise<T> {
	if (!signal) return work();
	const stop = new Int32Array(new SharedArrayBuffer(4));
	const abort = () => Atomics.store(stop, 0, 1);
	signal.addEventListener("abort", abort, { once: true });
	if (signal.aborted) abort();
	try {
		return await work(stop);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
