/** Would the Messages API take the array? What is wrong between messages: it merges neighbours of one role into one turn, so turns are judged (RULINGS 9). */
import { breathe, pacer } from "../../breathe.js";
import { FLAG } from "../../record.js";
import type { ResumeFinding, ResumeView } from "../../resume.js";
import { ANSWERS, RecordTable } from "../../table.js";
import { ArrayFindings, addFileFindings, elementRows, shown } from "../array-check.js";
import { ARRAY_FLAG } from "../array-fields.js";

const BY_RESULT = ANSWERS.indexOf("result");
/** Ids of calls that the server runs. It goes on with one that stands at the end of the array (a paused turn). */
const SERVER_ID = /^(srv|mcp)toolu_/;

/** Findings about turns. Yields to the event loop. */
export async function checkTurns(view: ResumeView): Promise<ResumeFinding[]> {
	const findings = new ArrayFindings(view.table);
	addFileFindings(findings, view);
	const turns = new Turns(view.table, findings);
	const pause = pacer();
	for (const row of elementRows(view)) {
		if (pause()) await breathe();
		const role = view.table.roleOf(row);
		if (role === "assistant") turns.assistant(row);
		else if (role !== "system") turns.user(row);
	}
	turns.end();
	return findings.list;
}

class Turns {
	readonly #table: RecordTable;
	readonly #findings: ArrayFindings;
	/** Every call of the array, by the string index of its id. */
	readonly #seen = new Set<number>();
	/** Calls of the last assistant turn, and the row of each; those without a result; those with one. */
	#calls = new Map<number, number>();
	#waiting = new Set<number>();
	#answered = new Set<number>();
	#side: "assistant" | "user" | null = null;
	/** Last row of the assistant's turn that is being read. */
	#last = -1;
	/** Something other than a result stands in the user's turn. */
	#words = false;

	constructor(table: RecordTable, findings: ArrayFindings) {
		this.#table = table;
		this.#findings = findings;
	}

	assistant(row: number): void {
		if (this.#side === null) this.#findings.add(row, "first_not_user", "The first message is the assistant's.");
		if (this.#side !== "assistant") {
			this.#closeCalls(false);
			this.#calls = new Map();
			this.#answered = new Set();
		}
		this.#side = "assistant";
		this.#last = row;
		this.#takeCalls(row);
		this.#takeResults(row);
	}

	user(row: number): void {
		if (this.#side !== "user") {
			this.#closeAssistant();
			this.#words = false;
		}
		this.#side = "user";
		const [from, to] = RecordTable.rangeOf(this.#table.resultRow, row);
		const late = this.#words ? this.#firstOfCalls(from, to) : -1;
		if (late >= 0)
			this.#findings.add(
				row,
				"results_not_first",
				`The result of ${this.#named(late)} stands behind other content of its turn.`,
			);
		this.#takeResults(row);
		if (from === to || (this.#table.flags.at(row) & FLAG.WORDS) !== 0) this.#words = true;
	}

	end(): void {
		if (this.#side === "assistant") this.#closeAssistant();
		this.#closeCalls(this.#side === "assistant");
	}

	#takeCalls(row: number): void {
		const table = this.#table;
		const [from, to] = RecordTable.rangeOf(table.callRow, row);
		for (let call = from; call < to; call++) {
			const id = table.callId.at(call);
			if (id < 0) continue;
			if (this.#seen.has(id))
				this.#findings.add(row, "repeated_call_id", `The call id ${shown(table.string(id))} is used a second time.`);
			this.#seen.add(id);
			this.#calls.set(id, row);
			if (table.callAnswer.at(call) === BY_RESULT) this.#waiting.add(id);
		}
	}

	/** The first of some results that answers a call of the last turn; -1 for none. An orphan is refused wherever it stands. */
	#firstOfCalls(from: number, to: number): number {
		for (let result = from; result < to; result++) if (this.#calls.has(this.#table.resultId.at(result))) return result;
		return -1;
	}

	#takeResults(row: number): void {
		const [from, to] = RecordTable.rangeOf(this.#table.resultRow, row);
		for (let result = from; result < to; result++) {
			const id = this.#table.resultId.at(result);
			if (id < 0) continue;
			const inside = this.#side === "assistant";
			if (!this.#calls.has(id) || (!inside && !this.#waiting.has(id) && !this.#answered.has(id)))
				this.#findings.add(
					row,
					"orphan_result",
					`A result answers ${this.#named(result)}, which is no call ${inside ? "of its turn" : "of the turn before it"}.`,
				);
			else if (this.#answered.has(id))
				this.#findings.add(row, "answered_twice", `A second result answers ${this.#named(result)}.`);
			this.#answered.add(id);
			this.#waiting.delete(id);
		}
	}

	#closeAssistant(): void {
		if (this.#last >= 0 && (this.#table.flags.at(this.#last) & ARRAY_FLAG.ENDS_IN_THINKING) !== 0)
			this.#findings.add(this.#last, "ends_in_thinking", "The last block of the assistant's turn is thinking.");
		this.#last = -1;
	}

	#closeCalls(atEnd: boolean): void {
		for (const id of this.#waiting) {
			const name = this.#table.string(id) ?? "";
			if (atEnd && SERVER_ID.test(name)) continue;
			this.#findings.add(
				this.#calls.get(id) ?? -1,
				"unanswered_call",
				`No result in the next turn answers ${shown(name)}.`,
			);
		}
		this.#waiting.clear();
	}

	#named(result: number): string {
		return shown(this.#table.string(this.#table.resultId.at(result)));
	}
}
