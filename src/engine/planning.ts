/** What only the user does with a session's plan: start, undo, abort, project, commit. */
import type { AtomKind, AtomTable } from "../atoms/table.js";
import { asMidcompactError, MidcompactError } from "../errors.js";
import type { CommitOutcome, ProjectData } from "../facade/transaction.js";
import { blockId } from "../plan/archive-file.js";
import { SESSION_TO_COME } from "../plan/block-text.js";
import type { Desk } from "../plan/desk.js";
import type { PlanLock } from "../plan/lock.js";
import type { PlanRange } from "../plan/plan.js";
import type { AnchorFacts, Mode } from "../plan/store.js";
import type { PlanDesk, Transaction } from "../plan/transaction.js";
import { WRITERS } from "../session/formats/writers.js";
import { commitPlan, replacementsOf } from "./commit.js";
import { projectionOf } from "./figures.js";
import type { PlanHome } from "./plan-home.js";
import { messagesOfAtoms, projectMessages } from "./projection.js";
import { type ReadOptions, ReadSource } from "./read.js";
import { sameBranch } from "./same-branch.js";
import { type BlockMark, marksIn, marksOf, SessionArchive } from "./session-archive.js";
import { fileSource } from "./sources.js";
import type { OpenSurvey } from "./survey.js";

export interface CommitOptions {
	/** Digest that the user reviewed; default: whatever the plan is now. */
	digest?: string;
	/** File of the new session, or a folder for it; default: beside the old one. */
	out?: string;
	/** Also carry what the host appended after the anchor. */
	withLater?: boolean;
}

/** The plan of a session file. */
export interface Planning {
	/** The planning lock; null while nothing was ever planned. */
	readonly lock: PlanLock | null;
	/** Why the open transaction can only be aborted: what it froze is no longer in the session. Null where it fits. */
	readonly lost: MidcompactError | null;
	/** The open transaction; null for none. Errors: `state_unavailable`. */
	current(): Promise<Transaction | null>;
	/**
	 * Freezes the anchor that the session is open on. Errors: `transaction_active`, `locked`, `state_unavailable`, `not_a_session` for one without a message, `unreadable`, `cancelled`.
	 */
	start(options?: { mode?: Mode; instructions?: string }): Promise<Transaction>;
	/** Takes back the last change of the plan that still stands. Errors: `no_transaction`, `empty_plan` when none does, `locked`, `state_unavailable`. */
	undo(): Promise<Transaction>;
	/** Gives the transaction up; returns it as it was. Errors: `no_transaction`, `locked`, `state_unavailable`. */
	abort(): Promise<Transaction>;
	/**
	 * How much the plan changes; ranges without a summary stay as they are. With `take`, all projected messages are given to it, as JSON lines. Errors: `no_transaction`,
	 * `range_changed`, `unreadable`, `cancelled`.
	 */
	project(take?: (lines: string) => void | Promise<void>): Promise<Omit<ProjectData, "path">>;
	/** Writes the new session and ends the transaction. Errors: those of `commitPlan`. */
	commit(options?: CommitOptions): Promise<CommitOutcome>;
}

export class SessionPlanning implements Planning {
	readonly #read: ReadSource;
	readonly #survey: OpenSurvey;
	readonly #home: PlanHome;
	readonly #options: ReadOptions;
	readonly #signal: AbortSignal;
	/** Why the open transaction can only be aborted; null where it fits. */
	#lost: MidcompactError | null;
	#marks: Promise<BlockMark[]> | null = null;

