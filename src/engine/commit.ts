/** Commit: the plan becomes a new session file, its originals go into the archive, and the transaction ends. All of it, or nothing. */
import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { MidcompactError } from "../errors.js";
import type { CommitOutcome } from "../facade/transaction.js";
import { archivePath, blockNumber } from "../plan/archive-file.js";
import { blockText } from "../plan/block-text.js";
import { type Desk, planChanged } from "../plan/desk.js";
import type { PlanRange } from "../plan/plan.js";
import { type Refusal, refusalsOf, spanText } from "../plan/rules.js";
import { archiveFolder, makeSlot } from "../plan/state-folder.js";
import type { CommittedBlock } from "../plan/store.js";
import type { Transaction } from "../plan/transaction.js";
import { atomPlaces } from "../search/places.js";
import type { Replacement } from "../session/fork.js";
import { WRITERS } from "../session/formats/writers.js";
import { projectionOf, sizesOf } from "./figures.js";
import { writeFork } from "./fork.js";
import { checkFork } from "./fork-check.js";
import { chooseTarget, PendingFile, type Target, unwritable } from "./output.js";
import { type PlanHome, sessionKey } from "./plan-home.js";
import type { ReadOptions } from "./read.js";
import type { BlockMark } from "./session-archive.js";
import type { OpenSurvey } from "./survey.js";

export interface CommitRequest {
	/** Digest that the user reviewed; null: whatever the plan is now. */
	digest: string | null;
	/** File or folder of the new session; null: beside the old one. */
	out: string | null;
}

/** What a commit works with. */
export interface CommitBench {
	/** The anchor, or, to carry what came later, the branch as it is now: its first atoms are the anchor's. */
	survey: OpenSurvey;
	home: PlanHome;
	desk: Desk;
	options: ReadOptions;
	/** Blocks that stand in the session. */
	marks: readonly BlockMark[];
	signal: AbortSignal;
}

/** Several refusals that a message lists. */
const LISTED = 20;

/**
 * Errors: `no_transaction`, `plan_changed`; `empty_plan`, `pending_summary`, `range_changed` and others of the plan, with the whole list; `output_exists`, `invalid_output`,
 * `state_unavailable`, `locked`, `unreadable`, `cancelled`. Then nothing has changed but claimed block numbers.
 */
export async function commitPlan(bench: CommitBench, request: CommitRequest): Promise<CommitOutcome> {
	const { survey, desk } = bench;
	const transaction = await desk.current();
	if (!transaction)
		throw new MidcompactError("no_transaction", "No transaction is open, so there is nothing to commit.");
	if (request.digest !== null && request.digest !== transaction.digest)
		throw planChanged(request.digest, transaction.digest);
	if (survey.path === null)
		throw new MidcompactError("invalid_output", "A session in memory has no file that a new one could be made of.");
	// Somebody who holds the plan is told before the work, not after it.
	await desk.lock.exclusively(async () => {});
	await refuseUnfit(bench, transaction);
	const writer = WRITERS[survey.format];
	const now = new Date();
	const { path: session } = survey;
	const target = await chooseTarget(writer, { out: request.out, session, now, newId: randomUUID });
	const originals = new Originals(bench, transaction);
	const file = await PendingFile.create(target.path, session);
	try {
		const blocks = await originals.keep(now);
		return await finish(bench, transaction, { target, file, originals, blocks, now });
	} catch (thrown) {
		await file.discard();
		await originals.discard();
		throw thrown;
	}
}

interface Work {
	target: Target;
	file: PendingFile;
	originals: Originals;
	blocks: CommittedBlock[];
	now: Date;
}

async function finish(bench: CommitBench, transaction: Transaction, work: Work): Promise<CommitOutcome> {
	const { survey, desk, signal, options } = bench;
	const { target, file, originals, blocks, now } = work;
	const { ranges } = transaction.plan;
	const writer = WRITERS[survey.format];
	const resume = writer.resumeCommand(target.id, target.path);
	const replacements = replacementsOf(survey, ranges, blocks, resume === null ? null : target.id);
	const request = {
		table: survey.table,
		branch: survey.branch,
		system: survey.systemRows,
		scope: survey.scope,
		replacements,
		id: target.id,
		now,
		newId: randomUUID,
		parent: { id: survey.session, path: survey.path ?? "", sizes: survey.source.sources.map(({ size }) => size) },
	};
	const written = await writeFork(survey.pool, survey.source, request, file.path, signal).catch((thrown) => {
		throw unwritable(target.path, thrown);
	});
	await file.sync();
	const names = { path: file.path, name: basename(target.path), dropped: written.dropped };
	const fork = await checkFork(survey, ranges, names, { ...options, format: survey.format }, signal);
	const notices = [...writtenNotices(written), ...fork.inherited];
	const { before, after } = await projectionOf(survey, ranges, replacements);
	// What the writer leaves out only shows in the fork.
	Object.assign(after, await sizesOf(fork.survey));
	// Asked while the file has the name that it was read under.
	const id = await sessionKey(survey.pool, fork.read.loaded, signal);
	notices.push(...(await originals.handDown(id)));
	const facts = { digest: transaction.digest, path: target.path, bytes: written.bytes, session: fork.session, blocks };
	await desk.commit(facts, () => file.publish());
	notices.push(...(await makeHome(bench, id, target.path)));
	return { path: target.path, session: fork.session, resume, blocks, before, after, notices };
}

