/** Changing single fields of a record and leaving every other byte as it is: a parse and a new text would change numbers, spaces and the order of keys. */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./json-bytes.js";

/** A field edit whose value is known: JSON text, or null to take the field out. */
export interface KnownEdit {
	path: readonly string[];
	value: string | null;
	add?: boolean;
}

/** Bytes `start … end - 1` of a record give way to a text. */
export interface Cut {
	start: number;
	end: number;
	text: string;
}

const COMMA = 0x2c;
const COLON = 0x3a;
/** Bytes of a key that is compared; a longer one is none that anybody edits. */
const KEY_BOUND = 512;

interface Member {
	keyStart: number;
	valueStart: number;
	valueEnd: number;
	/** The edit whose path ends here; null for none. */
	edit: KnownEdit | null;
}

/** An object on the path of some edit. */
interface Frame {
	depth: number;
	open: number;
	/** Edits whose path leads into this object, and how many of their names lie behind. */
	edits: readonly KnownEdit[];
	level: number;
	members: Member[];
}

/**
 * Finds the places to change in the bytes of one JSON object, which may come in chunks. The bytes are taken to be valid JSON. A key that stands twice is changed at both places.
 */
export class FieldFinder {
	readonly #edits: readonly KnownEdit[];
	readonly #cuts: Cut[] = [];
	readonly #frames: Frame[] = [];
	/** Bytes before the current chunk. */
	#base = 0;
	#depth = 0;
	#inString = false;
	#escaped = false;
	/** Bytes of the string that is being read, where it may be a key that matters; null elsewhere. */
	#key: number[] | null = null;
	#keyStart = 0;
	/** A key was read whose value has not begun. */
	#named: { key: string | null; start: number } | null = null;
	#awaitsValue = false;

	constructor(edits: readonly KnownEdit[]) {
		this.#edits = edits;
	}

	/** The next bytes of the record. */
	add(chunk: Uint8Array): void {
		let at = 0;
		while (at < chunk.length) at = this.#inString ? this.#readString(chunk, at) : this.#readByte(chunk, at);
		this.#base += chunk.length;
	}

	/** Where to change what, in order and apart from each other. */
	finish(): Cut[] {
		return this.#cuts.sort((a, b) => a.start - b.start || a.end - b.end);
	}

