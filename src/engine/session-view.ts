/** What a session is opened on: the anchor of its open transaction, or the branch that the caller asks for. */
import { asMidcompactError, type MidcompactError } from "../errors.js";
import type { Transaction } from "../plan/transaction.js";
import type { Scope } from "../session/branch.js";
import { anchoredSurvey } from "./anchored.js";
import type { PlanHome } from "./plan-home.js";
import type { ReadSource } from "./read.js";
import type { OpenSurvey } from "./survey.js";

/** Null: not said. */
export interface Wanted {
	scope: Scope | null;
	leaf: string | null;
	/** False: no transaction decides what is seen. */
	atAnchor: boolean;
}

export interface Viewed {
	survey: OpenSurvey;
	/** Id of the transaction whose anchor this is; null for none. */
	transaction: string | null;
	/** Why that transaction can only be aborted: its anchor is gone, and this is the branch as it is now. Null where it fits. */
	lost: MidcompactError | null;
	notices: string[];
}

/**
 * Opens the anchor of the transaction that fits what is wanted, else the branch itself. A transaction whose anchor is gone is said, and the branch is shown as it is now.
 * Errors: `unknown_ref` (leaf), `unreadable`, `cancelled`.
 */
export async function viewSession(read: ReadSource, home: PlanHome | null, wanted: Wanted): Promise<Viewed> {
	const { open, notices } = await openTransactions(home);
	const fitting = wanted.atAnchor ? open.filter(({ anchor }) => fits(anchor, wanted)) : [];
	const chosen = fitting.at(-1);
	const plain = () => read.survey({ scope: wanted.scope ?? "context", leaf: wanted.leaf });
	if (!chosen) {
		for (const { anchor, startedAt } of open)
			notices.push(
				`A transaction is open since ${startedAt} on another view: leaf ${anchor.entry}, scope ${anchor.scope}.`,
			);
		return { survey: await plain(), transaction: null, lost: null, notices };
	}
	for (const { anchor } of fitting.slice(0, -1))
		notices.push(`Another transaction is open on this file, at leaf ${anchor.entry}.`);
	try {
		return { survey: await anchoredSurvey(read, chosen.anchor), transaction: chosen.id, lost: null, notices };
	} catch (thrown) {
		const error = asMidcompactError(thrown);
		if (error.code !== "range_changed") throw error;
		notices.push(`${error.message} The session is shown as it is now; the transaction can only be aborted.`);
		return { survey: await plain(), transaction: chosen.id, lost: error, notices };
	}
}

/** A state folder that cannot be read keeps nobody from reading a session. */
async function openTransactions(home: PlanHome | null): Promise<{ open: Transaction[]; notices: string[] }> {
	if (!home) return { open: [], notices: [] };
	try {
		const ledger = await home.desk?.ledger();
		return { open: ledger?.open ?? [], notices: [...home.notices, ...(ledger?.notices ?? [])] };
	} catch (thrown) {
		return { open: [], notices: [asMidcompactError(thrown).message] };
	}
}

function fits({ entry, scope }: Transaction["anchor"], wanted: Wanted): boolean {
	return (wanted.scope === null || wanted.scope === scope) && (wanted.leaf === null || wanted.leaf === entry);
}
