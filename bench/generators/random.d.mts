/** Seeded randomness: the same seed gives the same numbers on every machine. */
export class Random {
	constructor(seed: number);
	/** 32 random bits. */
	next(): number;
	/** Integer from 0 to n - 1. */
	int(n: number): number;
}
