/** The line with the nearest earlier timestamp: where the host goes on when a parent link leads nowhere (RULINGS 1). */
import { breathe, pacer } from "../../breathe.js";
import type { Lines } from "./lines.js";

/** For one walk. Lines are sorted by time when the first broken link is met, and every line is passed over once at most. */
export class EarlierLines {
	readonly #lines: Lines;
	readonly #seen: Uint8Array;
	/** Rows by time, then place in the file; those without a time are not in it. */
	#order: Int32Array | null = null;
	/** `skip[i]`: a place at or before `i`, such that every place behind it up to `i` is used up. */
	#skip = new Int32Array();

	/** `seen` has 1 for every row that the walk took already: they are no way on. */
	constructor(lines: Lines, seen: Uint8Array) {
		this.#lines = lines;
		this.#seen = seen;
	}

	/** The row to go on at; -1 when the row has no time or nothing is earlier. Lines of one time stand in file order. */
	async before(row: number): Promise<number> {
		const time = this.#lines.table.time.at(row);
		if (Number.isNaN(time)) return -1;
		if (this.#order === null) {
			this.#order = await sortByTime(this.#lines);
			this.#skip = new Int32Array(this.#order.length);
			for (let i = 0; i < this.#skip.length; i++) this.#skip[i] = i;
		}
		const order = this.#order;
		const place = this.#find(this.#placeBefore(order, row, time), order);
		return place < 0 ? -1 : order[place];
	}

	/** Last place whose line is earlier than the given one. */
	#placeBefore(order: Int32Array, row: number, time: number): number {
		let low = 0;
		let high = order.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			const t = this.#lines.table.time.at(order[middle]);
			if (t < time || (t === time && order[middle] < row)) low = middle + 1;
			else high = middle;
		}
		return low - 1;
	}

	#find(from: number, order: Int32Array): number {
		let at = from;
		while (at >= 0) {
			if (this.#skip[at] !== at) at = this.#skip[at];
			else if (this.#seen[order[at]] === 1) {
				this.#skip[at] = at - 1;
				at -= 1;
			} else break;
		}
		// The whole way points to where it ended, so that no later search walks it again.
		for (let step = from; step > at; ) {
			const next = this.#skip[step];
			this.#skip[step] = at;
			step = next;
		}
		return at;
	}
}

/** Rows of the conversation that have a time, sorted by it; merges runs bottom-up so that it can yield. */
async function sortByTime(lines: Lines): Promise<Int32Array> {
	const pause = pacer();
	const { time } = lines.table;
	const rows: number[] = [];
	let sorted = true;
	for (let row = 0; row < lines.table.rows; row++) {
		if (pause()) await breathe();
		if (lines.lost[row] === 1 || !lines.isOwn(row) || Number.isNaN(time.at(row))) continue;
		if (rows.length > 0 && time.at(rows[rows.length - 1]) > time.at(row)) sorted = false;
		rows.push(row);
	}
	let from = Int32Array.from(rows);
	let to = new Int32Array(from.length);
	for (let width = 1; !sorted && width < from.length; width *= 2) {
		for (let start = 0; start < from.length; start += 2 * width) {
			const middle = Math.min(start + width, from.length);
			const end = Math.min(start + 2 * width, from.length);
			let left = start;
			let right = middle;
			for (let at = start; at < end; at++) {
				if (pause()) await breathe();
				// Rows on the left come earlier in the file: equal times keep that order.
				const takeLeft = left < middle && (right >= end || time.at(from[left]) <= time.at(from[right]));
				to[at] = takeLeft ? from[left++] : from[right++];
			}
		}
		[from, to] = [to, from];
	}
	return from;
}
