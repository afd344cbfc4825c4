/** Growable typed columns: what a survey keeps in memory is numbers, and these hold them. */

type NumberArray = Float64Array | Uint32Array | Int32Array | Uint8Array;
type Constructor<A extends NumberArray> = new (length: number) => A;

/** A typed array that grows. `data` may be longer than `length`; `view()` is the used part. */
export class Column<A extends NumberArray> {
	data: A;
	length = 0;
	readonly #make: Constructor<A>;

	constructor(make: Constructor<A>, capacity = 64) {
		this.#make = make;
		this.data = new make(capacity);
	}

	/** Makes room for `capacity` values. */
	reserve(capacity: number): void {
		if (capacity > this.data.length) this.#resize(capacity);
	}

	push(value: number): void {
		if (this.length === this.data.length) this.#grow(this.length + 1);
		this.data[this.length++] = value;
	}

	/** Appends `values`, each changed by `add` unless it is `keep` (a marker such as -1). */
	append(values: A, add = 0, keep = Number.NaN): void {
		const end = this.length + values.length;
		if (end > this.data.length) this.#grow(end);
		this.data.set(values, this.length);
		if (add !== 0) for (let i = this.length; i < end; i++) if (this.data[i] !== keep) this.data[i] += add;
		this.length = end;
	}

	at(index: number): number {
		return this.data[index];
	}

	/** The used part, without copying. */
	view(): A {
		return this.data.subarray(0, this.length) as A;
	}

	/** A copy of exactly the used part, fit to be transferred to another thread. */
	take(): A {
		return this.data.slice(0, this.length) as A;
	}

	#grow(atLeast: number): void {
		this.#resize(Math.max(atLeast, this.data.length * 2));
	}

	#resize(capacity: number): void {
		const larger = new this.#make(capacity);
		larger.set(this.view() as never);
		this.data = larger;
	}
}

export const float64 = () => new Column<Float64Array>(Float64Array);
export const uint32 = () => new Column<Uint32Array>(Uint32Array);
export const int32 = () => new Column<Int32Array>(Int32Array);
export const uint8 = () => new Column<Uint8Array>(Uint8Array);
