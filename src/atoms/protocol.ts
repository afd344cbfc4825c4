/** Which calls are answered where: the id join over the merged columns of an anchor (CONTRACT section 5, RULINGS 9, 12, 13). */

import type { MessageList } from "../session/branch.js";
import { breathe, pacer } from "../session/breathe.js";
import { ANSWERS, RecordTable } from "../session/table.js";
import type { Protocol } from "./table.js";

const BY_NAME = ANSWERS.indexOf("by_name");
const NOBODY = ANSWERS.indexOf("none");

/** Calls and results of an anchor's messages, and how often each id occurs. */
export interface Protocols {
	table: RecordTable;
	list: MessageList;
	/** Indexes into the call columns of the table. */
	callsOf(message: number): number[];
	/** Indexes into the result columns. */
	resultsOf(message: number): number[];
	/** By string index of the id: calls and results of the whole anchor. */
	callCount: Uint32Array;
	resultCount: Uint32Array;
}

export async function readProtocols(table: RecordTable, list: MessageList, order: Int32Array): Promise<Protocols> {
	const pause = pacer();
	const callCount = new Uint32Array(table.strings.length);
	const resultCount = new Uint32Array(table.strings.length);
	const protocols: Protocols = {
		table,
		list,
		callsOf: (message) => indexesOf(table.callRow, list.rowsOf(message)),
		// An edited result keeps its id although its content comes from another record.
		resultsOf: (message) =>
			indexesOf(
				table.resultRow,
				list.roleOf(message) === "tool_result" ? list.entriesOf(message) : list.rowsOf(message),
			),
		callCount,
		resultCount,
	};
	for (const message of order) {
		if (pause()) await breathe();
		for (const call of protocols.callsOf(message)) {
			const id = table.callId.at(call);
			if (id >= 0) callCount[id]++;
		}
		for (const result of protocols.resultsOf(message)) {
			const id = table.resultId.at(result);
			if (id >= 0) resultCount[id]++;
		}
	}
	return protocols;
}

function indexesOf(column: RecordTable["callRow"], rows: Int32Array): number[] {
	const indexes: number[] = [];
	for (const row of rows) {
		const [from, to] = RecordTable.rangeOf(column, row);
		for (let i = from; i < to; i++) indexes.push(i);
	}
	return indexes;
}

/** The calls of one assistant message while its results are gathered. */
export class OpenCalls {
	readonly #protocols: Protocols;
	/** Ids and names still waiting; a missing id (-1) waits for ever. */
	readonly #waiting: { key: number; byName: boolean }[];
	readonly #own: Set<number>;
	/** Ids that a gathered message answered. */
	readonly answered = new Set<number>();
	/** A gathered message holds a result that is not of these calls. */
	foreign = false;

	constructor(protocols: Protocols, message: number) {
		const { table } = protocols;
		this.#protocols = protocols;
		this.#own = new Set();
		this.#waiting = [];
		for (const call of protocols.callsOf(message)) {
			const answer = table.callAnswer.at(call);
			if (answer === BY_NAME) {
				this.#waiting.push({ key: table.callName.at(call), byName: true });
				continue;
			}
			this.#own.add(table.callId.at(call));
			if (answer !== NOBODY) this.#waiting.push({ key: table.callId.at(call), byName: false });
		}
	}

	get allAnswered(): boolean {
		return this.#waiting.length === 0;
	}

	/** Takes a message's results if one of them is of these calls; false leaves everything as it was. */
	gather(message: number): boolean {
		const { table, list } = this.#protocols;
		if (list.roleOf(message) !== "tool_result" || this.allAnswered) return false;
		const results = this.#protocols.resultsOf(message);
		if (!results.some((result) => this.#isOwn(result))) return false;
		for (const result of results) {
			if (!this.#isOwn(result)) {
				this.foreign = true;
				continue;
			}
			const byName = table.resultByName.at(result) === 1;
			const key = byName ? table.resultName.at(result) : table.resultId.at(result);
			if (!byName) this.answered.add(key);
			const at = this.#waiting.findIndex((w) => w.byName === byName && w.key === key);
			if (at >= 0) this.#waiting.splice(at, 1);
		}
		return true;
	}

	/** Whether a result inside the assistant message itself is of one of its calls. */
	ownsId(id: number): boolean {
		return id >= 0 && this.#own.has(id);
	}

	#isOwn(result: number): boolean {
		const { table } = this.#protocols;
		if (table.resultByName.at(result) === 1) {
			const name = table.resultName.at(result);
			return this.#waiting.some((w) => w.byName && w.key === name);
		}
		return this.ownsId(table.resultId.at(result));
	}
}

export interface ExchangeFacts {
	/** Position in the order behind the last message of the exchange. */
	end: number;
	protocol: Protocol;
	/** Results that it holds. */
	results: number;
}

/** The exchange that starts with the assistant message at position `at` of the order. */
export function judgeExchange(protocols: Protocols, order: Int32Array, at: number): ExchangeFacts {
	const { table } = protocols;
	const message = order[at];
	const open = new OpenCalls(protocols, message);
	const inside = protocols.resultsOf(message);
	let results = inside.length;
	let end = at + 1;
	while (end < order.length && open.gather(order[end])) {
		results += protocols.resultsOf(order[end]).length;
		end++;
	}
	const ambiguous =
		open.foreign ||
		inside.some((result) => !open.ownsId(table.resultId.at(result))) ||
		protocols.callsOf(message).some((call) => isAmbiguous(protocols, call, open));
	return { end, results, protocol: ambiguous ? "ambiguous" : open.allAnswered ? "closed" : "abandoned" };
}

/** A call whose id is missing, used twice, answered twice, or answered somewhere else. */
function isAmbiguous({ table, callCount, resultCount }: Protocols, call: number, open: OpenCalls): boolean {
	const answer = table.callAnswer.at(call);
	if (answer === BY_NAME) return false;
	const id = table.callId.at(call);
	if (id < 0) return answer !== NOBODY;
	if (callCount[id] > 1 || resultCount[id] > 1) return true;
	return answer !== NOBODY && resultCount[id] > 0 && !open.answered.has(id);
}
