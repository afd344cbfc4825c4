/** Token sums while the counts are still arriving: what is counted is added up once, what is not there yet makes a sum null. */
import { ATOM, type AtomTable } from "../atoms/table.js";
import { breathe, pacer } from "../session/breathe.js";
import type { TokenState } from "./survey.js";

/** Atoms of a stretch that are looked at one by one when the counts behind it have not all arrived. */
const LOOK_AT = 5_000;

export class TokenSums {
	readonly #atoms: AtomTable;
	readonly #tokens: TokenState;
	/** Entry i: tokens of the sent atoms 0 … i-1. Known up to {@link #known}. */
	readonly #before: Float64Array;
	#known = 0;

	constructor(atoms: AtomTable, tokens: TokenState) {
		this.#atoms = atoms;
		this.#tokens = tokens;
		this.#before = new Float64Array(atoms.length + 1);
	}

	/** Tokens of the sent atoms `from … to - 1`; null until all of them are counted. */
	sum(from: number, to: number): number | null {
		if (to <= this.#known) return this.#before[to] - this.#before[from];
		if (to - from > LOOK_AT) return null;
		let sum = 0;
		for (let atom = from; atom < to; atom++) {
			const tokens = this.#sent(atom);
			if (tokens === null) return null;
			sum += tokens;
		}
		return sum;
	}

	/** Takes in what was counted since the last call. Counts never change once they are there, so the sums only ever grow at their end. */
	async advance(): Promise<void> {
		const pause = pacer();
		for (;;) {
			if (pause()) await breathe();
			if (this.#known === this.#atoms.length) return;
			const tokens = this.#sent(this.#known);
			if (tokens === null) return;
			this.#before[this.#known + 1] = this.#before[this.#known] + tokens;
			this.#known++;
		}
	}

	#sent(atom: number): number | null {
		return this.#atoms.has(atom, ATOM.SENT) ? this.#tokens.ofAtom(atom) : 0;
	}
}
