/** The open transaction that the plan actions work on. */
import { MidcompactError } from "../errors.js";
import type { Change } from "../plan/plan.js";
import type { Transaction } from "../plan/transaction.js";
import type { OpenState } from "./overview.js";
import type { Survey } from "./survey.js";
import type { Words } from "./words.js";

/** The open transaction. Errors: `no_transaction`, `state_unavailable`. */
export async function openTransaction({ desk }: Survey, words: Words): Promise<Transaction> {
	const transaction = (await desk?.current()) ?? null;
	if (transaction === null) throw noTransaction(words);
	return transaction;
}

/** What a survey says of the transaction. A state that cannot be read is a notice there, and no reason to keep the survey back. */
export async function openState({ desk }: Survey): Promise<OpenState> {
	try {
		return { transaction: (await desk?.current())?.id ?? null, notices: [] };
	} catch (thrown) {
		if (!(thrown instanceof MidcompactError)) throw thrown;
		// The view of a transaction whose anchor is gone says so by itself.
		if (thrown.code === "range_changed") return { transaction: null, notices: [] };
		if (thrown.code !== "state_unavailable") throw thrown;
		return { transaction: null, notices: [`Whether a transaction is open is not known: ${thrown.message}`] };
	}
}

/** Makes one change of the plan as it stands then. Errors: `no_transaction`, `locked`, `state_unavailable`, those of `decide`. */
export async function changePlan(
	{ desk }: Survey,
	words: Words,
	decide: (transaction: Transaction) => Change | Promise<Change>,
): Promise<Transaction> {
	if (desk === null) throw noTransaction(words);
	try {
		return await desk.change(decide);
	} catch (thrown) {
		throw thrown instanceof MidcompactError && thrown.code === "no_transaction" ? noTransaction(words) : thrown;
	}
}

function noTransaction({ startCommand }: Words): MidcompactError {
	return new MidcompactError(
		"no_transaction",
		"No transaction is open, so there is no plan.",
		`Only the user starts a transaction, with ${startCommand}.`,
	);
}
