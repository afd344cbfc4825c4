/** Source to table: detection, the scan by workers, and what a format asks for beyond it. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Detected, ScanTask } from "../../workers/scan.js";
import { MidcompactError } from "../errors.js";
import type { BranchOptions } from "../session/branch.js";
import { DamageLog } from "../session/damage.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import type { FormatName } from "../session/record.js";
import type { SourceSpec } from "../session/source.js";
import { RecordTable, type TableChunk } from "../session/table.js";
import { inOrder, type WorkerPool } from "./pool.js";
import { fileSource } from "./sources.js";

/** Bytes of one scan task: every thread gets several, a task is larger than its cost, and its rows are taken in far less than 50 ms. */
const LEAST_CHUNK = 1 << 18;
const MOST_CHUNK = 2 << 20;
const CHUNKS_PER_THREAD = 8;
/** Elements of a document in one scan task at most. */
const ELEMENTS = 4096;
/** Files that continue one another, at most. */
const CONTINUED = 32;

export interface LoadOptions {
	format: FormatName | null;
	/** Bytes of one scan task; null: chosen by size. */
	chunkBytes: number | null;
	/** Bytes of one read in a worker; null: the reader's own. */
	readBytes: number | null;
	signal: AbortSignal;
	/** Called with the number of bytes that are in the table. */
	onBytes(done: number): void;
	/** Ids of sessions that already stand in the chain of files that continue one another. */
	continued?: readonly string[];
}

export interface Loaded {
	format: FormatName;
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
	const table = new RecordTable();
	const loaded: Loaded = { format: detected.format, table, sources: [spec], notices: [] };
	if (detected.shape === "lines") await scanLineChunks(pool, spec, loaded, options);
	else await scanDocumentChunks(pool, spec, detected, loaded, options);
	return spec.kind === "file" ? withBases(pool, loaded, options) : loaded;
}

async function scanLineChunks(
	pool: WorkerPool,
	spec: SourceSpec,
	{ table, format }: Loaded,
	options: LoadOptions,
): Promise<void> {
	const size =
		options.chunkBytes ?? Math.min(Math.max(spec.size / (pool.threads * CHUNKS_PER_THREAD), LEAST_CHUNK), MOST_CHUNK);
	const step = Math.max(1, Math.floor(size));
	const tasks = function* () {
		for (let from = 0; from < spec.size; from += step) {
			const task: ScanTask = { op: "lines", source: spec, format, from, to: Math.min(from + step, spec.size) };
			if (options.readBytes !== null) task.readSize = options.readBytes;
			yield task;
		}
	};
	await inOrder(
		tasks(),
		pool.width,
		(task) => pool.run<TableChunk>("scan", task, options.signal),
		(chunk, task) => {
			table.append(chunk);
			if (task.from === 0) table.reserve(task.to / spec.size);
			options.onBytes(task.to);
		},
	);
}

async function scanDocumentChunks(
	pool: WorkerPool,
	spec: SourceSpec,
	detected: Detected,
	{ table, format }: Loaded,
	options: LoadOptions,
): Promise<void> {
	const tasks = function* (): Generator<Extract<ScanTask, { op: "elements" }>> {
		const { fields, elements } = detected;
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
	};
	await inOrder(
		tasks(),
		pool.width,
		(task) => pool.run<TableChunk>("scan", task, options.signal),
		(chunk, task) => {
			table.append(chunk);
			options.onBytes(task.end[task.end.length - 1]);
		},
	);
	if (detected.damage) table.damage.append(detected.damage, 0, 0);
}

/** Puts the rows of the files that this one continues before its own (RULINGS 7: a native Codex fork). */
async function withBases(pool: WorkerPool, child: Loaded, options: LoadOptions): Promise<Loaded> {
	const base = CONTEXTS[child.format].base?.(child.table) ?? null;
	if (base === null) return child;
	const continued = options.continued ?? [];
	const circular = continued.includes(base.id) || continued.length >= CONTINUED;
	const spec = circular ? null : await findBase(child.sources[0], base);
	if (spec === null) {
		child.table.damage.add("missing_parent", child.table.start.at(0), 1, 0);
		child.notices.push(
			`The session continues ${base.id}, whose file is missing or shorter than it was: only its own part is here.`,
		);
		return child;
	}
	const alone = await load(pool, spec, {
		...options,
		format: child.format,
		onBytes: () => {},
		continued: [...continued, base.id],
	});
	const table = new RecordTable();
	table.append({ ...alone.table.toChunk(), damage: new DamageLog() });
	alone.sources.forEach((_, source) => {
		for (let row = 0; row < table.rows; row++)
			if (alone.table.source.at(row) === source) table.source.data[row] = source;
	});
	if (alone.table.damage.count > 0)
		alone.notices.push(`The continued session ${base.id} is damaged in ${alone.table.damage.count} places.`);
	table.append(child.table.toChunk(), alone.sources.length, table.records, 0);
	return {
		format: child.format,
		table,
		sources: [...alone.sources, ...child.sources],
		notices: [...alone.notices, ...child.notices, `The session continues ${base.id}, which was read too.`],
	};
}

/** The file of a session id near another file: same folder, or anywhere below the agent's folder of sessions. */
async function findBase(near: SourceSpec, base: { id: string; end: number }): Promise<SourceSpec | null> {
	if (near.kind === "memory") return null;
	for (const folder of searchFolders(dirname(near.path))) {
		const names = await readdir(folder, { recursive: true }).catch(() => [] as string[]);
		const name = names
			.filter((n) => basename(n).includes(base.id) && n.endsWith(".jsonl"))
			.sort()
			.at(-1);
		if (name === undefined) continue;
		const spec = await fileSource(join(folder, name)).catch(() => null);
		if (spec === null || spec.size < base.end) return null;
		return { ...spec, size: base.end };
	}
	return null;
}

/** The folder itself, then the `sessions` folder above it, if there is one. */
function searchFolders(folder: string): string[] {
	for (let at = folder; at !== dirname(at); at = dirname(at)) if (basename(at) === "sessions") return [folder, at];
	return [folder];
}

/** Appends the items that a format wants to see inside records before it can build the branch. */
export async function expandItems(
	pool: WorkerPool,
	loaded: Loaded,
	branch: BranchOptions,
	signal: AbortSignal,
): Promise<void> {
	const { table, format, sources } = loaded;
	const rows = CONTEXTS[format].expand?.(table, branch) ?? [];
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
		(chunk, row) => table.append(chunk, table.source.at(row), 0, 0),
	);
}

/** Refuses a source in which nothing could be read. */
export function requireRecords(table: RecordTable, what: string): void {
	if (table.records === 0) throw new MidcompactError("not_a_session", `${what} holds no readable record.`);
}
