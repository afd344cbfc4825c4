/**
 * The table of a session: one row per record that matters (or per item of a record that holds many), columns of numbers, no text.
 * Workers build chunks of it from their byte ranges; the main thread appends the chunks in file order.
 */

import { breathe, pacer } from "./breathe.js";
import type { TableChunk } from "./chunk.js";
import { type Column, float64, int32, uint8, uint32 } from "./columns.js";
import { DamageLog } from "./damage.js";
import type { DocumentFrame } from "./frame.js";
import { type Answer, type JsonObject, type RecordFacts, ROLES, type Role, type Usage } from "./record.js";
import { StringIndex } from "./string-index.js";

/** Where a row stands in the source. */
export interface RowPlace {
	/** First byte of the record. */
	start: number;
	/** Byte after its last one (without the line end). */
	end: number;
	/** Number of the record among the readable objects of its source, from 0; -1 for a field of the document around the records. */
	record: number;
	/** Line from 1 (element number for JSON documents). */
	line: number;
	/** 0: the record itself; n ≥ 1: item n-1 inside it (Codex `replacement_history`). */
	item: number;
}

/** Numbers that the rows of a chunk count on from. */
export interface ChunkBases {
	source?: number;
	record?: number;
	line?: number;
}

/** What was measured of a row's parts (units in `measure/`). */
export interface RowMeasure {
	/** Unicode code points of the content texts. */
	chars: number;
	/** Bits of FLAG derived from the parts. */
	flags: number;
}

export const ANSWERS: readonly Answer[] = ["result", "by_name", "none"];
/** Role code of a row that is no message. */
const NO_ROLE = 255;

const USAGE_FIELDS = 5;
/** Rows that room is made for ahead of time, at most: about 60 bytes each, used or not. */
const MOST_RESERVED = 8_000_000;

export class RecordTable {
	readonly #strings = new StringIndex();
	readonly damage = new DamageLog();
	/** Readable objects of the source. */
	records = 0;
	lines = 0;
	/** What stands around the elements of a document; null for lines. */
	frame: DocumentFrame | null = null;

	readonly start = float64();
	readonly end = float64();
	readonly record = int32();
	readonly line = uint32();
	readonly item = uint32();
	readonly type = uint8();
	readonly role = uint8();
	readonly flags = uint32();
	readonly id = int32();
	readonly parent = int32();
	readonly group = int32();
	readonly time = float64();
	readonly chars = float64();

	/** Calls, results, images and usage lie in tables of their own, sorted by row. */
	readonly callRow = int32();
	readonly callId = int32();
	readonly callName = int32();
	readonly callAnswer = uint8();
	readonly resultRow = int32();
	readonly resultId = int32();
	readonly resultName = int32();
	readonly resultByName = uint8();
	readonly imageRow = int32();
	readonly imageMime = int32();
	readonly imageBytes = float64();
	readonly imageWidth = float64();
	readonly imageHeight = float64();
	readonly usageRow = int32();
	readonly usage = float64();
	/** Number of the source a row's bytes lie in (more than one only where a file continues another). */
	readonly source = uint8();
	/** Facts of rare records, by row. */
	readonly metas = new Map<number, JsonObject>();

	get rows(): number {
		return this.start.length;
	}

	/** Every string a column refers to: entry ids, call ids, tool names, mime types. */
	get strings(): readonly string[] {
		return this.#strings.list;
	}

	/** Index of a string that some row uses; -1 when none does. */
	lookup(text: string): number {
		return this.#strings.lookup(text);
	}

	/** The string behind an index; null for -1. */
	string(index: number): string | null {
		return index < 0 ? null : this.strings[index];
	}

	/** The role of a row; null when it is no message by itself. */
	roleOf(row: number): Role | null {
		const code = this.role.at(row);
		return code === NO_ROLE ? null : ROLES[code];
	}

	/** The id by which a message made of this row is known: the format's own, else `#n` (RULINGS 14), else `#n.k` for an item. */
	entryOf(row: number): string {
		const id = this.id.at(row);
		if (id >= 0) return this.strings[id];
		const item = this.item.at(row);
		return item > 0 ? `#${this.record.at(row)}.${item - 1}` : `#${this.record.at(row)}`;
	}

