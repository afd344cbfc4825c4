/** The blocks that a session knows: those that stand in it, and those that were made from it; their originals from the archive. */
import { MidcompactError } from "../errors.js";

import type { BlockArchive, BlockFacts } from "../plan/archive.js";
import { blockNumber } from "../plan/archive-file.js";
import { parseBlockText } from "../plan/block-text.js";
import type { FolderArchive } from "../plan/folder-archive.js";
import type { ProjectedMessage } from "../plan/projected-message.js";
import type { Committed } from "../plan/transaction.js";

/** A block by what stands of it outside the archive. */
export interface BlockMark {
	id: string;
	topic: string;
	summary: string;
}

export class SessionArchive implements BlockArchive {
	readonly #folder: FolderArchive;
	readonly #marks: () => Promise<BlockMark[]>;
	readonly #signal: AbortSignal | undefined;

	/** `marks`: blocks that stand in the session or were committed from it. */
	constructor(folder: FolderArchive, marks: () => Promise<BlockMark[]>, signal?: AbortSignal) {
		this.#folder = folder;
		this.#marks = marks;
		this.#signal = signal;
	}

	async list(): Promise<BlockFacts[]> {
		const archived = new Map((await this.#folder.list()).map((facts) => [facts.id, facts]));
		const blocks = new Map<string, BlockFacts>();
		for (const mark of await this.#marks()) blocks.set(mark.id, archived.get(mark.id) ?? withoutArchive(mark));
		return [...blocks.values()].sort((a, b) => blockNumber(a.id) - blockNumber(b.id));
	}

	async read(id: string, budget: number): Promise<{ text: string; omitted: number }> {
		try {
			return await this.#folder.read(id, budget, this.#signal);
		} catch (thrown) {
			if (!(thrown instanceof MidcompactError) || thrown.code !== "archive_damaged" || (await this.#knows(id)))
				throw thrown;
			throw new MidcompactError(
				"unknown_block",
				`There is no block ${id} in this session, and none was committed from it.`,
			);
		}
	}

	/** Whether there ever was such a block here. */
	async #knows(id: string): Promise<boolean> {
		if ((await this.#marks()).some((mark) => mark.id === id)) return true;
		const { headers, damaged } = await this.#folder.headers();
		return headers.some(({ block }) => block === id) || damaged.some(({ block }) => block === id);
	}
}

function withoutArchive({ id, topic, summary }: BlockMark): BlockFacts {
	return { id, topic, summary, atoms: null, chars: null, images: null, createdAt: null, archived: false };
}

/** The marks in messages of block atoms. */
export function marksIn(messages: readonly ProjectedMessage[]): BlockMark[] {
	return messages.flatMap(({ parts: [part] }) => {
		const block = part?.type === "text" ? parseBlockText(part.text) : null;
		return block && blockNumber(block.block) > 0
			? [{ id: block.block, topic: block.topic, summary: block.summary }]
			: [];
	});
}

/** The blocks of commits. */
export function marksOf(committed: readonly Committed[]): BlockMark[] {
	return committed.flatMap(({ blocks }) => blocks.map(({ id, topic, summary }) => ({ id, topic, summary })));
}
