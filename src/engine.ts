/** Opens sessions and owns the worker threads. */
import { resolve } from "node:path";
import { WorkerPool } from "./engine/pool.js";
import { openSource, type Progress, type Session } from "./engine/session.js";
import { fileSource, memorySource } from "./engine/sources.js";
import { MidcompactError } from "./errors.js";
import { ENCODINGS, type Encoding } from "./measure/encodings.js";
import { INDEX_BUDGET } from "./search/trigram-index.js";
import type { Scope } from "./session/branch.js";
import { FORMATS, type FormatName } from "./session/record.js";

export interface OpenOptions {
	/** Default: detected from the first records. */
	format?: FormatName;
	/** `context` (default): what the agent would be sent at the anchor; `path`: every message from root to anchor. */
	scope?: Scope;
	/** Entry id at which the branch ends; default: the format's own leaf. */
	leaf?: string;
	/** Tokenizer encoding of all token figures; default `o200k_base`. */
	encoding?: Encoding;
	/** Aborting stops all work on the session; what waits rejects with `cancelled`. */
	signal?: AbortSignal;
	/** Called whenever a task is done: some ten times a second. */
	onProgress?: (progress: Progress) => void;
	/**
	 * Folder that keeps plans and originals; default: `MIDCOMPACT_STATE_DIR`, else the user's state folder. False: no plan is looked for or kept. An open transaction decides
	 * what is seen unless `leaf` or `scope` name something else.
	 */
	stateDir?: string | false;
	/** False: the branch itself is opened, also while a transaction is open on another anchor; default true. */
	atAnchor?: boolean;
	/** Bytes that the search index may take; default 256 MiB. Beyond it the rest of the session is scanned. */
	indexBudget?: number;
	/** Work to do behind the first answer; default both. Without an index every search scans; without tokens the counts stay null. */
	background?: { tokens?: boolean; index?: boolean };
	/** Bytes of one scan task, and of one read in a worker; default: chosen by size. Results do not depend on them. */
	chunkBytes?: number;
	readBytes?: number;
}

export interface EngineOptions {
	/** Worker threads at most; default: one per core, 8 at most. */
	threads?: number;
}

/** One pool of workers that serves any number of sessions. */
export interface Engine {
	/**
	 * Opens a session file, or a list of message objects in memory (Pi entries or messages, Claude Code lines, Codex items, OpenAI or Anthropic messages).
	 * Resolves as soon as its atoms exist. Errors: `unreadable`, `not_a_session`, `unknown_format`, `unknown_ref` (leaf), `invalid_field`, `cancelled`.
	 */
	open(session: string | readonly unknown[], options?: OpenOptions): Promise<Session>;
	/** Ends all threads. Sessions that are still open answer `cancelled` from then on. */
	close(): Promise<void>;
}

/** Starts an engine; threads start with the first session. Errors: `invalid_field`. */
export function createEngine(options: EngineOptions = {}): Engine {
	checkCount("threads", options.threads);
	const pool = new WorkerPool(options.threads);
	return {
		open: (session, openOptions = {}) => openIn(pool, session, openOptions, async () => {}),
		close: () => pool.close(),
	};
}

/**
 * Opens one session with threads of its own, which end when it closes. Takes the options of an engine and of `Engine.open`, whose errors it has.
 * Several sessions at once: use {@link createEngine}.
 */
export async function openSession(
	session: string | readonly unknown[],
	options: OpenOptions & EngineOptions = {},
): Promise<Session> {
	if (typeof options !== "object" || options === null)
		throw new MidcompactError("invalid_field", "The options are no object.");
	checkCount("threads", options.threads);
	const pool = new WorkerPool(options.threads);
	try {
		return await openIn(pool, session, options, () => pool.close());
	} catch (thrown) {
		await pool.close();
		throw thrown;
	}
}

async function openIn(
	pool: WorkerPool,
	session: string | readonly unknown[],
	options: OpenOptions,
	release: () => Promise<void>,
): Promise<Session> {
	if (typeof options !== "object" || options === null)
		throw new MidcompactError("invalid_field", "The options are no object.");
	checkOptions(options);
	checkName("format", options.format, FORMATS);
	checkName("scope", options.scope, ["context", "path"]);
	checkName("encoding", options.encoding, ENCODINGS);
	if (typeof session !== "string" && !Array.isArray(session)) {
		throw new MidcompactError("not_a_session", "A session is a path or a list of messages.");
	}
	const spec = typeof session === "string" ? await fileSource(session) : await memorySource(session);
	const settings = {
		format: options.format ?? null,
		scope: options.scope ?? null,
		leaf: options.leaf ?? null,
		stateFolder: stateFolderOf(options.stateDir),
		atAnchor: options.atAnchor ?? true,
		encoding: options.encoding ?? "o200k_base",
		indexBudget: options.indexBudget ?? INDEX_BUDGET,
		chunkBytes: options.chunkBytes ?? null,
		readBytes: options.readBytes ?? null,
		tokens: options.background?.tokens ?? true,
		index: options.background?.index ?? true,
		onProgress: options.onProgress ?? (() => {}),
	};
	return openSource(pool, spec, settings, options.signal ?? null, release);
}

function stateFolderOf(given: string | false | undefined): string | null {
	if (given === false) return null;
	if (given !== undefined && (typeof given !== "string" || given === ""))
		throw new MidcompactError("invalid_field", "The option stateDir is no path.");
	return given === undefined ? "" : resolve(given);
}

/** Numbers and callbacks that a caller without types may get wrong. */
function checkOptions(options: OpenOptions): void {
	for (const field of ["indexBudget", "chunkBytes", "readBytes"] as const) checkCount(field, options[field]);
	if (options.onProgress !== undefined && typeof options.onProgress !== "function") {
		throw new MidcompactError("invalid_field", "The option onProgress is no function.");
	}
	if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
		throw new MidcompactError("invalid_field", "The option signal is no AbortSignal.");
	}
}

function checkCount(field: string, value: unknown): void {
	if (value === undefined || (typeof value === "number" && Number.isFinite(value) && value >= 1)) return;
	throw new MidcompactError("invalid_field", `The option ${field} is ${String(value)}, not a number of 1 or more.`);
}

function checkName(field: string, value: string | undefined, known: readonly string[]): void {
	if (value === undefined || known.includes(value)) return;
	throw new MidcompactError(
		"invalid_field",
		`The ${field} ${JSON.stringify(value)} is not known.`,
		`Use one of ${known.join(", ")}.`,
	);
}