/** The messages of the ranges; `session` names the new session in the recall call. */
export function replacementsOf(
	{ atoms }: OpenSurvey,
	ranges: readonly PlanRange[],
	blocks: readonly { id: string }[],
	session: string | null,
): Replacement[] {
	return ranges.map(({ start, end, topic, summary }, i) => {
		const block = blocks[i].id;
		return {
			from: atoms.messageStart.at(start),
			to: atoms.messageStart.at(end + 1),
			message: { block, topic, text: blockText({ block, topic, summary, session }) },
		};
	});
}

/** Everything that stands against the plan, in one refusal. */
async function refuseUnfit({ survey }: CommitBench, { plan, anchor }: Transaction): Promise<void> {
	const refusals: Refusal[] = refusalsOf(survey.atoms, plan.ranges);
	if (refusals.every(({ code }) => code === "pending_summary")) {
		for (const range of plan.ranges) {
			if ((await survey.hashOf(range.start, range.end)) === range.hash) continue;
			const span = spanText(survey.atoms, range);
			refusals.push({
				code: "range_changed",
				message: `${range.id} (${span}) is no longer what it was when it was added.`,
			});
		}
		if (refusals.length === 0 && (await survey.hashOf(0, anchor.atoms - 1)) !== anchor.hash)
			refusals.push({ code: "range_changed", message: "What stands outside the ranges is no longer what it was." });
	}
	const [first] = refusals;
	if (!first) return;
	const listed = refusals.slice(0, LISTED).map(({ message }) => message);
	const more = refusals.length > LISTED ? ` And ${refusals.length - LISTED} more.` : "";
	throw new MidcompactError(first.code, `The plan was not committed. ${listed.join(" ")}${more}`, first.hint);
}

/** The archives that a commit makes; they go again when it fails. */
class Originals {
	readonly #bench: CommitBench;
	readonly #transaction: Transaction;
	readonly #kept: string[] = [];
	/** Folder that was made for the new session's state; null for none. */
	#made: string | null = null;

	constructor(bench: CommitBench, transaction: Transaction) {
		this.#bench = bench;
		this.#transaction = transaction;
	}

	async keep(now: Date): Promise<CommittedBlock[]> {
		const { survey, home, marks, signal } = this.#bench;
		const archive = home.archive(survey.pool);
		const blocks: CommittedBlock[] = [];
		let least = 1 + Math.max(0, ...marks.map(({ id }) => blockNumber(id)));
		for (const range of this.#transaction.plan.ranges) {
			const id = await archive.reserve(least);
			least = blockNumber(id) + 1;
			this.#kept.push(id);
			const { atoms, table, rows, source } = survey;
			const chosen = Array.from({ length: range.end - range.start + 1 }, (_, i) => range.start + i);
			const sums = { chars: 0, images: 0 };
			for (const atom of chosen) {
				sums.chars += atoms.chars.at(atom);
				sums.images += atoms.images.at(atom);
			}
			const { messages } = survey.branch;
			const entry = (message: number, at: number) => table.entryOf(messages.entriesOf(message).at(at) ?? 0);
			await archive.write(
				{
					version: 1,
					block: id,
					transaction: this.#transaction.id,
					range: range.id,
					topic: range.topic,
					summary: range.summary,
					created_at: now.toISOString(),
					format: survey.format,
					session: survey.session,
					path: survey.path,
					first_entry: entry(atoms.messageStart.at(range.start), 0),
					last_entry: entry(atoms.messageStart.at(range.end + 1) - 1, -1),
					atoms: chosen.length,
					...sums,
				},
				{ from: source, atoms: atomPlaces(table, rows, chosen) },
				signal,
			);
			blocks.push({ id, range: range.id, topic: range.topic, summary: range.summary });
		}
		return blocks;
	}

	/** Puts the originals of all blocks of the fork where it will look for them, those of earlier commits too; returns notices. */
	async handDown(id: string): Promise<string[]> {
		const { survey, home, marks, signal } = this.#bench;
		const archive = home.archive(survey.pool);
		const folder = archiveFolder(home.root, { format: home.file.format, id });
		if (folder === archive.folder) return [];
		if (!(await isThere(dirname(folder)))) this.#made = dirname(folder);
		const notices: string[] = [];
		for (const block of new Set([...marks.map((mark) => mark.id), ...this.#kept])) {
			try {
				await archive.copyTo(folder, block, signal);
			} catch (thrown) {
				if (!(thrown instanceof MidcompactError) || thrown.code !== "archive_damaged") throw thrown;
				notices.push(`The originals of ${block} do not go along: ${thrown.message}`);
			}
		}
		return notices;
	}

	async discard(): Promise<void> {
		const { folder } = this.#bench.home.archive(this.#bench.survey.pool);
		for (const id of this.#kept) await rm(archivePath(folder, id), { force: true }).catch(() => {});
		if (this.#made !== null) await rm(this.#made, { recursive: true, force: true }).catch(() => {});
	}
}

async function isThere(path: string): Promise<boolean> {
	return stat(path).then(
		() => true,
		() => false,
	);
}

/** A fork is known as a file of its own from the start; it would be at its first transaction anyhow. */
async function makeHome({ home }: CommitBench, id: string, path: string): Promise<string[]> {
	try {
		await makeSlot(home.root, { format: home.file.format, id, path });
		return [];
	} catch (thrown) {
		return [
			`The new session has no place in the state folder yet: ${thrown instanceof Error ? thrown.message : thrown}`,
		];
	}
}

function writtenNotices({ cleaned, dropped }: { cleaned: number; dropped: number }): string[] {
	const notices: string[] = [];
	if (cleaned > 0)
		notices.push(
			`From ${cleaned} record(s) something was left out or mended that no host takes back: empty text, hollow thinking, half a character.`,
		);
	if (dropped > 0) notices.push(`${dropped} record(s) without any content that would be sent were left out.`);
	return notices;
}
