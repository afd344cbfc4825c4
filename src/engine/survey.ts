/** The survey of an open session: numbers at hand, texts and searches through workers. */
import type { CountResult, CountTask } from "../../workers/count.js";
import type { Anchor } from "../atoms/build.js";
import { type Groups, groupAtoms } from "../atoms/groups.js";
import type { AtomTable } from "../atoms/table.js";
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
import type { BlockArchive } from "../plan/archive.js";
import type { LossReport } from "../plan/losses.js";
import type { Plan, PlanRange } from "../plan/plan.js";
import type { PlanDesk } from "../plan/transaction.js";
import { type AtomRows, atomRowsOf } from "../search/places.js";
import type { Branch, Scope } from "../session/branch.js";
import { breathe } from "../session/breathe.js";
import type { FormatName } from "../session/record.js";
import type { RowSource } from "../session/rows.js";
import type { SourceSpec } from "../session/source.js";
import type { RecordTable } from "../session/table.js";
import { AtomReader } from "./atom-reader.js";
import { reportDamage } from "./damage-report.js";
import { findGiants, type Giants } from "./giants.js";
import { hashAtoms } from "./hashes.js";
import type { Loaded } from "./load.js";
import { lossesOf } from "./losses.js";
import type { WorkerPool } from "./pool.js";
import { SearchIndex } from "./search-index.js";
import { TokenCounts } from "./token-counts.js";

/** What reading a source gave. `grown`: bytes that were appended meanwhile. */
export interface ReadSession {
	loaded: Loaded;
	branch: Branch;
	anchor: Anchor;
	grown: number;
}

export interface SurveyOptions {
	scope: Scope;
	encoding: Encoding;
	/** Bytes that the search index may take. */
	indexBudget: number;
}

interface Derived {
	rows: AtomRows;
	groups: Groups;
	damage: DamageReport;
	giants: Giants;
}

/** Draws up the survey; every step is one pass over the rows or atoms, with a turn of the event loop between two of them. */
export async function makeSurvey(
	pool: WorkerPool,
	spec: SourceSpec,
	read: ReadSession,
	options: SurveyOptions,
	signal: AbortSignal,
): Promise<OpenSurvey> {
	const { loaded, branch, anchor, grown } = read;
	await breathe();
	const rows = atomRowsOf(anchor.atoms, anchor.messages);
	const groups = groupAtoms(anchor.atoms);
	await breathe();
	const damage = reportDamage(loaded.table, branch, grown > 0);
	await breathe();
	const giants = findGiants(loaded.table, rows);
	await breathe();
	return new OpenSurvey(pool, spec, read, { rows, groups, damage, giants }, options, signal);
}

export class OpenSurvey implements Survey {
	readonly path: string | null;
	readonly format: FormatName;
	/** The session's own id; null where the format has none. */
	readonly session: string | null;
	readonly scope: Scope;
	readonly bytes: number;
	readonly anchor: string | null;
	readonly table: RecordTable;
	readonly branch: Branch;
	readonly atoms: AtomTable;
	readonly groups: Groups;
	readonly system: SystemTotals;
	/** Rows of the system messages, in order. */
	readonly systemRows: readonly number[];
	readonly damage: DamageReport;
	notices: readonly string[];
	readonly unsearchedAtoms: number;
	readonly tokens: TokenState;
	readonly counts: TokenCounts;
	readonly index: SearchIndex;
	readonly source: RowSource;
	/** Content rows of the atoms. */
	readonly rows: AtomRows;
	readonly pool: WorkerPool;
	/** Set once the session knows where its plan is kept. */
	desk: PlanDesk | null = null;
	archive: BlockArchive | null = null;
	readonly #reader: AtomReader;
	readonly #signal: AbortSignal;

	constructor(
		pool: WorkerPool,
		spec: SourceSpec,
		{ loaded, branch, anchor, grown }: ReadSession,
		{ rows, groups, damage, giants }: Derived,
		{ scope, encoding, indexBudget }: SurveyOptions,
		signal: AbortSignal,
	) {
		const { table, format, sources } = loaded;
		this.pool = pool;
		this.#signal = signal;
		this.path = spec.kind === "file" ? spec.path : null;
		this.format = format;
		this.session = loaded.session;
		this.scope = scope;
		this.bytes = spec.size;
		this.table = table;
		this.branch = { ...branch, messages: anchor.messages, usage: currentUsage(branch, anchor) };
		this.anchor = branch.leaf < 0 ? null : table.entryOf(branch.leaf);
		this.atoms = anchor.atoms;
		this.groups = groups;
		this.system = anchor.system;
		this.systemRows = anchor.system.rows;
		this.damage = damage;
		this.unsearchedAtoms = giants.atoms;
		this.notices = [
			...loaded.notices,
			...branch.notices,
			...nothingRead(loaded, anchor),
			...giants.notices,
			...growing(grown),
		];
		this.source = { sources, format };
		this.rows = rows;
		this.counts = new TokenCounts(encoding, table, anchor, rows);
		this.tokens = this.counts;
		this.#reader = new AtomReader(pool, table, rows, this.source, signal);
		this.index = new SearchIndex(pool, table, anchor, rows, this.source, indexBudget, signal);
	}

	/** More that the reader of the survey should know. */
	addNotices(more: readonly string[]): void {
		this.notices = [...this.notices, ...more];
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

	hashOf(start: number, end: number): Promise<string> {
		const { pool, source, table, rows } = this;
		return hashAtoms(pool, source, table, rows, { start, end }, this.#signal);
	}

	losses(range: PlanRange, { ranges }: Plan): Promise<LossReport> {
		return lossesOf(this, range, ranges, this.#signal);
	}

	async countTexts(texts: readonly string[]): Promise<number[]> {
		const task: CountTask = { texts, encoding: this.counts.encoding };
		return [...(await this.pool.run<CountResult>("count", task, this.#signal)).tokens];
	}
}

/** Usage that was recorded before a block took the place of originals describes a context that no longer is (RULINGS 19). */
function currentUsage({ usage }: Branch, { atoms, messages }: Anchor): Branch["usage"] {
	if (usage === null) return null;
	for (let atom = atoms.length - 1; atom >= 0; atom--) {
		if (atoms.kindOf(atom) !== "block") continue;
		const entries = messages.entriesOf(atoms.messageStart.at(atom));
		if (entries.some((row) => row > usage.row)) return null;
	}
	return usage;
}

/** A session without any message is legal, but more often the wrong format was named. */
function nothingRead({ table, format }: Loaded, { atoms, system }: Anchor): string[] {
	if (atoms.length > 0 || system.messages > 0) return [];
	return [`None of the ${table.records} records is a message that the format ${format} would send.`];
}

function growing(bytes: number): string[] {
	return bytes > 0 ? [`The file grew by ${bytes} bytes while it was read; they are not in this survey.`] : [];
}