	constructor(
		read: ReadSource,
		survey: OpenSurvey,
		home: PlanHome,
		{ transaction, lost }: { transaction: string | null; lost: MidcompactError | null },
		options: ReadOptions,
		signal: AbortSignal,
	) {
		this.#read = read;
		this.#survey = survey;
		this.#home = home;
		this.#options = options;
		this.#signal = signal;
		this.#lost = lost;
		this.#show(home.desk, transaction);
		survey.archive = new SessionArchive(home.archive(survey.pool), () => this.#knownBlocks(), signal);
	}

	get lost(): MidcompactError | null {
		return this.#lost;
	}

	get lock(): PlanLock | null {
		return this.#home.desk?.lock ?? null;
	}

	async current(): Promise<Transaction | null> {
		const transaction = (await this.#home.desk?.current()) ?? null;
		if (!transaction || !this.#lost) return transaction;
		return { ...transaction, notices: [`${this.#lost.message} It can only be aborted.`, ...transaction.notices] };
	}

	async start({
		mode = "agent",
		instructions = "",
	}: {
		mode?: Mode;
		instructions?: string;
	} = {}): Promise<Transaction> {
		const { atoms, branch, anchor: entry, format, scope } = this.#survey;
		if (atoms.length === 0 || entry === null)
			throw new MidcompactError("not_a_session", "The session holds no message, so there is nothing to plan.");
		const anchor: AnchorFacts = {
			format,
			scope,
			entry,
			atoms: atoms.length,
			messages: branch.messages.length,
			hash: await this.#survey.hashOf(0, atoms.length - 1),
		};
		const desk = await this.#home.makeDesk();
		const started = await desk.start({ mode, instructions, anchor }, (other) => sameBranch(this.#survey, other));
		// A lost one was aborted, or stands on another branch; this one fits.
		this.#lost = null;
		this.#show(desk, started.id);
		return started;
	}

	undo(): Promise<Transaction> {
		return this.#fitting().then((desk) => desk.undo());
	}

	async abort(): Promise<Transaction> {
		const desk = this.#home.desk;
		if (!desk) throw noTransaction();
		return desk.abort();
	}

	async project(take?: (lines: string) => void | Promise<void>): Promise<Omit<ProjectData, "path">> {
		const transaction = await (await this.#fitting()).current();
		if (!transaction) throw noTransaction();
		const { ranges } = transaction.plan;
		const ready = ranges.filter(({ summary }) => summary !== "");
		const replacements = replacementsOf(this.#survey, ready, await this.#nextBlocks(ready), this.#sessionToCome());
		if (take) await projectMessages(this.#survey, replacements, this.#signal, take);
		const figures = await projectionOf(this.#survey, ready, replacements);
		return { ranges: ranges.length, pending: ranges.length - ready.length, ...figures };
	}

	async commit({ digest, out, withLater = false }: CommitOptions = {}): Promise<CommitOutcome> {
		const desk = await this.#fitting();
		const bench = {
			survey: withLater ? await this.#withLater(desk) : this.#survey,
			home: this.#home,
			desk,
			options: this.#options,
			marks: await this.#ownBlocks(),
			signal: this.#signal,
		};
		return commitPlan(bench, { digest: digest ?? null, out: out ?? null });
	}

	/** The plan actions work on the transaction; one whose anchor is lost refuses them all. */
	#show(desk: Desk | null, transaction: string | null): void {
		if (!desk) return;
		desk.transaction = transaction;
		this.#survey.desk = this.#lost ? refusing(this.#lost) : desk;
	}

	async #fitting(): Promise<Desk> {
		if (this.#lost) throw this.#lost;
		const { desk } = this.#home;
		if (!desk) throw noTransaction();
		return desk;
	}

	/** The branch as it is now, which must go on from the anchor. */
	async #withLater(desk: Desk): Promise<OpenSurvey> {
		const transaction = await desk.current();
		if (!transaction) throw noTransaction();
		const { scope, atoms, hash } = transaction.anchor;
		// Read anew: the host may have appended since the session was opened.
		const { path, format, pool } = this.#survey;
		const options = { ...this.#options, format };
		const read = await ReadSource.open(pool, await fileSource(path ?? ""), options, this.#signal);
		const later = await read.survey({ scope, leaf: null });
		if (this.#survey.tokens.ready === 1) await later.counts.count(pool, later.source, this.#signal, () => {});
		if (later.atoms.length >= atoms && (await later.hashOf(0, atoms - 1)) === hash) return later;
		throw new MidcompactError(
			"range_changed",
			"What the host appended does not simply go on from the anchor: it compacted the session, went to another branch, or answered an open call.",
			"Commit without what came later, or abort and start again on the session as it is now.",
		);
	}

	/** Ids that the blocks would probably get. */
	async #nextBlocks(ranges: readonly PlanRange[]): Promise<{ id: string }[]> {
		const known = (await this.#knownBlocks()).map(({ id }) => Number(id.slice(1)));
		const first = 1 + Math.max(0, ...known);
		return ranges.map((_, i) => ({ id: blockId(first + i) }));
	}

	/** In place of an id that only the commit makes. */
	#sessionToCome(): string | null {
		return WRITERS[this.#survey.format].resumeCommand(SESSION_TO_COME, "") === null ? null : SESSION_TO_COME;
	}

	/** Blocks that stand in the session. */
	#ownBlocks(): Promise<BlockMark[]> {
		this.#marks ??= this.#readMarks().catch((thrown) => {
			this.#marks = null;
			throw thrown;
		});
		return this.#marks;
	}

	/** A compaction of the host may stand in front of some: those are on the path only (DCP#521, DCP#440). */
	async #readMarks(): Promise<BlockMark[]> {
		const { scope, anchor, atoms } = this.#survey;
		const seen = await this.#marksIn(this.#survey);
		const compacted = scope === "context" && atomsOf(atoms, "summary").length > 0;
		const behind = compacted ? await this.#marksIn(await this.#path(anchor)) : [];
		return [...new Map([...behind, ...seen].map((mark) => [mark.id, mark])).values()];
	}

	/** The whole path to an entry; to the end of the session where the entry stands in a compaction, which no path has. */
	#path(leaf: string | null): Promise<OpenSurvey> {
		return this.#read.survey({ scope: "path", leaf }).catch((thrown) => {
			if (asMidcompactError(thrown).code !== "unknown_ref") throw thrown;
			return this.#read.survey({ scope: "path", leaf: null });
		});
	}

	async #marksIn(survey: OpenSurvey): Promise<BlockMark[]> {
		return marksIn(await messagesOfAtoms(survey, atomsOf(survey.atoms, "block"), this.#signal));
	}

	/** Those, and the ones that were committed from it. */
	async #knownBlocks(): Promise<BlockMark[]> {
		const ledger = await this.#home.desk?.ledger();
		return [...(await this.#ownBlocks()), ...marksOf(ledger?.committed ?? [])];
	}
}

function atomsOf(atoms: AtomTable, kind: AtomKind): number[] {
	const found: number[] = [];
	for (let atom = 0; atom < atoms.length; atom++) if (atoms.kindOf(atom) === kind) found.push(atom);
	return found;
}

function refusing(error: MidcompactError): PlanDesk {
	return { current: () => Promise.reject(error), change: () => Promise.reject(error) };
}

function noTransaction(): MidcompactError {
	return new MidcompactError("no_transaction", "No transaction is open.");
}
