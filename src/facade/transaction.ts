/** Answers to what only the user does, in the form that every host shares: status, start, abort, commit, project. Pure. */
import type { CommittedBlock } from "../plan/store.js";
import type { Transaction } from "../plan/transaction.js";
import type { PlanTotals } from "./plan-figures.js";
import { totalsText } from "./plan-text.js";
import type { Answer } from "./reply.js";
import { clip, count, fitting, oneLine, plural, REPLY_BOUND, shortName, wellFormed } from "./text.js";
import {
	boundedNotices,
	noticeLines,
	shrinkText,
	type TransactionFacts,
	transactionLines,
	transactionOf,
} from "./transaction-facts.js";
import type { Words } from "./words.js";

/** Blocks in data at most, and units of their summaries there. */
const BLOCKS_LISTED = 500;
const SUMMARY_BOUND = 700;
/** Units of a block's line. */
const BLOCK_BOUND = 160;
/** Units of a path or command: longer ones than any system takes. */
const PATH_BOUND = 4_200;
const ID_BOUND = 256;

/** An open transaction and the sums of its plan; null where what it froze is no longer in the session. */
export interface OpenPlan {
	transaction: Transaction;
	totals: PlanTotals | null;
}

export interface StatusData {
	/** Null: none is open; then the rest is null too. */
	transaction: TransactionFacts | null;
	revision: number | null;
	digest: string | null;
	totals: PlanTotals | null;
}

/** What is open, and what comes next. */
export function statusAnswer(open: OpenPlan | null, words: Words): Answer<StatusData> {
	if (open === null) {
		return {
			text: `No transaction is open. Start one with ${words.startCommand}.`,
			data: { transaction: null, revision: null, digest: null, totals: null },
		};
	}
	const { transaction, totals } = open;
	const facts = transactionOf(transaction);
	const { digest, plan } = transaction;
	const { format, scope, entry, atoms, messages } = facts.anchor;
	const text = [
		...transactionLines(facts),
		`Anchor: ${format}, scope ${scope}, entry ${shortName(entry)}, ${plural(atoms, "atom")}, ${plural(messages, "message")}`,
		...(totals === null
			? [`Next: give it up with ${words.abortCommand}; nothing else can be done with it.`]
			: [totalsText({ revision: plan.revision, digest, totals }, words), nextStep(totals, words)]),
	].join("\n");
	return { text, data: { transaction: facts, revision: plan.revision, digest, totals } };
}

function nextStep({ ranges, pending }: PlanTotals, words: Words): string {
	if (ranges === 0)
		return `Next: look around with ${words.survey}, add ranges with ${words.addRange}; ${words.abortCommand} gives up.`;
	if (pending > 0)
		return `Next: ${plural(pending, "range")} without a summary; ${words.plan} lists ${pending === 1 ? "it" : "them"}.`;
	return `Next: look at the plan with ${words.plan}, then commit it with ${words.commitCommand}, or give it up with ${words.abortCommand}.`;
}

export interface StartData {
	transaction: TransactionFacts;
}

/** A transaction that was just started. */
export function startAnswer(transaction: Transaction, words: Words): Answer<StartData> {
	const facts = transactionOf(transaction);
	const { atoms, messages } = facts.anchor;
	const first =
		facts.mode === "agent"
			? `Next: the agent surveys the session with ${words.survey} and adds ranges with ${words.addRange}.`
			: "Next: choose ranges yourself; the agent waits.";
	const text = [
		"Started. The session itself is not changed.",
		...transactionLines(facts),
		`Frozen at entry ${shortName(facts.anchor.entry)}: ${plural(atoms, "atom")}, ${plural(messages, "message")}`,
		first,
		`The plan is committed with ${words.commitCommand} and given up with ${words.abortCommand}.`,
	].join("\n");
	return { text, data: { transaction: facts } };
}

export interface AbortData {
	/** Id of the transaction that was given up. */
	transaction: string;
	/** Ranges that went with it. */
	ranges: number;
}

/** A transaction that was given up. */
export function abortAnswer({ id, plan }: Transaction): Answer<AbortData> {
	const ranges = plan.ranges.length;
	const lost = ranges === 0 ? "Its plan was empty" : `Its plan of ${plural(ranges, "range")} is gone`;
	return {
		text: `Aborted transaction ${shortName(id)}. ${lost}; the session was not changed.`,
		data: { transaction: shortName(id), ranges },
	};
}

/** Sizes of a list of messages as it is sent. */
export interface MessageFigures {
	messages: number;
	chars: number;
	images: number;
	/** Null: not counted. */
	tokens: number | null;
}

