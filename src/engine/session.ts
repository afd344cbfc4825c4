/** An open session: the survey's numbers, and the work that goes on behind it. */
import { setMaxListeners } from "node:events";
import { type Anchor, buildAtoms } from "../atoms/build.js";
import { type Groups, groupAtoms } from "../atoms/groups.js";
import type { AtomTable } from "../atoms/table.js";
import { asMidcompactError, type MidcompactError } from "../errors.js";
import { handleRequest } from "../facade/handle.js";
import type { Reply } from "../facade/reply.js";
import type {
	AtomText,
	DamageReport,
	SearchQuery,
	SearchResult,
	Survey,
	SystemTotals,
	TextView,
	TokenState,
} from "../facade/survey.js";
import type { Encoding } from "../measure/encodings.js";
import { atomRowsOf } from "../search/places.js";
import type { Branch, Scope } from "../session/branch.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import type { FormatName } from "../session/record.js";
import type { RowSource } from "../session/rows.js";
import type { SourceSpec } from "../session/source.js";
import type { RecordTable } from "../session/table.js";
import { AtomReader } from "./atom-reader.js";
import { loadContinued } from "./continued.js";
import { reportDamage } from "./damage-report.js";
import { findGiants } from "./giants.js";
import { expandItems, type Loaded, requireRecords } from "./load.js";
import { cancelled, type WorkerPool } from "./pool.js";
import { SearchIndex } from "./search-index.js";
import { grownBy } from "./sources.js";
import { TokenCounts } from "./token-counts.js";

/** How far the work on a session is; fractions are 0-1. */
export interface Progress {
	phase: "scan" | "tokens" | "index" | "done";
	scan: number;
	tokens: number;
	index: number;
	/** Bytes of the source. */
	bytes: number;
}

export interface SessionOptions {
	format: FormatName | null;
	scope: Scope;
	leaf: string | null;
	encoding: Encoding;
	indexBudget: number;
	chunkBytes: number | null;
	readBytes: number | null;
	/** Which background work to do after the survey. */
	tokens: boolean;
	index: boolean;
	onProgress(progress: Progress): void;
}

/** An open session. Close it: it holds worker threads. */
export interface Session {
	readonly survey: Survey;
	readonly progress: Progress;
	/** Answers one request of the facade; never throws for a bad request (the reply says what is wrong). */
	request(envelope: unknown): Promise<Reply>;
	/** Resolves when all tokens are counted and the search index stands. Errors: `unreadable`, `cancelled`. */
	ready(): Promise<void>;
	/** Stops all work on the session; later requests answer `cancelled`. */
	close(): Promise<void>;
}

/** Reads a source up to its atoms, then counts and indexes behind the answer. `release` is called once, when the session closes. */
export async function openSource(
	pool: WorkerPool,
	spec: SourceSpec,
	options: SessionOptions,
	signal: AbortSignal | null,
	release: () => Promise<void>,
): Promise<Session> {
	const controller = new AbortController();
	// Every task of the session listens to it; how many there are is bounded by the pool, not by a habit of ten.
	setMaxListeners(0, controller.signal);
	const abort = () => controller.abort();
	if (signal?.aborted) abort();
	signal?.addEventListener("abort", abort, { once: true });
	const progress: Progress = { phase: "scan", scan: 0, tokens: 0, index: 0, bytes: spec.size };
	try {
		const loaded = await loadContinued(pool, spec, {
			format: options.format,
			chunkBytes: options.chunkBytes,
			readBytes: options.readBytes,
			signal: controller.signal,
			onBytes: (done, table) => {
				// Room for the rest, going by the first chunk.
				if (progress.scan === 0) table.reserve(done / spec.size);
				progress.scan = done / spec.size;
				options.onProgress({ ...progress });
			},
		});
		requireRecords(loaded.table, spec.kind === "file" ? spec.path : "The message list");
		const branchOptions = { scope: options.scope, leaf: options.leaf, memory: spec.kind === "memory" };
		await expandItems(pool, loaded, branchOptions, controller.signal);
		const branch = await CONTEXTS[loaded.format].branch(loaded.table, branchOptions);
		const anchor = await buildAtoms(loaded.table, branch);
		const grown = await grownBy(spec);
		if (controller.signal.aborted) throw cancelled();
		progress.scan = 1;
		const survey = new OpenSurvey(pool, loaded, branch, anchor, spec, options, grown, controller.signal);
		return new OpenSession(survey, progress, options, controller, async () => {
			signal?.removeEventListener("abort", abort);
			await release();
		});
	} catch (thrown) {
		signal?.removeEventListener("abort", abort);
		controller.abort();
		throw asMidcompactError(thrown);
	}
}

