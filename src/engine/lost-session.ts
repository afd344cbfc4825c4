/** Originals of a session whose file is gone: the state folder still knows what was committed from it. */

import type { BlockArchive } from "../plan/archive.js";
import { findByPath, type Slot, slotsOf } from "../plan/state-folder.js";
import { stateRoot } from "../plan/state-root.js";
import { FORMATS } from "../session/record.js";
import { archiveIn, deskIn } from "./plan-home.js";
import { WorkerPool } from "./pool.js";
import { marksOf, SessionArchive } from "./session-archive.js";

/**
 * Calls `work` with the blocks that were committed from a session, which `name` names by the path at which it was seen last or by its id; false when nothing is known of it, and then nothing
 * was called. Errors: `state_unavailable`, those of `work`.
 */
export async function withArchiveOf(name: string, work: (archive: BlockArchive) => Promise<void>): Promise<boolean> {
	const slot = await slotNamed(stateRoot(), name);
	if (!slot) return false;
	const pool = new WorkerPool(1);
	try {
		const { committed, transactions } = await deskIn(slot.folder).ledger();
		const archive = archiveIn(pool, slot.archive);
		// Blocks that stood in the session were handed down with it: they come from transactions of other sessions.
		const { headers } = await archive.headers();
		const handedDown = headers.filter(({ transaction }) => !transactions.includes(transaction));
		const stood = handedDown.map(({ block, topic, summary }) => ({ id: block, topic, summary }));
		await work(new SessionArchive(archive, async () => [...stood, ...marksOf(committed)]));
		return true;
	} finally {
		await pool.close();
	}
}

async function slotNamed(root: string, name: string): Promise<Slot | null> {
	const [byPath] = await findByPath(root, name);
	if (byPath) return byPath;
	for (const format of FORMATS) {
		const [byId] = await slotsOf(root, format, name);
		if (byId) return byId;
	}
	return null;
}
