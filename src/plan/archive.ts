/** Originals of committed blocks, as recall reads them. */

export interface BlockFacts {
	/** `c0001`… */
	id: string;
	topic: string;
	summary: string;
	/** Null where only the block's message is left and nothing is archived. */
	atoms: number | null;
	chars: number | null;
	images: number | null;
	/** ISO date. */
	createdAt: string | null;
	archived: boolean;
}

export interface BlockArchive {
	/** Blocks of this session and of commits made from it, by id. Errors: `state_unavailable`. */
	list(): Promise<BlockFacts[]>;
	/**
	 * The readable originals of a block within `budget` UTF-16 units, a landmark when they do not fit. `omitted`: code points not shown. Errors: `unknown_block`;
	 * `archive_damaged` when the archive is missing or not what was written.
	 */
	read(id: string, budget: number): Promise<{ text: string; omitted: number }>;
}
