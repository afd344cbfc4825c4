/** From a source to the survey of one branch of it. */
import { buildAtoms } from "../atoms/build.js";
import type { Encoding } from "../measure/encodings.js";
import type { Scope } from "../session/branch.js";
import { CONTEXTS } from "../session/formats/contexts.js";
import type { FormatName } from "../session/record.js";
import type { SourceSpec } from "../session/source.js";
import type { RecordTable } from "../session/table.js";
import { loadContinued } from "./continued.js";
import { expandItems, type Loaded, requireRecords } from "./load.js";
import type { WorkerPool } from "./pool.js";
import { grownBy } from "./sources.js";
import { makeSurvey, type OpenSurvey } from "./survey.js";

export interface ReadOptions {
	format: FormatName | null;
	encoding: Encoding;
	indexBudget: number;
	chunkBytes: number | null;
	readBytes: number | null;
}

/** Which branch of a session, and how it is seen. */
export interface View {
	scope: Scope;
	/** Entry id at which the branch ends; null for the format's own leaf. */
	leaf: string | null;
}

/** A source that is read, of which any branch can be surveyed. */
export class ReadSource {
	readonly loaded: Loaded;
	readonly #pool: WorkerPool;
	readonly #spec: SourceSpec;
	readonly #options: ReadOptions;
	readonly #signal: AbortSignal;
	readonly #expanded = new Set<number>();

	private constructor(pool: WorkerPool, spec: SourceSpec, loaded: Loaded, options: ReadOptions, signal: AbortSignal) {
		this.#pool = pool;
		this.#spec = spec;
		this.loaded = loaded;
		this.#options = options;
		this.#signal = signal;
	}

	/** Reads all records. Errors: `not_a_session`, `unknown_format`, `unreadable`, `cancelled`. */
	static async open(
		pool: WorkerPool,
		spec: SourceSpec,
		options: ReadOptions,
		signal: AbortSignal,
		onBytes: (done: number, table: RecordTable) => void = () => {},
	): Promise<ReadSource> {
		const { format, chunkBytes, readBytes } = options;
		const loaded = await loadContinued(pool, spec, { format, chunkBytes, readBytes, signal, onBytes });
		requireRecords(loaded.table, spec.kind === "file" ? spec.path : "The message list");
		return new ReadSource(pool, spec, loaded, options, signal);
	}

	/** The survey of one branch. Errors: `unknown_ref` when the leaf names no entry; `unreadable`, `cancelled`. */
	async survey(view: View): Promise<OpenSurvey> {
		const { loaded } = this;
		const branchOptions = { ...view, memory: this.#spec.kind === "memory" };
		await expandItems(this.#pool, loaded, branchOptions, this.#expanded, this.#signal);
		const branch = await CONTEXTS[loaded.format].branch(loaded.table, branchOptions);
		const anchor = await buildAtoms(loaded.table, branch);
		const grown = await grownBy(this.#spec);
		const options = { ...this.#options, scope: view.scope };
		return makeSurvey(this.#pool, this.#spec, { loaded, branch, anchor, grown }, options, this.#signal);
	}
}
