/** Content hashes of atoms: what a plan was made on, and whether it still is. */
import { createHash } from "node:crypto";
import type { HashTask } from "../../workers/hash.js";
import type { AtomRows } from "../search/places.js";
import { placesOf } from "../session/places.js";
import type { RowSource } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";
import { batchesOf } from "./batches.js";
import { inOrder, type WorkerPool } from "./pool.js";

/** SHA-256 (hex) over the hashes of all content rows of the atoms `start … end`, both included. Errors: `unreadable`, `cancelled`. */
export async function hashAtoms(
	pool: WorkerPool,
	source: RowSource,
	table: RecordTable,
	{ rows, start: rowStart }: AtomRows,
	{ start, end }: { start: number; end: number },
	signal: AbortSignal,
): Promise<string> {
	const sum = createHash("sha256");
	await inOrder(
		batchesOf(table, rows.subarray(rowStart[start], rowStart[end + 1])),
		pool.width,
		(batch) => {
			const task: HashTask = { from: source, places: placesOf(table, batch) };
			return pool.run<Uint8Array>("hash", task, signal);
		},
		(hashes) => {
			sum.update(hashes);
		},
	);
	return sum.digest("hex");
}