export interface CommitOutcome {
	/** File of the new session. */
	path: string;
	/** Its id; null where the format has none. */
	session: string | null;
	/** Command that goes on with it; null where the format has no program. */
	resume: string | null;
	blocks: readonly CommittedBlock[];
	before: MessageFigures;
	after: MessageFigures;
	notices: readonly string[];
}

export interface CommitData extends Omit<CommitOutcome, "blocks" | "notices"> {
	blocks: CommittedBlock[];
	/** Blocks in all, those that are not listed included. */
	blocks_total: number;
	notices: string[];
}

/** A plan that was committed. */
export function commitAnswer(outcome: CommitOutcome, words: Words): Answer<CommitData> {
	const { blocks, before, after } = outcome;
	const path = clip(wellFormed(outcome.path), PATH_BOUND);
	const resume = outcome.resume === null ? null : clip(wellFormed(outcome.resume), PATH_BOUND);
	const session = outcome.session === null ? null : clip(wellFormed(outcome.session), ID_BOUND);
	const notices = boundedNotices(outcome.notices);
	const listed = blocks.slice(0, BLOCKS_LISTED).map(boundedBlock);
	const head = [
		`Committed ${plural(blocks.length, "range")} into a new session; the old one was not changed.`,
		`New session: ${path}${session === null ? "" : ` (id ${session})`}`,
		...(resume === null ? [] : [`Go on with it: ${resume}`]),
		...figureLines(before, after, words),
		...noticeLines(notices),
	];
	const lines = listed.map((block) => clip(`   ${block.id} (was ${block.range}) ${topicText(block)}`, BLOCK_BOUND));
	const room = REPLY_BOUND - head.join("\n").length - 300;
	const shown = fitting(lines, room);
	const more = blocks.length > shown ? [`   and ${count(blocks.length - shown)} more`] : [];
	const way = blocks.length > 0 ? [`${words.recall(listed[0].id)} brings originals back.`] : [];
	return {
		text: [...head, "Blocks:", ...lines.slice(0, shown), ...more, ...way].join("\n"),
		data: { path, session, resume, blocks: listed, blocks_total: blocks.length, before, after, notices },
	};
}

function boundedBlock({ id, range, topic, summary }: CommittedBlock): CommittedBlock {
	return { id, range, topic: oneLine(topic, BLOCK_BOUND), summary: clip(wellFormed(summary), SUMMARY_BOUND) };
}

function topicText({ topic, summary }: CommittedBlock): string {
	return topic === "" ? oneLine(summary, BLOCK_BOUND) : topic;
}

export interface ProjectData {
	ranges: number;
	/** Ranges without a summary: their messages stand in the projection as they are. */
	pending: number;
	before: MessageFigures;
	after: MessageFigures;
	/** Null: nothing changes. */
	first_change: {
		/** The atom that the first range starts with, and its first message, numbered from 1. */
		ref: string;
		message: number;
		/** Tokens before it, which stay as they are, and of the projection from it on, which are no longer in the provider's prompt cache. Null: not counted. */
		tokens_before: number | null;
		tokens_after: number | null;
	} | null;
	/** File that the messages were written to; null for none. */
	path: string | null;
}

/** How much the plan changes, if it were committed now. */
export function projectAnswer(projection: ProjectData, words: Words): Answer<ProjectData> {
	const { ranges, pending, before, after, first_change: first } = projection;
	const path = projection.path === null ? null : clip(wellFormed(projection.path), PATH_BOUND);
	const left = pending === 0 ? "" : `, ${count(pending)} pending and left as ${pending === 1 ? "it is" : "they are"}`;
	const text = [
		`Projection of ${plural(ranges, "range")}${left}; nothing was committed.`,
		...figureLines(before, after, words),
		first === null ? "Nothing changes." : cacheText(first, words),
		...(path === null ? [] : [`Messages: ${path}`]),
	].join("\n");
	return { text, data: { ...projection, path } };
}

function figureLines(before: MessageFigures, after: MessageFigures, words: Words): string[] {
	const tokens =
		before.tokens === null || after.tokens === null
			? words.tokensMissing
			: `tokens ${shrinkText(before.tokens, after.tokens)}`;
	return [
		`Before → after: messages ${shrinkText(before.messages, after.messages)}, chars ${shrinkText(before.chars, after.chars)}, images ${shrinkText(before.images, after.images)}, ${tokens}`,
	];
}

function cacheText(first: NonNullable<ProjectData["first_change"]>, words: Words): string {
	const place = `First change: ${first.ref}, message ${count(first.message)}. `;
	const { tokens_before: kept, tokens_after: lost } = first;
	if (kept === null || lost === null)
		return `${place}Everything after it loses the provider's prompt cache (${words.tokensMissing}).`;
	return `${place}The ${plural(kept, "token")} before it stay in the provider's prompt cache; the ${plural(lost, "token")} from there on lose it.`;
}
