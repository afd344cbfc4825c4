/** Files that continue another one, as a native Codex fork does (RULINGS 7): the rows of the parent stand before the child's. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DamageLog } from "../session/damage.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import { openReader, type SourceSpec } from "../session/source.js";
import { RecordTable } from "../session/table.js";
import { type Loaded, type LoadOptions, load } from "./load.js";
import type { WorkerPool } from "./pool.js";
import { fileSource } from "./sources.js";

/** Files that continue one another, at most. */
const CONTINUED = 32;

/** Loads a source and, before its rows, those of the files that it continues. Errors: those of `load`. */
export async function loadContinued(
	pool: WorkerPool,
	spec: SourceSpec,
	options: LoadOptions,
	/** Paths of the files that lead here, so that a circle ends. */
	path: readonly string[] = [],
): Promise<Loaded> {
	const child = await load(pool, spec, options);
	const base = spec.kind === "file" ? (CONTEXTS[child.format].base?.(child.table) ?? null) : null;
	if (base === null || spec.kind !== "file") return child;
	const known = [...path, spec.path];
	const parent = known.length < CONTINUED ? await findBase(spec.path, base) : null;
	if (parent === null || known.includes(parent.path)) {
		child.table.damage.add("missing_parent", child.table.start.at(0), 1, 0);
		child.notices.push(
			`The session continues ${base.id}, whose file is missing, shorter than it was, or cut inside a line: only its own part is here.`,
		);
		return child;
	}
	const before = await loadContinued(pool, parent, { ...options, format: child.format, onBytes: () => {} }, known);
	return joined(before, child, base.id);
}

async function joined(parent: Loaded, child: Loaded, id: string): Promise<Loaded> {
	const table = new RecordTable();
	// Damage is reported of the file that was opened; that of the other is only counted.
	await table.append({ ...parent.table.toChunk(), damage: new DamageLog() });
	await table.append(child.table.toChunk(), { source: parent.sources.length, line: 0 });
	const notices = [...parent.notices, ...child.notices, `The session continues ${id}, which was read too.`];
	const { count } = parent.table.damage;
	if (count > 0) notices.push(`Damage in the continued session ${id}: ${count} finding(s).`);
	return {
		format: child.format,
		session: child.session,
		table,
		sources: [...parent.sources, ...child.sources],
		notices,
	};
}

type FileSpec = Extract<SourceSpec, { kind: "file" }>;

/** The file of a session id: in the same folder, or anywhere below the agent's folder of sessions. Null when it is missing, too short, or the cut is inside a line. */
async function findBase(near: string, base: { id: string; end: number }): Promise<FileSpec | null> {
	const folder = dirname(near);
	const found = (await fileIn(folder, base.id, false)) ?? (await fileIn(sessionsFolder(folder), base.id, true));
	if (found === null) return null;
	const spec = await fileSource(found).catch(() => null);
	if (spec?.kind !== "file" || spec.size < base.end || !endsLine(spec, base.end)) return null;
	return { ...spec, size: base.end };
}

/** Whether a file, cut off at `end`, ends with a whole line. */
function endsLine(spec: FileSpec, end: number): boolean {
	if (end === spec.size) return true;
	const reader = openReader(spec);
	try {
		const around = Buffer.alloc(2);
		reader.read(around, end - 1);
		return around.includes("\n");
	} finally {
		reader.close();
	}
}

/** Of several files with one id the host takes the one with the later name. */
async function fileIn(folder: string | null, id: string, recursive: boolean): Promise<string | null> {
	if (folder === null) return null;
	const names = await readdir(folder, { recursive }).catch(() => [] as string[]);
	const name = names
		.filter((n) => basename(n).endsWith(`${id}.jsonl`))
		.sort()
		.at(-1);
	return name === undefined ? null : join(folder, name);
}

/** The nearest folder above that is called `sessions`; null for none. */
function sessionsFolder(folder: string): string | null {
	for (let at = folder; at !== dirname(at); at = dirname(at)) if (basename(at) === "sessions") return at;
	return null;
}
