/** Strings by number and numbers by string: what the columns of a table refer to. */

/** One large map would block for 100 ms whenever it grows; many small ones do not. */
const MAPS = 64;

/** Index of no string. */
export const NO_STRING = -1;

export class StringIndex {
	readonly list: string[] = [];
	readonly #maps = Array.from({ length: MAPS }, () => new Map<string, number>());

	/** Index of a string, made when it is new; {@link NO_STRING} for null. */
	intern(text: string | null): number {
		if (text === null) return NO_STRING;
		const map = this.#mapOf(text);
		const known = map.get(text);
		if (known !== undefined) return known;
		const index = this.list.length;
		this.list.push(text);
		map.set(text, index);
		return index;
	}

	/** Index of a string; {@link NO_STRING} when it was never interned. */
	lookup(text: string): number {
		return this.#mapOf(text).get(text) ?? NO_STRING;
	}

	/** Ids differ in their last characters more than in any others. */
	#mapOf(text: string): Map<string, number> {
		const last = text.length - 1;
		const mixed = text.charCodeAt(last) * 31 + text.charCodeAt(last - 1) * 7 + text.charCodeAt(last - 2);
		return this.#maps[(mixed || 0) % MAPS];
	}
}
