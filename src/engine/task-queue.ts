/** The order in which waiting tasks get a thread: what somebody asked for goes before what is made ready behind the answer. */
import { FixedQueue, type PiscinaTask, queueOptionsSymbol, type TaskQueue } from "piscina";

/** Marks a task as work behind the answer. */
export function inBackground<T extends object>(task: T): T {
	return Object.assign(task, { [queueOptionsSymbol]: { background: true } });
}

export class TwoQueues implements TaskQueue {
	readonly #asked = new FixedQueue();
	readonly #background = new FixedQueue();

	get size(): number {
		return this.#asked.size + this.#background.size;
	}

	shift(): PiscinaTask | null {
		return (this.#asked.shift() ?? this.#background.shift()) as PiscinaTask | null;
	}

	push(task: PiscinaTask): void {
		this.#queueOf(task).push(task);
	}

	remove(task: PiscinaTask): void {
		this.#queueOf(task).remove(task);
	}

	#queueOf(task: PiscinaTask): FixedQueue {
		return task[queueOptionsSymbol] === null ? this.#asked : this.#background;
	}
}
