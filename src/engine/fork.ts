/** Writing a fork: the format says of which pieces it is made, workers put them into a file, piece after piece. */
import type { ForkResult, ForkTask } from "../../workers/fork.js";
import type { ForkPiece, ForkRequest } from "../session/fork.js";
import { WRITERS } from "../session/formats/writers.js";
import type { RowSource } from "../session/rows.js";
import type { WorkerPool } from "./pool.js";

/** Pieces that cross to a worker at once: of usual records they are written within some tens of ms; the thread is busy for longer where they are large. */
const PIECES = 1_000;

/** What stands in the file. `cleaned`: records from which something was taken out; `dropped`: records of which nothing was left. */
export interface WrittenFork {
	bytes: number;
	cleaned: number;
	dropped: number;
}

/** Writes a fork into a file that exists and is empty. Errors: `unreadable`, `cancelled`, and those of the system as `internal`. */
export async function writeFork(
	pool: WorkerPool,
	source: RowSource,
	request: ForkRequest,
	target: string,
	signal?: AbortSignal,
): Promise<WrittenFork> {
	const writer = WRITERS[source.format];
	const shape = writer.shape(request.table);
	const sum: ForkResult = { at: 0, lines: 0, cleaned: 0, dropped: 0 };
	const write = async (pieces: readonly ForkPiece[]) => {
		const task: ForkTask = { from: source, target, shape, at: sum.at, lines: sum.lines, pieces };
		const { at, lines, cleaned, dropped } = await pool.run<ForkResult>("fork", task, signal);
		sum.at = at;
		sum.lines = lines;
		sum.cleaned += cleaned;
		sum.dropped += dropped;
	};
	let batch: ForkPiece[] = [];
	for (const piece of writer.pieces(request)) {
		batch.push(piece);
		if (batch.length < PIECES) continue;
		await write(batch);
		batch = [];
	}
	if (batch.length > 0) await write(batch);
	return { bytes: sum.at, cleaned: sum.cleaned, dropped: sum.dropped };
}
