/** What the facade needs of an open session. The engine provides it; the facade never sees workers, files or pools. */
import type { Groups } from "../atoms/groups.js";
import type { AtomTable, Source } from "../atoms/table.js";
import type { Encoding } from "../measure/encodings.js";
import type { BlockArchive } from "../plan/archive.js";
import type { LossReport } from "../plan/losses.js";
import type { Plan, PlanRange } from "../plan/plan.js";
import type { PlanDesk } from "../plan/transaction.js";
import type { Branch, Scope } from "../session/branch.js";
import type { Damage, DamageKind } from "../session/damage.js";
import type { FormatName } from "../session/record.js";
import type { RecordTable } from "../session/table.js";

/** Token counts, which may arrive after the survey. */
export interface TokenState {
	encoding: Encoding;
	/** Fraction 0-1 of the anchor's chars that are counted. */
	readonly ready: number;
	/** Atoms in which a forced cut happened, so far. */
	readonly approximateAtoms: number;
	/** Tokens of an atom; null until all its rows are counted. */
	ofAtom(atom: number): number | null;
	/** Tokens of the system messages; null until counted. */
	ofSystem(): number | null;
}

/** Totals of the system messages, which are no atoms. */
export interface SystemTotals {
	messages: number;
	chars: number;
}

export interface DamageReport {
	count: number;
	onAnchor: number;
	kinds: Partial<Record<DamageKind, number>>;
	/** The first findings by offset, bounded. */
	first: Damage[];
}

/** How an atom's text is shown. */
export interface TextView {
	/** UTF-16 units that the text may take at most. */
	budget: number;
	/**
	 * `content`: all of it, each piece behind a line such as `[tool_call read]`; `lead`: only the words by which a person recognises the atom (the user's own words in a user atom or an exchange with `user_text`, a command
	 * and its arguments, the first text otherwise), on one line.
	 */
	shape: "content" | "lead";
}

/** Rendered text of one atom: a landmark, so head and tail with a mark between when it does not fit. */
export interface AtomText {
	atom: number;
	text: string;
	/** Code points of the content that are not shown. */
	omitted: number;
}

export interface SearchQuery {
	/** Case-insensitive literal substring of the atom's content joined by "\n"; null: no text filter. */
	pattern: string | null;
	/** Exact tool name, case-insensitive; null for any. */
	toolName: string | null;
	source: Source | null;
	direction: "oldest" | "newest";
	limit: number;
	/** UTF-16 units of one excerpt at most. */
	excerpt: number;
}

/** `excerpt` is centred on the first hit; without a pattern it is the atom's landmark. */
export interface SearchResult {
	total: number;
	matches: AtomText[];
}

/** The numbers of an open session, what needs a look into the file, and the plan that is made on it. */
export interface Survey {
	/** Path of the file; null for a message list in memory. */
	readonly path: string | null;
	readonly format: FormatName;
	readonly scope: Scope;
	/** Bytes of the source (its frozen size). */
	readonly bytes: number;
	/** Entry id of the anchor; null for a session without messages. */
	readonly anchor: string | null;
	readonly table: RecordTable;
	/** Its `messages` are the anchor's: in the order of the atoms, without the system messages. */
	readonly branch: Branch;
	readonly atoms: AtomTable;
	readonly groups: Groups;
	readonly system: SystemTotals;
	readonly tokens: TokenState;
	readonly damage: DamageReport;
	readonly notices: readonly string[];
	/** Atoms that hold a record above 64 MiB, of whose texts only the heads are searched and counted in tokens. */
	readonly unsearchedAtoms: number;
	/** Texts of atoms, in the order asked for. */
	texts(atoms: readonly number[], view: TextView): Promise<AtomText[]>;
	search(query: SearchQuery): Promise<SearchResult>;
	/** The plan of this anchor; null where no transaction can be kept (the host gave no store). */
	readonly desk: PlanDesk | null;
	/** Originals of blocks; null where there is no archive. */
	readonly archive: BlockArchive | null;
	/** Content hash (hex) of whole atoms, both ends included. Errors: `unreadable`, `cancelled`. */
	hashOf(start: number, end: number): Promise<string>;
	/** Tokens of texts by the session's encoding, one number a text. Errors: `cancelled`. */
	countTexts(texts: readonly string[]): Promise<number[]>;
	/**
	 * What of the originals of a range is found neither in its summary nor in what the plan keeps; null when it is not wanted or cannot be told.
	 */
	losses(range: PlanRange, plan: Plan): Promise<LossReport | null>;
}
