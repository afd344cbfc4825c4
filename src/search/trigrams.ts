/** Distinct trigrams of the text of a page. */

/** Trigrams of three units below 128 have a slot each; all others share this many, by a hash, so that their number is bounded. */
const ASCII_SLOTS = 1 << 21;
const SHARED_BITS = 17;
const SLOTS = ASCII_SLOTS + (1 << SHARED_BITS);
/** A shared slot's name is two units of this many bits each, from this unit on, so that it is no trigram of ASCII. */
const NAME_BITS = 9;
const FIRST_NAME = 0x100;
/** Names are kept in chunks: most slots are never used. */
const CHUNK_BITS = 10;
const LAST_STAMP = 255;

/**
 * Collects the distinct trigrams of one page after another as terms. Trigrams that share a slot are one term: a page may seem to hold a trigram
 * that it does not, never the other way round. A term is the same string object every time, so that the maps behind the index hash it once.
 */
export class TrigramCollector {
	/** Stamp of the page in which a slot was seen last; 0: not since the stamps began anew. */
	readonly #seen = new Uint8Array(SLOTS);
	#stamp = 0;
	#terms: string[] = [];
	readonly #names: ((string | undefined)[] | undefined)[] = [];
	#distinct = 0;
	/** The last two units of the atom, -1 for none. */
	#first = -1;
	#second = -1;
	#inAtom = false;

	/** Distinct terms of all pages so far. */
	get distinct(): number {
		return this.#distinct;
	}

	/** Begins a page. */
	beginPage(): void {
		if (this.#stamp === LAST_STAMP) {
			this.#seen.fill(0);
			this.#stamp = 0;
		}
		this.#stamp++;
		this.#terms = [];
		this.beginAtom();
	}

	/** Begins an atom: no trigram reaches over the border of two. */
	beginAtom(): void {
		this.#inAtom = false;
		this.#first = -1;
		this.#second = -1;
	}

	/** Adds the next content text of the atom, lower-cased. Trigrams reach over the line end that joins two texts. */
	addText(lower: string): void {
		if (this.#inAtom) this.#scan("\n");
		this.#inAtom = true;
		this.#scan(lower);
	}

	/** The distinct terms of the page. */
	pageTerms(): string[] {
		return this.#terms;
	}

	/** The distinct terms of a lower-cased pattern; none when it is shorter than a trigram. */
	patternTerms(lower: string): string[] {
		const slots = new Set<number>();
		for (let i = 2; i < lower.length; i++)
			slots.add(slotOf(lower.charCodeAt(i - 2), lower.charCodeAt(i - 1), lower.charCodeAt(i)));
		return [...slots].map(nameOf);
	}

	#scan(text: string): void {
		const seen = this.#seen;
		const stamp = this.#stamp;
		let a = this.#first;
		let b = this.#second;
		for (let i = 0; i < text.length; i++) {
			const c = text.charCodeAt(i);
			if (a >= 0) {
				const slot = slotOf(a, b, c);
				if (seen[slot] !== stamp) {
					seen[slot] = stamp;
					this.#terms.push(this.#name(slot));
				}
			}
			a = b;
			b = c;
		}
		this.#first = a;
		this.#second = b;
	}

	#name(slot: number): string {
		const chunk = slot >>> CHUNK_BITS;
		let names = this.#names[chunk];
		if (!names) {
			names = new Array<string | undefined>(1 << CHUNK_BITS);
			this.#names[chunk] = names;
		}
		const at = slot & ((1 << CHUNK_BITS) - 1);
		const known = names[at];
		if (known !== undefined) return known;
		const name = nameOf(slot);
		names[at] = name;
		this.#distinct++;
		return name;
	}
}

function slotOf(a: number, b: number, c: number): number {
	if ((a | b | c) < 128) return (a << 14) | (b << 7) | c;
	const mixed = Math.imul(Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b) ^ c, 0xc2b2ae35);
	return ASCII_SLOTS + ((mixed ^ (mixed >>> 15)) >>> (32 - SHARED_BITS));
}

function nameOf(slot: number): string {
	if (slot < ASCII_SLOTS) return String.fromCharCode(slot >>> 14, (slot >>> 7) & 127, slot & 127);
	const shared = slot - ASCII_SLOTS;
	const low = shared & ((1 << NAME_BITS) - 1);
	return String.fromCharCode(FIRST_NAME + (shared >>> NAME_BITS), FIRST_NAME + low);
}
