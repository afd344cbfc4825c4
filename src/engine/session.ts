/** An open session: the survey's numbers, and the work that goes on behind it. */
import { setMaxListeners } from "node:events";
import { buildAtoms } from "../atoms/build.js";
import { asMidcompactError, type MidcompactError } from "../errors.js";
import { handleRequest } from "../facade/handle.js";
import type { Reply } from "../facade/reply.js";
import type { Survey } from "../facade/survey.js";
import type { Encoding } from "../measure/encodings.js";
import type { Scope } from "../session/branch.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import type { FormatName } from "../session/record.js";
import type { SourceSpec } from "../session/source.js";
import { loadContinued } from "./continued.js";
import { expandItems, requireRecords } from "./load.js";
import { cancelled, type WorkerPool } from "./pool.js";
import { grownBy } from "./sources.js";
import { makeSurvey, type OpenSurvey } from "./survey.js";

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
		const survey = await makeSurvey(pool, spec, { loaded, branch, anchor, grown }, options, controller.signal);
		if (controller.signal.aborted) throw cancelled();
		progress.scan = 1;
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
