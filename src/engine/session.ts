/** An open session: the survey's numbers, and the work that goes on behind it. */
import { setMaxListeners } from "node:events";
import { basename } from "node:path";
import { asMidcompactError, type MidcompactError } from "../errors.js";
import { handleRequest } from "../facade/handle.js";
import type { Reply } from "../facade/reply.js";
import type { Survey } from "../facade/survey.js";
import { stateRoot } from "../plan/state-root.js";
import type { SourceSpec } from "../session/source.js";
import { PlanHome, sessionKey } from "./plan-home.js";
import { type Planning, SessionPlanning } from "./planning.js";
import { cancelled, type WorkerPool } from "./pool.js";
import { type ReadOptions, ReadSource } from "./read.js";
import { checkResume, type ResumeReport } from "./resume.js";
import { viewSession, type Wanted } from "./session-view.js";
import type { OpenSurvey } from "./survey.js";

/** How far the work on a session is; fractions are 0-1. */
export interface Progress {
	phase: "scan" | "tokens" | "index" | "done";
	scan: number;
	tokens: number;
	index: number;
	/** Bytes of the source. */
	bytes: number;
}

export interface SessionOptions extends ReadOptions, Wanted {
	/** Where plans are kept: an absolute path, empty for the usual place, null for nowhere. */
	stateFolder: string | null;
	/** Which background work to do after the survey. */
	tokens: boolean;
	index: boolean;
	onProgress(progress: Progress): void;
}

/** An open session. Close it: it holds worker threads. */
export interface Session {
	readonly survey: Survey;
	/** Start, commit and abort: what only the user does. Null for a message list in memory, and where no state folder can be used. */
	readonly planning: Planning | null;
	readonly progress: Progress;
	/** Answers one request of the facade; never throws for a bad request (the reply says what is wrong). */
	request(envelope: unknown): Promise<Reply>;
	/** What would keep the session's host from taking it up again as it is. Errors: `unreadable`, `cancelled`. */
	checkResume(): Promise<ResumeReport>;
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
		const read = await ReadSource.open(pool, spec, options, controller.signal, (done, table) => {
			// Room for the rest, going by the first chunk.
			if (progress.scan === 0) table.reserve(done / spec.size);
			progress.scan = done / spec.size;
			options.onProgress({ ...progress });
		});
		const home = await homeOf(pool, spec, read, options, controller.signal);
		const { survey, transaction, lost, notices } = await viewSession(read, home.home, options);
		survey.addNotices([...home.notices, ...notices]);
		const planning = home.home
			? new SessionPlanning(read, survey, home.home, { transaction, lost }, options, controller.signal)
			: null;
		if (controller.signal.aborted) throw cancelled();
		progress.scan = 1;
		return new OpenSession(survey, planning, progress, options, controller, async () => {
			signal?.removeEventListener("abort", abort);
			await release();
		});
	} catch (thrown) {
		signal?.removeEventListener("abort", abort);
		controller.abort();
		throw asMidcompactError(thrown);
	}
}

/** Where the plans of a file are kept. A state folder that cannot be read keeps nobody from reading a session: that is a notice. */
async function homeOf(
	pool: WorkerPool,
	spec: SourceSpec,
	read: ReadSource,
	{ stateFolder }: SessionOptions,
	signal: AbortSignal,
): Promise<{ home: PlanHome | null; notices: string[] }> {
	if (spec.kind === "memory" || stateFolder === null) return { home: null, notices: [] };
	const id = await sessionKey(pool, read.loaded, signal);
	try {
		const root = stateFolder === "" ? stateRoot() : stateFolder;
		return { home: await PlanHome.find(root, { format: read.loaded.format, id, path: spec.path }), notices: [] };
	} catch (thrown) {
		const error = asMidcompactError(thrown);
		if (error.code !== "state_unavailable" && error.code !== "locked") throw error;
		return { home: null, notices: [`No plan can be kept or found: ${error.message}`] };
	}
}

class OpenSession implements Session {
	readonly survey: OpenSurvey;
	readonly planning: SessionPlanning | null;
	readonly progress: Progress;
	readonly #controller: AbortController;
	readonly #release: () => Promise<void>;
	readonly #background: Promise<void>;
	#failure: MidcompactError | null = null;
	#closing: Promise<void> | null = null;

	constructor(
		survey: OpenSurvey,
		planning: SessionPlanning | null,
		progress: Progress,
		options: SessionOptions,
		controller: AbortController,
		release: () => Promise<void>,
	) {
		this.survey = survey;
		this.planning = planning;
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

	checkResume(): Promise<ResumeReport> {
		const { path } = this.survey;
		return checkResume(this.survey, path === null ? null : basename(path), this.#controller.signal);
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
