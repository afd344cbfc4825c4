/** Texts of atoms, rendered in workers from bytes that are read back: bodies never stand on the main thread. */
import type { AtomText, TextView } from "../facade/survey.js";
import { type AtomRows, atomPlaces } from "../search/places.js";
import type { View, ViewResult, ViewTask } from "../search/tasks.js";
import type { RowSource } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";
import { inOrder, type WorkerPool } from "./pool.js";

/** Atoms that one task renders: a page of a survey is spread over the threads. */
const ATOMS_PER_TASK = 8;

export class AtomReader {
	readonly #pool: WorkerPool;
	readonly #table: RecordTable;
	readonly #rows: AtomRows;
	readonly #source: RowSource;
	readonly #signal: AbortSignal;

	constructor(pool: WorkerPool, table: RecordTable, rows: AtomRows, source: RowSource, signal: AbortSignal) {
		this.#pool = pool;
		this.#table = table;
		this.#rows = rows;
		this.#source = source;
		this.#signal = signal;
	}

	/** Texts of the atoms, in the order given. */
	texts(atoms: readonly number[], { shape, budget }: TextView): Promise<AtomText[]> {
		return this.#view(atoms, { shape, budget });
	}

	/** Excerpts of the atoms around the first hit of a pattern. */
	excerpts(atoms: readonly number[], pattern: string, budget: number): Promise<AtomText[]> {
		return this.#view(atoms, { shape: "excerpt", pattern, budget });
	}

	async #view(atoms: readonly number[], view: View): Promise<AtomText[]> {
		const texts: AtomText[] = [];
		const batches: number[][] = [];
		for (let at = 0; at < atoms.length; at += ATOMS_PER_TASK) batches.push(atoms.slice(at, at + ATOMS_PER_TASK));
		await inOrder(
			batches,
			this.#pool.width,
			(batch) => {
				const task: ViewTask = { from: this.#source, atoms: atomPlaces(this.#table, this.#rows, batch), view };
				return this.#pool.run<ViewResult>("view", task, this.#signal);
			},
			(shown, batch) => {
				for (const [i, { text, omitted }] of shown.entries()) texts.push({ atom: batch[i], text, omitted });
			},
		);
		return texts;
	}
}
