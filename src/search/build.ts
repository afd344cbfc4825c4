/** Building the trigram index of a session in the background, batch after batch. */
import { breathe } from "../session/breathe.js";
import { BATCH_BYTES, type PagePlan } from "./pages.js";
import type { PagesToAdd, ShardState } from "./tasks.js";

export interface BuildPorts {
	/** Source bytes of an atom, as the pages were planned with. */
	bytes: Float64Array;
	/** Pages `first … end - 1` as a task's columns. */
	pagesToAdd(first: number, end: number): PagesToAdd;
	/** Hands pages to the thread of the index. Tasks are taken in the order in which they are given. */
	add(pages: PagesToAdd): Promise<ShardState>;
	/** Called after every batch with the fraction 0-1 of the pages that are done. */
	progress?(done: number, state: ShardState): void;
}

/** Batches on the way at once: one is worked on, one waits, so that a question asked meanwhile waits for at most two. */
const IN_FLIGHT = 2;

/** Feeds all pages of a plan; ends early, without error, when the index is full or `signal` is aborted. Returns the last state; null without pages. */
export async function buildIndex(plan: PagePlan, ports: BuildPorts, signal?: AbortSignal): Promise<ShardState | null> {
	const flying: Promise<ShardState>[] = [];
	let state: ShardState | null = null;
	let done = 0;
	const land = async () => {
		const task = flying.shift();
		if (!task) return;
		state = await task;
		done++;
	};
	const batches = pageBatches(plan, ports.bytes);
	try {
		for (let b = 0; b + 1 < batches.length; b++) {
			if (signal?.aborted || isFull(state)) break;
			const task = ports.add(ports.pagesToAdd(batches[b], batches[b + 1]));
			// It may fail before its turn to be awaited comes.
			task.catch(() => undefined);
			flying.push(task);
			if (flying.length >= IN_FLIGHT) {
				await land();
				if (state) ports.progress?.(done / (batches.length - 1), state);
			}
			await breathe();
		}
		while (flying.length > 0) await land();
		if (state) ports.progress?.(signal?.aborted ? done / (batches.length - 1) : 1, state);
	} finally {
		// A failure leaves nobody to hear of the others.
		await Promise.allSettled(flying);
	}
	return state;
}

function isFull(state: ShardState | null): boolean {
	return state?.full === true;
}

/** First pages of batches of about {@link BATCH_BYTES}, and the number of pages behind the last. A batch never begins inside a record. */
export function pageBatches(plan: PagePlan, bytes: Float64Array): number[] {
	const firsts: number[] = [0];
	let batch = 0;
	for (let page = 0; page < plan.pages; page++) {
		if (batch >= BATCH_BYTES && bytes[plan.start[page]] > 0) {
			firsts.push(page);
			batch = 0;
		}
		for (let atom = plan.start[page]; atom < plan.start[page + 1]; atom++) batch += bytes[atom];
	}
	if (plan.pages > 0) firsts.push(plan.pages);
	return firsts;
}
