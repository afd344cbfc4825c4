/** Seeded randomness: the same seed gives the same session on every machine. */

const HEX4 = Array.from({ length: 65536 }, (_, n) => n.toString(16).padStart(4, "0"));
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghijkmnopqrstuvwxyz";

export class Random {
	#state;
	#serial = 0;
	#salt;

	constructor(seed) {
		this.#state = (seed ^ 0x9e3779b9) >>> 0;
		for (let i = 0; i < 8; i++) this.next();
		this.#salt = this.next();
	}

	/** 32 random bits (mulberry32). */
	next() {
		this.#state = (this.#state + 0x6d2b79f5) | 0;
		let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return (t ^ (t >>> 14)) >>> 0;
	}

	/** Integer from 0 to n - 1. */
	int(n) {
		return this.next() % n;
	}

	between(low, high) {
		return low + this.int(high - low + 1);
	}

	chance(probability) {
		return this.next() < probability * 0x1_0000_0000;
	}

	pick(list) {
		return list[this.next() % list.length];
	}

	/** Between low and high, small values far more often than large ones. */
	skewed(low, high) {
		const u = this.next() / 0x1_0000_0000;
		return Math.floor(low * (high / low) ** (u * u * (1.6 - 0.6 * u)));
	}

	hex8() {
		const n = this.next();
		return HEX4[n >>> 16] + HEX4[n & 0xffff];
	}

	hex(length) {
		let text = "";
		while (text.length < length) text += this.hex8();
		return text.slice(0, length);
	}

	/** Random (version 4) UUID. */
	uuid() {
		const [a, b, c, d] = [this.next(), this.next(), this.next(), this.next()];
		const version = HEX4[(b & 0x0fff) | 0x4000];
		const variant = HEX4[((c >>> 16) & 0x3fff) | 0x8000];
		return `${HEX4[a >>> 16]}${HEX4[a & 0xffff]}-${HEX4[b >>> 16]}-${version}-${variant}-${HEX4[c & 0xffff]}${HEX4[d >>> 16]}${HEX4[d & 0xffff]}`;
	}

	/** Time-ordered (version 7) UUID of a moment in ms. */
	uuid7(time) {
		const head = time.toString(16).padStart(12, "0");
		return `${head.slice(0, 8)}-${head.slice(8)}-7${this.uuid().slice(15)}`;
	}

	/** Eight hex digits that never repeat within 2^32 calls: a counter through a bijective mix. */
	uniqueId() {
		let n = (this.#serial++ ^ this.#salt) >>> 0;
		n = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
		n = Math.imul(n ^ (n >>> 13), 0xc2b2ae35);
		n = (n ^ (n >>> 16)) >>> 0;
		return HEX4[n >>> 16] + HEX4[n & 0xffff];
	}

	/** A tool call id as providers make them; unique by its first eight digits. */
	callId(prefix) {
		let tail = "";
		for (let i = 0; i < 14; i++) tail += ALPHABET[this.next() % ALPHABET.length];
		return prefix + this.uniqueId() + tail;
	}
}

/** ISO time that moves forward by itself. */
export class Clock {
	#time;
	#random;

	constructor(random, start) {
		this.#random = random;
		this.#time = start;
	}

	/** Moves on by 20 ms to `most` ms and returns the new time in ms. */
	tick(most = 4000) {
		this.#time += this.#random.between(20, most);
		return this.#time;
	}

	get now() {
		return this.#time;
	}

	iso(time = this.tick()) {
		return new Date(time).toISOString();
	}
}
