/** Source to table: detection, the scan by workers, and what a format asks for beyond it. */
import type { Detected, ScanTask } from "../../workers/scan.js";
import { MidcompactError } from "../errors.js";
import type { BranchOptions } from "../session/branch.js";
import type { TableChunk } from "../session/chunk.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import type { FormatName } from "../session/record.js";
import type { SourceSpec } from "../session/source.js";
import { RecordTable } from "../session/table.js";
import { inOrder, type WorkerPool } from "./pool.js";

/** Bytes of one scan task: every thread gets several, a task is larger than its cost, and its rows are taken in far less than 50 ms. */
const LEAST_CHUNK = 1 << 18;
const MOST_CHUNK = 2 << 20;
const CHUNKS_PER_THREAD = 8;
/** Elements of a document in one scan task at most. */
const ELEMENTS = 4096;

export interface LoadOptions {
	format: FormatName | null;
	/** Bytes of one scan task; null: chosen by size. */
	chunkBytes: number | null;
	/** Bytes of one read in a worker; null: the reader's own. */
	readBytes: number | null;
	signal: AbortSignal;
	/** Called with the number of bytes that are in the table. */
	onBytes(done: number, table: RecordTable): void;
}

export interface Loaded {
	format: FormatName;
	/** The session's own id; null where the format has none. */
	session: string | null;
	table: RecordTable;
	sources: SourceSpec[];
	notices: string[];
}

/** Reads a whole source into a table. Errors: `not_a_session`, `unknown_format`, `unreadable`, `cancelled`. */
export async function load(pool: WorkerPool, spec: SourceSpec, options: LoadOptions): Promise<Loaded> {
	const detected = await pool.run<Detected>(
		"scan",
		{ op: "detect", source: spec, format: options.format } satisfies ScanTask,
		options.signal,
	);
	const { shape, format, damage } = detected;
	const table = new RecordTable();
	table.frame = detected.frame;
	if (shape === "lines") {
		await scanAll(pool, lineTasks(pool, spec, format, options), table, options, (task) => task.to);
	} else {
		await scanAll(pool, elementTasks(spec, detected), table, options, (task) => task.end[task.end.length - 1]);
		if (damage) table.damage.append(damage, 0, 0);
	}
	return { format, session: detected.session, table, sources: [spec], notices: [] };
}

/** Runs scan tasks and appends their chunks in order; `done` says how far a task takes the source, in bytes. */
async function scanAll<T extends ScanTask>(
	pool: WorkerPool,
	tasks: Iterable<T>,
	table: RecordTable,
	options: LoadOptions,
	done: (task: T) => number,
): Promise<void> {
	await inOrder(
		tasks,
		pool.width,
		(task) => pool.run<TableChunk>("scan", task, options.signal),
		async (chunk, task) => {
			await table.append(chunk);
			options.onBytes(done(task), table);
		},
	);
}

type LinesTask = Extract<ScanTask, { op: "lines" }>;

function* lineTasks(
	pool: WorkerPool,
	spec: SourceSpec,
	format: FormatName,
	options: LoadOptions,
): Generator<LinesTask> {
	const size =
		options.chunkBytes ?? Math.min(Math.max(spec.size / (pool.threads * CHUNKS_PER_THREAD), LEAST_CHUNK), MOST_CHUNK);
	const step = Math.max(1, Math.floor(size));
	for (let from = 0; from < spec.size; from += step) {
		const task: LinesTask = { op: "lines", source: spec, format, from, to: Math.min(from + step, spec.size) };
		if (options.readBytes !== null) task.readSize = options.readBytes;
		yield task;
	}
}

type ElementsTask = Extract<ScanTask, { op: "elements" }>;

function* elementTasks(spec: SourceSpec, { format, fields, elements }: Detected): Generator<ElementsTask> {
	if (fields && fields.start.length > 0) yield { op: "elements", source: spec, format, ...fields, fields: true };
	if (!elements) return;
	const { start, end } = elements;
	for (let from = 0; from < start.length; ) {
		let to = from + 1;
		while (to < start.length && to - from < ELEMENTS && end[to] - start[from] <= MOST_CHUNK) to++;
		yield {
			op: "elements",
			source: spec,
			format,
			start: start.slice(from, to),
			end: end.slice(from, to),
			fields: false,
		};
		from = to;
	}
}

/** Appends the items that a format wants to see inside records before it can build the branch. `expanded`: the rows whose items are in the table. */
export async function expandItems(
	pool: WorkerPool,
	loaded: Loaded,
	branch: BranchOptions,
	expanded: Set<number>,
	signal: AbortSignal,
): Promise<void> {
	const { table, format, sources } = loaded;
	const rows = (CONTEXTS[format].expand?.(table, branch) ?? []).filter((row) => !expanded.has(row));
	for (const row of rows) expanded.add(row);
	await inOrder(
		rows,
		pool.width,
		(row) => {
			const task: ScanTask = {
				op: "items",
				source: sources[table.source.at(row)],
				format,
				start: table.start.at(row),
				end: table.end.at(row),
				record: table.record.at(row),
				line: table.line.at(row),
			};
			return pool.run<TableChunk>("scan", task, signal);
		},
		(chunk, row) => table.append(chunk, { source: table.source.at(row), record: 0, line: 0 }),
	);
}

/** Refuses a source in which nothing could be read. */
export function requireRecords(table: RecordTable, what: string): void {
	if (table.records === 0) throw new MidcompactError("not_a_session", `${what} holds no readable record.`);
}
