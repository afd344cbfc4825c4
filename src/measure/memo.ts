/** Counts of short segments that were seen before: a hash table of exact keys in flat arrays, bounded in entries and bytes. */

/** Longest segment that is kept, in UTF-16 units. */
export const MEMO_UNITS = 48;
/** Entries at most; a full memo is cleared. */
const MEMO_ENTRIES = 400_000;

/** Room for keys, in units per entry; a memo whose keys are longer on average is cleared before it has all its entries. */
const KEY_ROOM = 16;
const FIELDS = 4;

/**
 * Maps segments of 1 to {@link MEMO_UNITS} units to their token counts. Keys are compared unit by unit, so an answer is never another segment's. It
 * holds units and not strings because a lookup then makes no string, and because a slice kept as a key keeps the whole text behind it alive.
 * 24 MB when full; memory that no entry has used yet costs nothing.
 */
export class SegmentMemo {
	/** Entries held now. */
	size = 0;
	readonly #limit: number;
	/** Open addressing, at most half full: 0 is a free slot, n is entry n. */
	readonly #slots: Int32Array;
	/** Four numbers an entry, side by side so that one cache line answers: hash, length, first unit of the key in `#keys`, tokens. */
	readonly #entries: Int32Array;
	readonly #keys: Uint16Array;
	#keyUnits = 0;

	constructor(limit: number = MEMO_ENTRIES) {
		this.#limit = limit;
		this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * limit)));
		this.#entries = new Int32Array(FIELDS * (limit + 1));
		this.#keys = new Uint16Array(limit * KEY_ROOM + MEMO_UNITS);
	}

	/** Tokens of the segment `units[from] … units[to - 1]`; 0 when it is not known. */
	get(units: Uint16Array, from: number, to: number): number {
		const slot = this.#find(units, from, to, hashOf(units, from, to));
		return this.#entries[FIELDS * this.#slots[slot] + 3];
	}

	/** Keeps the tokens (1 or more) of a segment; one that is known already is left as it is. */
	add(units: Uint16Array, from: number, to: number, tokens: number): void {
		const hash = hashOf(units, from, to);
		let slot = this.#find(units, from, to, hash);
		if (this.#slots[slot] !== 0) return;
		if (this.size === this.#limit || this.#keyUnits + to - from > this.#keys.length) {
			this.clear();
			slot = this.#find(units, from, to, hash);
		}
		const entry = ++this.size;
		this.#slots[slot] = entry;
		this.#entries[FIELDS * entry] = hash;
		this.#entries[FIELDS * entry + 1] = to - from;
		this.#entries[FIELDS * entry + 2] = this.#keyUnits;
		this.#entries[FIELDS * entry + 3] = tokens;
		for (let i = from; i < to; i++) this.#keys[this.#keyUnits++] = units[i];
	}

	clear(): void {
		this.#slots.fill(0);
		this.size = 0;
		this.#keyUnits = 0;
	}

	/** Slot that holds the segment, or the free one where it would go. */
	#find(units: Uint16Array, from: number, to: number, hash: number): number {
		const slots = this.#slots;
		const entries = this.#entries;
		const keys = this.#keys;
		const mask = slots.length - 1;
		let slot = hash & mask;
		for (let entry = slots[slot]; entry !== 0; entry = slots[slot]) {
			const at = FIELDS * entry;
			if (entries[at] === hash && entries[at + 1] === to - from) {
				let key = entries[at + 2];
				let i = from;
				while (i < to && keys[key] === units[i]) {
					key++;
					i++;
				}
				if (i === to) return slot;
			}
			slot = (slot + 1) & mask;
		}
		return slot;
	}
}

/** A mixed 32-bit hash of the units. */
function hashOf(units: Uint16Array, from: number, to: number): number {
	let hash = to - from;
	for (let i = from; i < to; i++) hash = (Math.imul(hash, 0x2f0b4f6d) + units[i]) | 0;
	hash ^= hash >>> 15;
	hash = Math.imul(hash, 0x2c1b3c6d);
	return hash ^ (hash >>> 13);
}
