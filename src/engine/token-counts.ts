/** Token counts of an anchor: they arrive from the workers, row by row, after the survey has been answered. */
import type { CountResult, CountTask } from "../../workers/count.js";
import type { Anchor } from "../atoms/build.js";
import type { TokenState } from "../facade/survey.js";
import type { Encoding } from "../measure/encodings.js";
import type { AtomRows } from "../search/places.js";
import { breathe, pacer } from "../session/breathe.js";
import { int32 } from "../session/columns.js";
import { placesOf } from "../session/places.js";
import type { RowSource } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";
import { batchesOf } from "./batches.js";
import { inOrder, type WorkerPool } from "./pool.js";

const NOT_COUNTED = -1;
const NO_ATOM = -1;

export class TokenCounts implements TokenState {
	readonly encoding: Encoding;
	readonly #table: RecordTable;
	readonly #anchor: Anchor;
	readonly #atomRows: AtomRows;
	/** By row of the table. */
	readonly #tokens: Float64Array;
	readonly #atomOfRow: Int32Array;
	readonly #approximate: Uint8Array;
	#approximateAtoms = 0;
	#countedChars = 0;
	#totalChars = 0;
	#done = false;

	constructor(encoding: Encoding, table: RecordTable, anchor: Anchor, rows: AtomRows) {
		this.encoding = encoding;
		this.#table = table;
		this.#anchor = anchor;
		this.#atomRows = rows;
		this.#tokens = new Float64Array(table.rows).fill(NOT_COUNTED);
		this.#atomOfRow = new Int32Array(table.rows).fill(NO_ATOM);
		this.#approximate = new Uint8Array(anchor.atoms.length);
	}

	get ready(): number {
		if (this.#done) return 1;
		return this.#totalChars === 0 ? 0 : Math.min(this.#countedChars / this.#totalChars, 0.999);
	}

	get approximateAtoms(): number {
		return this.#approximateAtoms;
	}

	ofAtom(atom: number): number | null {
		const { rows, start } = this.#atomRows;
		return this.#sum(rows.subarray(start[atom], start[atom + 1]));
	}

	ofSystem(): number | null {
		return this.#sum(this.#anchor.system.rows);
	}

	/** Counts all rows of the anchor, in the order of the file. Resolves when every count is there. */
	async count(pool: WorkerPool, source: RowSource, signal: AbortSignal, onProgress: () => void): Promise<void> {
		const rows = await this.#rowsToCount();
		await inOrder(
			batchesOf(this.#table, rows),
			pool.width,
			async (batch) => {
				const task: CountTask = { rowSource: source, places: placesOf(this.#table, batch), encoding: this.encoding };
				return pool.runBehind<CountResult>("count", task, signal);
			},
			(result, batch) => {
				this.#take(batch, result);
				onProgress();
			},
		);
		this.#done = true;
		onProgress();
	}

	async #rowsToCount(): Promise<Int32Array> {
		const { atoms, system } = this.#anchor;
		const { rows: atomRows, start } = this.#atomRows;
		const pause = pacer();
		const counts = new Uint8Array(this.#table.rows);
		for (const row of system.rows) counts[row] = 1;
		for (let atom = 0; atom < atoms.length; atom++) {
			if (pause()) await breathe();
			for (let i = start[atom]; i < start[atom + 1]; i++) {
				this.#atomOfRow[atomRows[i]] = atom;
				counts[atomRows[i]] = 1;
			}
		}
		// In the order of the table: that of the file, items behind all others in the order of their records.
		const rows = int32();
		for (let row = 0; row < counts.length; row++) {
			if (counts[row] === 0) continue;
			if (pause()) await breathe();
			rows.push(row);
			this.#totalChars += this.#table.chars.at(row);
		}
		return rows.view();
	}

	#take(batch: Int32Array, { tokens, forced }: CountResult): void {
		batch.forEach((row, i) => {
			this.#tokens[row] = tokens[i];
			this.#countedChars += this.#table.chars.at(row);
			const atom = this.#atomOfRow[row];
			if (forced[i] > 0 && atom !== NO_ATOM && this.#approximate[atom] === 0) {
				this.#approximate[atom] = 1;
				this.#approximateAtoms++;
			}
		});
	}

	#sum(rows: ArrayLike<number>): number | null {
		let sum = 0;
		for (let i = 0; i < rows.length; i++) {
			const tokens = this.#tokens[rows[i]];
			if (tokens === NOT_COUNTED) return null;
			sum += tokens;
		}
		return sum;
	}
}
