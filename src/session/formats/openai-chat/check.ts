/** Would the chat completions API take the array? The rules and their sources are in NOTES.md. */
import { breathe, pacer } from "../../breathe.js";
import { isObject, type JsonObject, type JsonValue, stringOrNull } from "../../record.js";
import type { RecordFinding, ResumeCheck, ResumeFinding, ResumeView } from "../../resume.js";
import { ANSWERS, RecordTable } from "../../table.js";
import { ArrayFindings, addFileFindings, elementRows, refused, shown, surrogateFindings } from "../array-check.js";
import { lacksContent, saysSomething } from "./clean.js";

const ROLES: ReadonlySet<JsonValue | undefined> = new Set([
	"system",
	"developer",
	"user",
	"assistant",
	"tool",
	"function",
]);
const BY_ID = ANSWERS.indexOf("result");

export const openaiChatCheck: ResumeCheck = {
	pairs: null,
	record: (record) => [
		...roleFindings(record),
		...contentFindings(record),
		...callFindings(record),
		...resultFindings(record),
		...surrogateFindings(record),
	],
	whole,
};

function roleFindings({ role }: JsonObject): RecordFinding[] {
	return ROLES.has(role) ? [] : [refused("unknown_role", `The API knows no role ${shown(role)}.`)];
}

function contentFindings(record: JsonObject): RecordFinding[] {
	const { role, content } = record;
	if (!lacksContent(content) || role === "function" || !ROLES.has(role)) return [];
	if (role === "assistant" && saysSomething(record)) return [];
	return [refused("missing_content", `A ${String(role)} message has content ${JSON.stringify(content) ?? "none"}.`)];
}

function callFindings({ role, tool_calls: calls }: JsonObject): RecordFinding[] {
	if (role !== "assistant" || !Array.isArray(calls)) return [];
	if (calls.length === 0) return [refused("empty_calls", "An assistant message has an empty list of calls.")];
	return calls.flatMap(findingsOfCall);
}

function findingsOfCall(call: JsonValue): RecordFinding[] {
	if (!isObject(call)) return [refused("call_form", `A call is ${shown(call)}.`)];
	const findings: RecordFinding[] = [];
	if (stringOrNull(call.id) === null) findings.push(refused("missing_call_id", `A call has the id ${shown(call.id)}.`));
	const custom = isObject(call.custom) ? call.custom : null;
	const called = custom ?? (isObject(call.function) ? call.function : null);
	if (called === null) return [...findings, refused("call_form", "A call has neither function nor custom.")];
	if (stringOrNull(called.name) === null)
		findings.push(refused("missing_call_name", `A call has the name ${shown(called.name)}.`));
	const given = custom ? custom.input : called.arguments;
	if (typeof given !== "string")
		findings.push(
			refused("arguments_no_text", `The arguments of ${shown(called.name)} are ${shown(given)}, not a string.`),
		);
	return findings;
}

function resultFindings({ role, tool_call_id: id, name }: JsonObject): RecordFinding[] {
	if (role === "tool" && stringOrNull(id) === null)
		return [refused("missing_tool_call_id", `A tool message has the tool_call_id ${shown(id)}.`)];
	if (role === "function" && stringOrNull(name) === null)
		return [refused("missing_function_name", `A function message has the name ${shown(name)}.`)];
	return [];
}

/** The calls of an assistant message, while the tool messages directly behind it are read. */
interface Run {
	row: number;
	/** String indexes of ids. */
	calls: Set<number>;
	answered: Set<number>;
}

/** Every call answered by a tool message of the run directly behind it, each once. An id may be used again by a later message, and a legacy `function_call` needs no answer. */
async function whole(view: ResumeView): Promise<ResumeFinding[]> {
	const { table } = view;
	const findings = new ArrayFindings(table);
	addFileFindings(findings, view);
	const pause = pacer();
	let run: Run | null = null;
	for (const row of elementRows(view)) {
		if (pause()) await breathe();
		const result = resultOf(table, row);
		if (result !== null) {
			answer(findings, table, run, row, result);
			continue;
		}
		if (run) close(findings, table, run);
		run = runOf(findings, table, row);
	}
	if (run) close(findings, table, run);
	return findings.list;
}

/** String index of the id that a tool message answers, -1 when it has none; null for any other message. */
function resultOf(table: RecordTable, row: number): number | null {
	const [from, to] = RecordTable.rangeOf(table.resultRow, row);
	return from === to || table.resultByName.at(from) === 1 ? null : table.resultId.at(from);
}

function answer(findings: ArrayFindings, table: RecordTable, run: Run | null, row: number, id: number): void {
	if (id < 0) return;
	const name = shown(table.string(id));
	if (!run?.calls.has(id))
		findings.add(row, "orphan_result", `A tool message answers ${name}, which is no call of the message before it.`);
	else if (run.answered.has(id)) findings.add(row, "answered_twice", `A second tool message answers ${name}.`);
	else run.answered.add(id);
}

function runOf(findings: ArrayFindings, table: RecordTable, row: number): Run | null {
	const [from, to] = RecordTable.rangeOf(table.callRow, row);
	const run: Run = { row, calls: new Set(), answered: new Set() };
	for (let call = from; call < to; call++) {
		const id = table.callId.at(call);
		if (table.callAnswer.at(call) !== BY_ID || id < 0) continue;
		if (run.calls.has(id))
			findings.add(row, "repeated_call_id", `Two calls of one message have the id ${shown(table.string(id))}.`);
		run.calls.add(id);
	}
	return run.calls.size > 0 ? run : null;
}

function close(findings: ArrayFindings, table: RecordTable, { row, calls, answered }: Run): void {
	for (const id of calls) {
		if (!answered.has(id))
			findings.add(row, "unanswered_call", `No tool message directly behind it answers ${shown(table.string(id))}.`);
	}
}