class OpenSurvey implements Survey {
	readonly path: string | null;
	readonly format: FormatName;
	readonly scope: Scope;
	readonly bytes: number;
	readonly anchor: string | null;
	readonly table: RecordTable;
	readonly branch: Branch;
	readonly atoms: AtomTable;
	readonly groups: Groups;
	readonly system: SystemTotals;
	readonly tokens: TokenState;
	readonly damage: DamageReport;
	readonly notices: readonly string[];
	readonly unsearchedAtoms: number;
	readonly counts: TokenCounts;
	readonly index: SearchIndex;
	readonly source: RowSource;
	readonly pool: WorkerPool;
	readonly #reader: AtomReader;

	constructor(
		pool: WorkerPool,
		loaded: Loaded,
		branch: Branch,
		anchor: Anchor,
		spec: SourceSpec,
		options: SessionOptions,
		grown: number,
		signal: AbortSignal,
	) {
		this.pool = pool;
		this.path = spec.kind === "file" ? spec.path : null;
		this.format = loaded.format;
		this.scope = options.scope;
		this.bytes = spec.size;
		this.table = loaded.table;
		this.branch = { ...branch, messages: anchor.messages };
		this.anchor = branch.leaf < 0 ? null : loaded.table.entryOf(branch.leaf);
		this.atoms = anchor.atoms;
		this.groups = groupAtoms(anchor.atoms);
		this.system = anchor.system;
		this.source = { sources: loaded.sources, format: loaded.format };
		const rows = atomRowsOf(anchor.atoms, anchor.messages);
		this.counts = new TokenCounts(options.encoding, loaded.table, anchor, rows);
		this.tokens = this.counts;
		this.damage = reportDamage(loaded.table, branch, grown > 0);
		const giants = findGiants(loaded.table, rows);
		this.unsearchedAtoms = giants.atoms;
		const growing =
			grown > 0 ? [`The file grew by ${grown} bytes while it was read; they are not in this survey.`] : [];
		this.notices = [...loaded.notices, ...branch.notices, ...nothingRead(this), ...giants.notices, ...growing];
		this.#reader = new AtomReader(pool, this.table, rows, this.source, signal);
		this.index = new SearchIndex(pool, this.table, anchor, rows, this.source, options.indexBudget, signal);
	}

	texts(atoms: readonly number[], view: TextView): Promise<AtomText[]> {
		return this.#reader.texts(atoms, view);
	}

	async search(query: SearchQuery): Promise<SearchResult> {
		const { total, atoms } = await this.index.search(query);
		const matches =
			query.pattern === null
				? await this.#reader.texts(atoms, { budget: query.excerpt, shape: "content" })
				: await this.#reader.excerpts(atoms, query.pattern, query.excerpt);
		return { total, matches };
	}
}

/** A session whose records are all something else than messages is legal, but more often the wrong format was named. */
function nothingRead({ table, atoms, system, format }: OpenSurvey): string[] {
	if (atoms.length > 0 || system.messages > 0) return [];
	return [`None of the ${table.records} records is a message that the format ${format} would send.`];
}

class OpenSession implements Session {
	readonly survey: OpenSurvey;
	readonly progress: Progress;
	readonly #controller: AbortController;
	readonly #release: () => Promise<void>;
	readonly #background: Promise<void>;
	#failure: MidcompactError | null = null;
	#closing: Promise<void> | null = null;

	constructor(
		survey: OpenSurvey,
		progress: Progress,
		options: SessionOptions,
		controller: AbortController,
		release: () => Promise<void>,
	) {
		this.survey = survey;
		this.progress = progress;
		this.#controller = controller;
		this.#release = release;
		this.#background = this.#work(options).catch((thrown) => {
			this.#failure = asMidcompactError(thrown);
		});
	}

	async request(envelope: unknown): Promise<Reply> {
		return handleRequest(this.survey, envelope);
	}

	async ready(): Promise<void> {
		await this.#background;
		if (this.#failure) throw this.#failure;
	}

	close(): Promise<void> {
		this.#closing ??= this.#close();
		return this.#closing;
	}

	async #close(): Promise<void> {
		this.#controller.abort();
		await this.#background;
		await this.survey.index.drop();
		await this.#release();
	}

	/** Tokens first: they stand in every reply, while a search without its index is only slower. */
	async #work(options: SessionOptions): Promise<void> {
		const { survey, progress } = this;
		const tell = (phase: Progress["phase"]) => {
			progress.phase = phase;
			progress.tokens = survey.counts.ready;
			progress.index = survey.index.ready;
			options.onProgress({ ...progress });
		};
		if (options.tokens)
			await survey.counts.count(survey.pool, survey.source, this.#controller.signal, () => tell("tokens"));
		if (options.index) await survey.index.build(() => tell("index"));
		tell("done");
	}
}
