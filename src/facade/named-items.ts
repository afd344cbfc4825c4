/** Things with a name (calls, images) in the order of the atoms that hold them, counted by name over any stretch of atoms. */
import { uint32 } from "../session/columns.js";
import { boundedMap } from "./text.js";

/** Least number of items between two checkpoints. */
const STEP = 2_048;

export class NamedItems {
	/** Items before each atom. */
	readonly before: Uint32Array;
	readonly names: string[] = [];
	readonly #codeOf = new Map<string, number>();
	readonly #codes = uint32();
	/** Checkpoint k: counts by name of the items before `k * #step`. A step has at least as many items as there are names, so all of them together are no larger than the items. */
	readonly #checkpoints: Uint32Array[] = [];
	#step = STEP;

	/** `size`: number of atoms and one. */
	constructor(size: number) {
		this.before = new Uint32Array(size);
	}

	add(name: string): void {
		let code = this.#codeOf.get(name);
		if (code === undefined) {
			code = this.names.length;
			this.names.push(name);
			this.#codeOf.set(name, code);
		}
		this.#codes.push(code);
	}

	/** Ends the items of the atom before `next`. */
	close(next: number): void {
		this.before[next] = this.#codes.length;
	}

	/** Call it once, behind the last item. */
	seal(): void {
		this.#step = Math.max(STEP, this.names.length);
		const tally = new Uint32Array(this.names.length);
		for (let item = 0; item <= this.#codes.length; item++) {
			if (item % this.#step === 0) this.#checkpoints.push(tally.slice());
			if (item < this.#codes.length) tally[this.#codes.at(item)]++;
		}
	}

	total(from: number, to: number): number {
		return this.before[to] - this.before[from];
	}

	/** Names and their counts over the atoms `from … to - 1`, bounded, biggest first; `total` is the number of different names. */
	counts(from: number, to: number): { map: Record<string, number>; total: number } {
		const first = this.before[from];
		const end = this.before[to];
		const low = Math.ceil(first / this.#step);
		const high = Math.floor(end / this.#step);
		return boundedMap(low < high ? this.#longStretch(first, end, low, high) : this.#shortStretch(first, end));
	}

	/** Counts between two checkpoints, and one by one what stands before and behind them. */
	*#longStretch(first: number, end: number, low: number, high: number): Generator<[string, number]> {
		const start = this.#checkpoints[low];
		const tally = this.#checkpoints[high].slice();
		for (let code = 0; code < tally.length; code++) tally[code] -= start[code];
		for (let item = first; item < low * this.#step; item++) tally[this.#codes.at(item)]++;
		for (let item = high * this.#step; item < end; item++) tally[this.#codes.at(item)]++;
		for (let code = 0; code < tally.length; code++) if (tally[code] > 0) yield [this.names[code], tally[code]];
	}

	*#shortStretch(first: number, end: number): Generator<[string, number]> {
		const tally = new Map<number, number>();
		for (let item = first; item < end; item++) {
			const code = this.#codes.at(item);
			tally.set(code, (tally.get(code) ?? 0) + 1);
		}
		for (const [code, n] of tally) yield [this.names[code], n];
	}
}