	/** Adds one row; returns its index. */
	add(facts: RecordFacts, place: RowPlace, measure: RowMeasure): number {
		const row = this.rows;
		this.source.push(0);
		this.start.push(place.start);
		this.end.push(place.end);
		this.record.push(place.record);
		this.line.push(place.line);
		this.item.push(place.item);
		this.type.push(facts.type);
		this.role.push(facts.role === null ? NO_ROLE : ROLES.indexOf(facts.role));
		this.flags.push(facts.flags | measure.flags);
		this.id.push(this.#strings.intern(facts.id));
		this.parent.push(this.#strings.intern(facts.parent));
		this.group.push(this.#strings.intern(facts.group));
		this.time.push(facts.time);
		this.chars.push(measure.chars);
		for (const part of facts.parts) {
			if (part.type === "tool_call") {
				this.callRow.push(row);
				this.callId.push(this.#strings.intern(part.id));
				this.callName.push(this.#strings.intern(part.name));
				this.callAnswer.push(ANSWERS.indexOf(part.answer));
			} else if (part.type === "tool_result") {
				this.resultRow.push(row);
				this.resultId.push(this.#strings.intern(part.id));
				this.resultName.push(this.#strings.intern(part.name));
				this.resultByName.push(part.byName ? 1 : 0);
			} else if (part.type === "image") {
				this.imageRow.push(row);
				this.imageMime.push(this.#strings.intern(part.mime));
				this.imageBytes.push(part.bytes);
				this.imageWidth.push(part.width ?? Number.NaN);
				this.imageHeight.push(part.height ?? Number.NaN);
			}
		}
		if (facts.usage) {
			const u = facts.usage;
			this.usageRow.push(row);
			for (const n of [u.input, u.output, u.cacheRead, u.cacheWrite, u.window ?? Number.NaN]) this.usage.push(n);
		}
		if (facts.meta) this.metas.set(row, facts.meta);
		return row;
	}

	/** Recorded usage number `index` (see `usageRow`). */
	usageAt(index: number): Usage {
		const [input, output, cacheRead, cacheWrite, window] = this.usage.data.subarray(
			index * USAGE_FIELDS,
			(index + 1) * USAGE_FIELDS,
		);
		return { input, output, cacheRead, cacheWrite, window: Number.isNaN(window) ? null : window };
	}

	/** First index in a sorted row column (`callRow`, `resultRow`, `imageRow`, `usageRow`) whose row is `row` or later. */
	static firstOf(column: Column<Int32Array>, row: number): number {
		let low = 0;
		let high = column.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (column.data[middle] < row) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** The range of indexes in a sorted row column that belong to `row`. */
	static rangeOf(column: Column<Int32Array>, row: number): [from: number, to: number] {
		const from = RecordTable.firstOf(column, row);
		let to = from;
		while (to < column.length && column.data[to] === row) to++;
		return [from, to];
	}

	/**
	 * Makes room for the rest of a source of which `fraction` (0-1) has been appended, going by what it held so far: columns that grow all at once
	 * by copying would block the thread.
	 */
	reserve(fraction: number): void {
		const expected = Math.min(Math.ceil((this.rows / fraction) * 1.2), MOST_RESERVED);
		for (const column of [this.start, this.end, this.record, this.line, this.item, this.type, this.role, this.flags])
			column.reserve(expected);
		for (const column of [this.id, this.parent, this.group, this.time, this.chars, this.source])
			column.reserve(expected);
	}

	/** This table as plain columns, for another thread. */
	toChunk(): TableChunk {
		return {
			rows: this.rows,
			records: this.records,
			lines: this.lines,
			damage: { kinds: this.damage.kinds, first: this.damage.first, count: this.damage.count },
			strings: this.#strings.list,
			source: this.source.take(),
			start: this.start.take(),
			end: this.end.take(),
			record: this.record.take(),
			line: this.line.take(),
			item: this.item.take(),
			type: this.type.take(),
			role: this.role.take(),
			flags: this.flags.take(),
			id: this.id.take(),
			parent: this.parent.take(),
			group: this.group.take(),
			time: this.time.take(),
			chars: this.chars.take(),
			callRow: this.callRow.take(),
			callId: this.callId.take(),
			callName: this.callName.take(),
			callAnswer: this.callAnswer.take(),
			resultRow: this.resultRow.take(),
			resultId: this.resultId.take(),
			resultName: this.resultName.take(),
			resultByName: this.resultByName.take(),
			imageRow: this.imageRow.take(),
			imageMime: this.imageMime.take(),
			imageBytes: this.imageBytes.take(),
			imageWidth: this.imageWidth.take(),
			imageHeight: this.imageHeight.take(),
			usageRow: this.usageRow.take(),
			usage: this.usage.take(),
			metas: [...this.metas],
		};
	}

	/**
	 * Appends the chunk that follows in the file; yields to the event loop. Its record and line numbers count on from here, unless other bases are given
	 * (0 where a chunk already has final numbers); `source` is the number of its first source.
	 */
	async append(
		chunk: TableChunk,
		{ source = 0, record = this.records, line = this.lines }: ChunkBases = {},
	): Promise<void> {
		const pause = pacer();
		const base = this.rows;
		const strings = new Int32Array(chunk.strings.length);
		for (let i = 0; i < strings.length; i++) {
			if (pause()) await breathe();
			strings[i] = this.#strings.intern(chunk.strings[i]);
		}
		const translated = (column: Int32Array) => column.map((s) => (s < 0 ? s : strings[s]));
		this.start.append(chunk.start);
		this.end.append(chunk.end);
		this.record.append(chunk.record, record, -1);
		this.line.append(chunk.line, line);
		this.item.append(chunk.item);
		this.type.append(chunk.type);
		this.role.append(chunk.role);
		this.flags.append(chunk.flags);
		this.id.append(translated(chunk.id));
		this.parent.append(translated(chunk.parent));
		this.group.append(translated(chunk.group));
		this.time.append(chunk.time);
		this.chars.append(chunk.chars);
		this.callRow.append(chunk.callRow, base);
		this.callId.append(translated(chunk.callId));
		this.callName.append(translated(chunk.callName));
		this.callAnswer.append(chunk.callAnswer);
		this.resultRow.append(chunk.resultRow, base);
		this.resultId.append(translated(chunk.resultId));
		this.resultName.append(translated(chunk.resultName));
		this.resultByName.append(chunk.resultByName);
		this.imageRow.append(chunk.imageRow, base);
		this.imageMime.append(translated(chunk.imageMime));
		this.imageBytes.append(chunk.imageBytes);
		this.imageWidth.append(chunk.imageWidth);
		this.imageHeight.append(chunk.imageHeight);
		this.usageRow.append(chunk.usageRow, base);
		this.usage.append(chunk.usage);
		this.source.append(chunk.source, source);
		for (const [row, meta] of chunk.metas) this.metas.set(row + base, meta);
		this.damage.append(chunk.damage, line, record);
		this.records += chunk.records;
		this.lines += chunk.lines;
	}
}
