/** Search of one session: the trigram index in its thread, and the scan that works before it stands and verifies what it says. */
import { randomUUID } from "node:crypto";
import type { Anchor } from "../atoms/build.js";
import type { SearchQuery } from "../facade/survey.js";
import { buildIndex } from "../search/build.js";
import { columnFilter } from "../search/filters.js";
import { type AtomSizes, type PagePlan, planPages } from "../search/pages.js";
import { type AtomRows, atomBytes, atomPlaces } from "../search/places.js";
import { type FoundAtoms, searchAtoms } from "../search/search.js";
import type { FindResult, FindTask, ShardCandidates, ShardState, ShardTask } from "../search/tasks.js";
import type { RowSource } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";
import type { WorkerPool } from "./pool.js";

export class SearchIndex {
	readonly #pool: WorkerPool;
	readonly #table: RecordTable;
	readonly #anchor: Anchor;
	readonly #rows: AtomRows;
	readonly #source: RowSource;
	readonly #budget: number;
	readonly #signal: AbortSignal;
	/** Name of this session's index in the thread that holds the indexes of all. */
	readonly #key = randomUUID();
	#sizes: AtomSizes | null = null;
	/** Set when the index stands. */
	#pages: PagePlan | null = null;
	#started = false;
	#ready = 0;

	constructor(
		pool: WorkerPool,
		table: RecordTable,
		anchor: Anchor,
		rows: AtomRows,
		source: RowSource,
		budget: number,
		signal: AbortSignal,
	) {
		this.#pool = pool;
		this.#table = table;
		this.#anchor = anchor;
		this.#rows = rows;
		this.#source = source;
		this.#budget = budget;
		this.#signal = signal;
	}

	/** Fraction 0-1 of the pages that were looked at. */
	get ready(): number {
		return this.#ready;
	}

	/** Builds the index; searches meanwhile scan. Errors: `unreadable`, `cancelled`. */
	async build(onProgress: () => void): Promise<void> {
		this.#started = true;
		const sizes = this.#atomSizes();
		const plan = planPages(sizes, this.#budget);
		const atomsOf = (first: number, end: number) => range(plan.start[first], plan.start[end]);
		await buildIndex(
			plan,
			{
				bytes: sizes.bytes,
				pagesToAdd: (first, end) => ({
					first,
					pageStart: plan.start.slice(first, end + 1).map((atom) => atom - plan.start[first]),
					atoms: atomPlaces(this.#table, this.#rows, atomsOf(first, end)),
				}),
				add: (pages) => {
					const task: ShardTask = { op: "add", key: this.#key, from: this.#source, budget: this.#budget, pages };
					return this.#pool.runShard<ShardState>(task, this.#signal);
				},
				progress: (done) => {
					this.#ready = done;
					onProgress();
				},
			},
			this.#signal,
		);
		this.#pages = plan;
		this.#ready = 1;
	}

	/** Atoms that match all filters of the query. */
	search(query: SearchQuery): Promise<FoundAtoms> {
		const { atoms } = this.#anchor;
		return searchAtoms(
			{ ...this.#atomSizes(), pages: this.#pages },
			{
				pattern: query.pattern,
				accepts: columnFilter(this.#table, atoms, this.#rows, query),
				direction: query.direction,
				limit: query.limit,
			},
			{
				inFlight: this.#pool.width,
				candidates: (pattern) => {
					const task: ShardTask = { op: "candidates", key: this.#key, pattern, pages: this.#pages?.pages ?? 0 };
					return this.#pool.runShard<ShardCandidates>(task, this.#signal);
				},
				find: (chosen, pattern) => {
					const task: FindTask = { from: this.#source, atoms: atomPlaces(this.#table, this.#rows, chosen), pattern };
					return this.#pool.run<FindResult>("find", task, this.#signal);
				},
			},
			this.#signal,
		);
	}

	/** Frees the index in its thread. */
	async drop(): Promise<void> {
		if (!this.#started || this.#pool.closed) return;
		const task: ShardTask = { op: "drop", key: this.#key };
		await this.#pool.runShard<ShardState>(task).catch(() => undefined);
	}

	#atomSizes(): AtomSizes {
		this.#sizes ??= { chars: this.#anchor.atoms.chars.view(), bytes: atomBytes(this.#table, this.#rows) };
		return this.#sizes;
	}
}

function range(from: number, to: number): Uint32Array {
	return Uint32Array.from({ length: to - from }, (_, i) => from + i);
}
