/** Planning a search on the main thread: columns first, then the index, then a look at the texts that are left. */
import { MidcompactError } from "../errors.js";
import { breathe, pacer } from "../session/breathe.js";
import { type AtomSizes, BATCH_BYTES, type PagePlan } from "./pages.js";

/** The atoms of a session as a search sees them. */
export interface SearchSpace extends AtomSizes {
	/** Pages of the index; null without one. */
	pages: PagePlan | null;
}

export interface AtomQuery {
	/** Case-insensitive literal substring of the content joined by "\n"; null or empty: no text filter. */
	pattern: string | null;
	/** What the columns say; null: every atom passes. */
	accepts: ((atom: number) => boolean) | null;
	direction: "oldest" | "newest";
	limit: number;
}

/** The two things that happen in other threads. */
export interface SearchPorts {
	/** Pages that may hold the pattern, a superset of those that do; null when the index cannot tell. */
	candidates(pattern: string): Promise<Uint32Array | null>;
	/** One byte for each of the given atoms, 1 when its content holds the pattern. */
	find(atoms: Uint32Array, pattern: string): Promise<Uint8Array>;
	/** Calls of `find` on the way at once at most. */
	inFlight: number;
}

/** `total`: atoms that match; `atoms`: the first `limit` of them in the direction asked for, nearest end first. */
export interface FoundAtoms {
	total: number;
	atoms: number[];
}

/**
 * Finds the atoms that match all filters. Same answer as `content.join("\n").toLowerCase().includes(pattern.toLowerCase())` over all atoms that `accepts` lets pass,
 * whatever the index knows. Errors: `cancelled` when `signal` is aborted; what the ports throw.
 */
export async function searchAtoms(
	space: SearchSpace,
	query: AtomQuery,
	ports: SearchPorts,
	signal?: AbortSignal,
): Promise<FoundAtoms> {
	const { pattern } = query;
	stopWhenAborted(signal);
	if (pattern === null || pattern === "") return pickFrom(space, query, signal);
	const pages = space.pages && (await ports.candidates(pattern));
	const found = new Picked(query);
	const flying = new Set<Promise<void>>();
	let failure: { cause: unknown } | null = null;
	const look = (batch: Uint32Array) => {
		const task = ports
			.find(batch, pattern)
			.then((matches) => {
				for (let k = 0; k < batch.length; k++) if (matches[k] === 1) found.add(batch[k]);
			})
			.catch((cause: unknown) => {
				failure ??= { cause };
			})
			.finally(() => flying.delete(task));
		flying.add(task);
	};
	const pause = pacer();
	const least = leastChars(pattern);
	let batch: number[] = [];
	let batchBytes = 0;
	const spans = pages && space.pages ? spansOf(pages, space.pages) : [[0, space.chars.length]];
	scan: for (const [from, to] of spans) {
		for (let atom = from; atom < to; atom++) {
			if (pause()) await breathe();
			if (space.chars[atom] < least || (query.accepts !== null && !query.accepts(atom))) continue;
			// A batch ends where the next atom reads a record of its own, so that no record is parsed for two batches.
			if (batchBytes >= BATCH_BYTES && space.bytes[atom] > 0) {
				look(Uint32Array.from(batch));
				batch = [];
				batchBytes = 0;
				while (flying.size >= ports.inFlight) await Promise.race(flying);
				if (failure || signal?.aborted) break scan;
			}
			batch.push(atom);
			batchBytes += space.bytes[atom];
		}
	}
	if (batch.length > 0 && !failure && !signal?.aborted) look(Uint32Array.from(batch));
	while (flying.size > 0) await Promise.race(flying);
	stopWhenAborted(signal);
	const failed = failure as { cause: unknown } | null;
	if (failed) throw failed.cause;
	return found.result();
}

function spansOf(pages: Uint32Array, { start }: PagePlan): [from: number, to: number][] {
	return Array.from(pages, (page) => [start[page], start[page + 1]]);
}

/**
 * Code points that content must have at least to hold the pattern: line ends may stand between texts, and no code point becomes more than two
 * UTF-16 units in lower case.
 */
function leastChars(pattern: string): number {
	return pattern.toLowerCase().replaceAll("\n", "").length / 2;
}

/** The answer when the columns decide alone. */
async function pickFrom(space: SearchSpace, query: AtomQuery, signal?: AbortSignal): Promise<FoundAtoms> {
	const pause = pacer();
	const found = new Picked(query);
	for (let atom = 0; atom < space.chars.length; atom++) {
		if (pause()) {
			await breathe();
			stopWhenAborted(signal);
		}
		if (query.accepts === null || query.accepts(atom)) found.add(atom);
	}
	return found.result();
}

/** Counts matches, which may come in any order, and keeps those nearest to the end that was asked for. */
class Picked {
	readonly #newest: boolean;
	readonly #limit: number;
	#total = 0;
	#kept: number[] = [];

	constructor({ direction, limit }: AtomQuery) {
		this.#newest = direction === "newest";
		this.#limit = Math.max(0, limit);
	}

	add(atom: number): void {
		this.#total++;
		const last = this.#kept.at(-1);
		if (this.#kept.length >= this.#limit && (last === undefined || !this.#nearer(atom, last))) return;
		let at = this.#kept.length;
		while (at > 0 && this.#nearer(atom, this.#kept[at - 1])) at--;
		this.#kept.splice(at, 0, atom);
		if (this.#kept.length > this.#limit) this.#kept.pop();
	}

	result(): FoundAtoms {
		return { total: this.#total, atoms: this.#kept };
	}

	#nearer(a: number, b: number): boolean {
		return this.#newest ? a > b : a < b;
	}
}

function stopWhenAborted(signal: AbortSignal | undefined): void {
	if (signal?.aborted) throw new MidcompactError("cancelled", "The search was cancelled.");
}