	/** The object whose direct members are being read, if it is on a path. */
	get #frame(): Frame | null {
		const top = this.#frames.at(-1);
		return top && top.depth === this.#depth ? top : null;
	}

	#readString(chunk: Uint8Array, from: number): number {
		let at = from;
		if (this.#escaped) {
			this.#escaped = false;
			this.#key?.push(chunk[at]);
			at++;
		}
		let backslash = chunk.indexOf(BACKSLASH, at);
		for (;;) {
			const quote = chunk.indexOf(QUOTE, at);
			if (backslash >= 0 && backslash < at) backslash = chunk.indexOf(BACKSLASH, at);
			if (backslash < 0 || (quote >= 0 && quote < backslash)) {
				const end = quote < 0 ? chunk.length : quote;
				this.#keep(chunk, at, end);
				if (quote < 0) return chunk.length;
				this.#inString = false;
				this.#endString(this.#base + quote + 1);
				return quote + 1;
			}
			this.#keep(chunk, at, Math.min(backslash + 2, chunk.length));
			at = backslash + 2;
			if (at > chunk.length) {
				this.#escaped = true;
				return chunk.length;
			}
		}
	}

	#keep(chunk: Uint8Array, from: number, to: number): void {
		if (this.#key === null || this.#key.length > KEY_BOUND) return;
		for (let i = from; i < to && this.#key.length <= KEY_BOUND; i++) this.#key.push(chunk[i]);
	}

	#endString(end: number): void {
		if (this.#key === null) {
			this.#endValue(end);
			return;
		}
		const text = this.#key.length > KEY_BOUND ? null : Buffer.from(this.#key).toString("utf8");
		this.#named = { key: text === null ? null : keyOf(text), start: this.#keyStart };
		this.#key = null;
	}

	#readByte(chunk: Uint8Array, at: number): number {
		const byte = chunk[at];
		const position = this.#base + at;
		if (byte === QUOTE) {
			this.#inString = true;
			const isKey = this.#frame !== null && !this.#awaitsValue;
			this.#key = isKey ? [] : null;
			if (isKey) this.#keyStart = position;
			else this.#beginValue(position);
		} else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
			const member = this.#beginValue(position);
			this.#depth++;
			if (byte === OPEN_OBJECT) this.#enter(position, member);
		} else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
			const frame = this.#frame;
			if (frame) {
				this.#endValue(position);
				this.#frames.pop();
				this.#leave(frame);
			}
			this.#depth--;
			this.#endValue(position + 1);
		} else if (byte === COLON) this.#awaitsValue = this.#frame !== null;
		else if (byte === COMMA) this.#endValue(position);
		else if (byte > 0x20) this.#beginValue(position);
		return at + 1;
	}

	/** A value begins: of a member of the frame, when one is named and has no value yet. */
	#beginValue(position: number): Member | null {
		const frame = this.#frame;
		if (!frame || !this.#awaitsValue || !this.#named) return null;
		const { key, start } = this.#named;
		const edit = frame.edits.find(({ path }) => path.length === frame.level + 1 && path[frame.level] === key) ?? null;
		const member: Member = { keyStart: start, valueStart: position, valueEnd: -1, edit };
		frame.members.push(member);
		this.#awaitsValue = false;
		return member;
	}

	/** An object opens; it is on a path when it is the record, or the value of a member that a path leads through. */
	#enter(position: number, member: Member | null): void {
		const outer = this.#frames.at(-1);
		if (!outer) {
			if (this.#depth === 1) this.#frames.push({ depth: 1, open: position, edits: this.#edits, level: 0, members: [] });
			return;
		}
		if (!member || member.edit || outer.depth !== this.#depth - 1) return;
		const key = this.#named?.key;
		const edits = outer.edits.filter(({ path }) => path.length > outer.level + 1 && path[outer.level] === key);
		if (edits.length > 0)
			this.#frames.push({ depth: this.#depth, open: position, edits, level: outer.level + 1, members: [] });
	}

	/** The value of the frame's last member ends here, if it has not ended yet. White space behind it does not count. */
	#endValue(position: number): void {
		const member = this.#frame?.members.at(-1);
		if (member && member.valueEnd < 0) member.valueEnd = position;
	}

	/** An object on a path is complete. */
	#leave({ edits, level, members, open }: Frame): void {
		for (const { edit, valueStart, valueEnd } of members) {
			if (edit && edit.value !== null) this.#cuts.push({ start: valueStart, end: valueEnd, text: edit.value });
		}
		const goes = (member: Member) => member.edit !== null && member.edit.value === null;
		const last = members.findLastIndex((member) => !goes(member));
		for (let i = 0; i < last; i++) {
			if (goes(members[i])) this.#cuts.push({ start: members[i].keyStart, end: members[i + 1].keyStart, text: "" });
		}
		const from = last < 0 ? open + 1 : members[last].valueEnd;
		const to = last < members.length - 1 ? members[members.length - 1].valueEnd : from;
		const added = edits
			.filter((edit) => edit.add && edit.value !== null && edit.path.length === level + 1)
			.filter((edit) => !members.some((member) => member.edit === edit))
			.map(({ path, value }) => `${JSON.stringify(path[level])}:${value}`)
			.join(",");
		const text = last >= 0 && added !== "" ? `,${added}` : added;
		if (to > from || text !== "") this.#cuts.push({ start: from, end: to, text });
	}
}

function keyOf(raw: string): string | null {
	if (!raw.includes("\\")) return raw;
	try {
		return JSON.parse(`"${raw}"`) as string;
	} catch {
		return null;
	}
}

/** The record with its fields changed; its bytes are one JSON object. */
export function spliced(bytes: Buffer, edits: readonly KnownEdit[]): Buffer {
	if (edits.length === 0) return bytes;
	const finder = new FieldFinder(edits);
	finder.add(bytes);
	const parts: Buffer[] = [];
	let at = 0;
	for (const { start, end, text } of finder.finish()) {
		parts.push(bytes.subarray(at, start), Buffer.from(text));
		at = end;
	}
	parts.push(bytes.subarray(at));
	return Buffer.concat(parts);
}
