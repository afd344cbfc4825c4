/** Worker task: reads a part of a source, parses and measures its records, and hands back columns. */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { measureParts } from "../src/measure/parts.js";
import type { TableChunk } from "../src/session/chunk.js";
import {
	detectShape,
	firstOfLines,
	HEAD_OF_RECORD,
	recogniseFormat,
	type Shape,
	sessionIn,
	VOTERS,
} from "../src/session/detect.js";
import { scanDocument } from "../src/session/document.js";
import type { FormatReader } from "../src/session/formats/format.js";
import { readerOf } from "../src/session/formats/readers.js";
import { type DocumentFrame, frameOf } from "../src/session/frame.js";
import { GIANT_RECORD, parseRecordHead } from "../src/session/giant.js";
import { firstNulIn } from "../src/session/nul-runs.js";
import { type FormatName, isObject, type JsonObject, type RecordFacts } from "../src/session/record.js";
import { type Parsed, parseAgain, parseRecord, readField } from "../src/session/rows.js";
import { LineReader } from "../src/session/salvage.js";
import { scanLines } from "../src/session/scan.js";
import { type ByteReader, openReader, type SourceSpec } from "../src/session/source.js";
import { RecordTable, type RowMeasure, type RowPlace } from "../src/session/table.js";

export type ScanTask =
	| { op: "detect"; source: SourceSpec; format: FormatName | null }
	| { op: "lines"; source: SourceSpec; format: FormatName; from: number; to: number; readSize?: number }
	| { op: "elements"; source: SourceSpec; format: FormatName; start: Float64Array; end: Float64Array; fields: boolean }
	| { op: "items"; source: SourceSpec; format: FormatName; start: number; end: number; record: number; line: number };

/** For a document: where its elements and the fields around them are; for lines: nulls. */
export interface Detected {
	shape: Shape;
	format: FormatName;
	/** The session's own id; null where its first records give none. */
	session: string | null;
	elements: { start: Float64Array; end: Float64Array } | null;
	fields: { start: Float64Array; end: Float64Array } | null;
	frame: DocumentFrame | null;
	damage: RecordTable["damage"] | null;
}

/** `lines` and `elements` answer a chunk of the table, `items` the rows inside one record, `detect` what the source is. */
export default async function scan(task: ScanTask): Promise<TableChunk | Detected> {
	try {
		const reader = openReader(task.source);
		try {
			if (task.op === "detect") return await detect(reader, task.format);
			if (task.op === "lines") return await scanRange(reader, readerOf(task.format), task.from, task.to, task.readSize);
			if (task.op === "items") return await scanItems(reader, task);
			return await scanElements(reader, readerOf(task.format), task.start, task.end, task.fields);
		} finally {
			reader.close();
		}
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

async function detect(reader: ByteReader, given: FormatName | null): Promise<Detected> {
	const shape = await detectShape(reader);
	if (shape === "lines") {
		const records = await firstOfLines(reader);
		const format = given ?? recogniseFormat(records);
		return {
			shape,
			format,
			session: sessionIn(records, format),
			elements: null,
			fields: null,
			frame: null,
			damage: null,
		};
	}
	const scanned = scanDocument(reader);
	const { elements, fields, damage } = scanned;
	const records = await firstElements(reader, elements);
	const format = given ?? recogniseFormat(records);
	return {
		shape,
		format,
		session: sessionIn(records, format),
		elements,
		fields: { start: Float64Array.from(fields, (f) => f.start), end: Float64Array.from(fields, (f) => f.end) },
		frame: frameOf(reader, scanned),
		damage,
	};
}

async function firstElements(
	reader: ByteReader,
	{ start, end }: { start: Float64Array; end: Float64Array },
): Promise<JsonObject[]> {
	const records: JsonObject[] = [];
	for (let i = 0; i < Math.min(start.length, VOTERS); i++) {
		const giant = end[i] - start[i] > GIANT_RECORD;
		const value = giant
			? await parseRecordHead(reader, start[i], HEAD_OF_RECORD)
			: ((await parseOrNull(reader, start[i], end[i]))?.value ?? null);
		if (isObject(value)) records.push(value);
	}
	return records;
}

/** Null for bytes that are no JSON. */
async function parseOrNull(reader: ByteReader, start: number, end: number): Promise<Parsed | null> {
	return parseRecord(reader, start, end).catch((thrown: unknown) => {
		if (thrown instanceof SyntaxError) return null;
		throw thrown;
	});
}

async function scanRange(
	reader: ByteReader,
	format: FormatReader,
	from: number,
	to: number,
	readSize?: number,
): Promise<TableChunk> {
	const table = new RecordTable();
	const lines = new LineReader(reader, format.isWhole, table.damage);
	for (const line of scanLines(reader, from, to, readSize)) {
		const read = lines.read(line, table.records);
		for (const { value, start, end } of read instanceof Promise ? await read : read) {
			const place = { start, end, record: table.records++, line: line.number, item: 0 };
			addRows(table, place, () => [format.read(value)]);
		}
		table.lines = line.number;
	}
	return table.toChunk();
}

/**
 * Adds the rows of what a format reads from one record. A reader that fails on a hostile record costs that record alone: it keeps its number, has no
 * row, and is reported as `invalid_json`. (Of the kinds of RULINGS 20 that is the nearest; `record` tells it from bytes that are no JSON, whose is -1.)
 */
function addRows(table: RecordTable, place: RowPlace, read: () => (RecordFacts | null)[]): void {
	let rows: ({ facts: RecordFacts; measure: RowMeasure } | null)[];
	try {
		rows = read().map((facts) => facts && { facts, measure: measureParts(facts) });
	} catch {
		table.damage.add("invalid_json", place.start, place.line, place.record);
		return;
	}
	rows.forEach((row, k) => {
		if (row) table.add(row.facts, { ...place, item: place.item + k }, row.measure);
	});
}

/** Elements of a document count as lines; its other fields have neither a line nor a record number. */
async function scanElements(
	reader: ByteReader,
	format: FormatReader,
	starts: Float64Array,
	ends: Float64Array,
	areFields: boolean,
): Promise<TableChunk> {
	const table = new RecordTable();
	for (let i = 0; i < starts.length; i++) {
		const start = starts[i];
		const end = ends[i];
		const line = areFields ? 0 : ++table.lines;
		const value = (await parseOrNull(reader, start, end))?.value;
		if (isObject(value)) {
			const place = { start, end, record: areFields ? -1 : table.records++, line, item: 0 };
			addRows(table, place, () => [areFields ? readField(format, value) : format.read(value)]);
		} else if (value !== undefined) {
			table.damage.add("not_an_object", start, line, -1);
		} else {
			const nul = firstNulIn(reader, start, end);
			table.damage.add(nul < 0 ? "invalid_json" : "nul_run", nul < 0 ? start : nul, line, -1);
		}
	}
	return table.toChunk();
}

/** Every item inside one record; `record` and `line` are its final numbers in the table. */
async function scanItems(reader: ByteReader, task: Extract<ScanTask, { op: "items" }>): Promise<TableChunk> {
	const table = new RecordTable();
	const { start, end, record, line } = task;
	const { value } = await parseAgain(reader, start, end);
	addRows(table, { start, end, record, line, item: 1 }, () => readerOf(task.format).items?.(value) ?? []);
	return table.toChunk();
}
