/** The survey of an open session: numbers at hand, texts and searches through workers. */
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
import type { Loaded } from "./load.js";
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
	readonly notices: readonly string[];
	readonly unsearchedAtoms: number;
	readonly tokens: TokenState;
	readonly counts: TokenCounts;
	readonly index: SearchIndex;
	readonly source: RowSource;
	readonly pool: WorkerPool;
	readonly #reader: AtomReader;

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
		this.path = spec.kind === "file" ? spec.path : null;
		this.format = format;
		this.scope = scope;
		this.bytes = spec.size;
		this.table = table;
		this.branch = { ...branch, messages: anchor.messages };
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
		this.counts = new TokenCounts(encoding, table, anchor, rows);
		this.tokens = this.counts;
		this.#reader = new AtomReader(pool, table, rows, this.source, signal);
		this.index = new SearchIndex(pool, table, anchor, rows, this.source, indexBudget, signal);
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

/** A session without any message is legal, but more often the wrong format was named. */
function nothingRead({ table, format }: Loaded, { atoms, system }: Anchor): string[] {
	if (atoms.length > 0 || system.messages > 0) return [];
	return [`None of the ${table.records} records is a message that the format ${format} would send.`];
}

function growing(bytes: number): string[] {
	return bytes > 0 ? [`The file grew by ${bytes} bytes while it was read; they are not in this survey.`] : [];
}
