/** Puts a JSON value together from tokens, within a budget of memory. */
import type { Token } from "stream-json/core/parser.js";
import { codePoints } from "./code-points.js";
import { cutText } from "./cut-text.js";
import type { JsonObject, JsonValue } from "./record.js";

/** UTF-16 units of a key that are kept. */
const KEY_MAX = 1024;
/** Characters of a number that are kept; a longer one reads as null. */
const NUMBER_MAX = 4096;
/** Bytes that a value, a key or a container costs besides what is in it: about what V8 needs, with what its collector has not yet taken back. */
const VALUE_COST = 48;
const KEY_COST = 64;
/** Of the mark behind a cut text. */
const MARK_COST = 128;
const CONTAINER_COST = 128;
const MIB = 1024 * 1024;
/** Up to how many kept bytes a text keeps how many UTF-16 units; the last step is the end, from which on values are dropped. */
const STEPS: readonly [kept: number, units: number][] = [
	[32 * MIB, Number.POSITIVE_INFINITY],
	[40 * MIB, 4096],
	[64 * MIB, 64],
];

const TWO_BYTES = /[\u0100-\uffff]/;

type Container = JsonObject | JsonValue[];

/** A container that is open: its value (null when it is dropped), and the key that waits for a value. */
interface Open {
	value: Container | null;
	key: string;
}

/**
 * Takes the tokens of one value as stream-json's tokenizer gives them with `packValues: false`. A text keeps its first `head` UTF-16 units, fewer
 * when much is kept already, never half a surrogate pair; the mark behind them says what is missing. When the budget is spent the values that
 * follow are dropped, elements and fields alike: such a record has millions of them.
 */
export class GiantValue {
	root: JsonValue = null;
	complete = false;
	/** Containers open at the moment. */
	depth = 0;
	readonly #head: number;
	readonly #open: Open[] = [];
	#kept = 0;
	/** The text, key or number that is being read, and how much of it is kept and not kept. */
	#text = "";
	#limit = 0;
	#missingUnits = 0;
	#missingChars = 0;
	#reading: "key" | "string" | "number" | null = null;

	constructor(head: number) {
		this.#head = head;
	}

	add(token: Token): void {
		switch (token.name) {
			case "startObject":
				this.#openContainer({});
				break;
			case "startArray":
				this.#openContainer([]);
				break;
			case "endObject":
			case "endArray":
				this.#open.pop();
				this.depth--;
				this.#finished();
				break;
			case "startKey":
				this.#start("key", KEY_MAX);
				break;
			case "startString":
				this.#start("string", this.#units());
				break;
			case "startNumber":
				this.#start("number", NUMBER_MAX);
				break;
			case "stringChunk":
			case "numberChunk":
				this.#chunk(token.value);
				break;
			case "endKey":
				this.#open[this.#open.length - 1].key = flat(this.#text);
				this.#reading = null;
				break;
			case "endString":
			case "endNumber":
				this.#end();
				break;
			case "trueValue":
			case "falseValue":
			case "nullValue":
				this.#put(token.value, VALUE_COST);
				this.#finished();
				break;
		}
	}

	/** What there is of the value when no more tokens come; a text that is being read counts with what came of it. */
	unfinished(): JsonValue {
		if (this.#reading === "string" && this.#text !== "") this.#put(flat(this.#text), 0);
		this.#reading = null;
		return this.root;
	}

	#units(): number {
		for (const [kept, units] of STEPS) if (this.#kept < kept) return Math.min(units, this.#head);
		return 0;
	}

	#start(what: "key" | "string" | "number", limit: number): void {
		this.#reading = what;
		this.#text = "";
		this.#limit = limit;
		this.#missingUnits = 0;
		this.#missingChars = 0;
	}

	/** The tokenizer never cuts a surrogate pair between two chunks. */
	#chunk(value: string): void {
		let room = this.#missingUnits > 0 ? 0 : this.#limit - this.#text.length;
		if (value.length <= room) {
			this.#text += value;
			return;
		}
		if (room > 0 && isPair(value, room - 1)) room--;
		this.#text += value.slice(0, room);
		this.#missingUnits += value.length - room;
		this.#missingChars += codePoints(room === 0 ? value : value.slice(room));
	}

	#end(): void {
		const isNumber = this.#reading === "number";
		this.#reading = null;
		if (isNumber) this.#put(this.#missingUnits > 0 ? null : Number(this.#text), VALUE_COST);
		else {
			const head = flat(this.#text);
			const cost = VALUE_COST + head.length * (TWO_BYTES.test(head) ? 2 : 1);
			if (this.#missingUnits === 0) this.#put(head, cost);
			else this.#put(cutText(head, this.#missingUnits, this.#missingChars), cost + MARK_COST);
		}
		this.#text = "";
		this.#finished();
	}

	#openContainer(value: Container): void {
		this.depth++;
		this.#open.push({ value: this.#put(value, CONTAINER_COST) ? value : null, key: "" });
	}

	#finished(): void {
		if (this.depth === 0) this.complete = true;
	}

	/** Hangs a value into the innermost container; false when it is dropped. */
	#put(value: JsonValue, cost: number): boolean {
		const parent = this.#open.at(-1);
		if (parent === undefined) {
			this.root = value;
			return true;
		}
		if (parent.value === null || this.#kept >= STEPS[STEPS.length - 1][0]) return false;
		this.#kept += cost;
		if (Array.isArray(parent.value)) parent.value.push(value);
		else {
			this.#kept += KEY_COST + parent.key.length;
			setField(parent.value, parent.key, value);
		}
		return true;
	}
}

/** As JSON.parse does it: `__proto__` is a key like any other. */
function setField(target: JsonObject, key: string, value: JsonValue): void {
	if (key === "__proto__")
		Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
	else target[key] = value;
}

function isPair(text: string, at: number): boolean {
	const a = text.charCodeAt(at);
	const b = text.charCodeAt(at + 1);
	return a >= 0xd800 && a <= 0xdbff && b >= 0xdc00 && b <= 0xdfff;
}

/** A copy that holds on to nothing: V8 keeps the whole chunk alive for a slice of it. */
function flat(text: string): string {
	if (text.length < 13) return text;
	const encoding = TWO_BYTES.test(text) ? "utf16le" : "latin1";
	return Buffer.from(text, encoding).toString(encoding);
}
