/** The worker threads of an engine: one pool that any task may run in, and one thread that remembers (piscina has no affinity). */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { asMidcompactError, MidcompactError } from "../errors.js";
import { inBackground, TwoQueues } from "./task-queue.js";

export type WorkerName =
	| "scan"
	| "count"
	| "find"
	| "view"
	| "fork"
	| "hash"
	| "resume"
	| "messages"
	| "losses"
	| "archive";

/** Tasks that one session keeps waiting or running per thread: enough to keep every thread busy, few enough to bound memory. */
const TASKS_PER_THREAD = 2;
/** An idle thread keeps its tokenizer and memo for so long (ms). */
const IDLE_MS = 60_000;
/** A parse makes garbage at the speed of the disk: a young generation of this size (MB) keeps a worker small without slowing it. */
const YOUNG_MB = 32;

/** A failure of a thread that has no task is nobody's: the next task gets a new thread, and the host must not fall for it. */
const ignore = () => {};

const fileOf = (name: string) => fileURLToPath(new URL(`../../workers/${name}.js`, import.meta.url));

export class WorkerPool {
	readonly threads: number;
	readonly #pool: Piscina;
	#shard: Piscina | null = null;
	#closed = false;

	/** `threads`: at most so many workers; they start when there is work for them. */
	constructor(threads = Math.min(availableParallelism(), 8)) {
		this.threads = Math.max(1, Math.floor(threads));
		this.#pool = new Piscina({
			filename: fileOf("scan"),
			minThreads: 0,
			maxThreads: this.threads,
			idleTimeout: IDLE_MS,
			concurrentTasksPerWorker: 1,
			recordTiming: false,
			taskQueue: new TwoQueues(),
			resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
		});
		this.#pool.on("error", ignore);
	}

	get closed(): boolean {
		return this.#closed;
	}

	/** Tasks that a caller should have under way at once. */
	get width(): number {
		return this.threads * TASKS_PER_THREAD;
	}

	/** Runs a task in any thread. Errors: those of the worker, `cancelled` when the signal aborts or the pool closes. */
	async run<T>(worker: WorkerName, task: object, signal?: AbortSignal): Promise<T> {
		return this.#runIn<T>(this.#pool, fileOf(worker), task, signal);
	}

	/** The same for a task that nobody waits for: it lets all others go first. */
	async runBehind<T>(worker: WorkerName, task: object, signal?: AbortSignal): Promise<T> {
		return this.#runIn<T>(this.#pool, fileOf(worker), inBackground(task), signal);
	}

	/** Runs a task in the one thread that holds search shards. */
	async runShard<T>(task: object, signal?: AbortSignal): Promise<T> {
		if (this.#closed) throw cancelled();
		if (this.#shard === null) {
			this.#shard = new Piscina({ filename: fileOf("shard"), minThreads: 1, maxThreads: 1, recordTiming: false });
			this.#shard.on("error", ignore);
		}
		return this.#runIn<T>(this.#shard, fileOf("shard"), task, signal);
	}

	/** Ends all threads; running tasks reject with `cancelled`. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		await Promise.all([this.#pool.destroy(), this.#shard?.destroy()]);
	}

	async #runIn<T>(pool: Piscina, filename: string, task: object, signal?: AbortSignal): Promise<T> {
		if (this.#closed || signal?.aborted) throw cancelled();
		try {
			return (await untilAborted(pool.run(task, { filename }), signal)) as T;
		} catch (thrown) {
			if (this.#closed || signal?.aborted) throw cancelled();
			throw asMidcompactError(thrown);
		}
	}
}

export function cancelled(): MidcompactError {
	return new MidcompactError("cancelled", "The session was closed, or its work cancelled.");
}

/**
 * The result, or a rejection as soon as the signal aborts. Piscina itself would end the thread of a running task, and with it a tokenizer and
 * its memo that other sessions use: a task is short, so it may as well finish unheard.
 */
async function untilAborted<T>(result: Promise<T>, signal?: AbortSignal): Promise<T> {
	if (!signal) return result;
	let stop = () => {};
	const aborted = new Promise<never>((_, reject) => {
		stop = () => reject(cancelled());
		signal.addEventListener("abort", stop, { once: true });
	});
	try {
		return await Promise.race([result, aborted]);
	} finally {
		signal.removeEventListener("abort", stop);
	}
}

/** Runs `work` on every item with at most `width` under way; results go to `take` in the order of the items. The first failure ends it. */
export async function inOrder<I, R>(
	items: Iterable<I>,
	width: number,
	work: (item: I) => Promise<R>,
	take: (result: R, item: I) => void | Promise<void>,
): Promise<void> {
	const waiting: { item: I; result: Promise<R> }[] = [];
	const takeFirst = async () => {
		const { item, result } = waiting.shift() as { item: I; result: Promise<R> };
		await take(await result, item);
	};
	try {
		for (const item of items) {
			if (waiting.length >= width) await takeFirst();
			const result = work(item);
			// It may fail while an earlier one is awaited: that is told in its turn, and must not count as unhandled until then.
			result.catch(() => {});
			waiting.push({ item, result });
		}
		while (waiting.length > 0) await takeFirst();
	} finally {
		await Promise.allSettled(waiting.map((w) => w.result));
	}
}
