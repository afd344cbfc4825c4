/** Lines of Codex rollouts, made by hand, and what a reader and context make of them: shared by the tests of that format. */
import type { Branch, BranchOptions } from "#src/session/branch.js";
import { codexContext } from "#src/session/formats/codex/context.js";
import { codexReader } from "#src/session/formats/codex/read.js";
import { contentTexts, emptyFacts, type JsonObject, type RecordFacts } from "#src/session/record.js";
import type { RecordTable } from "#src/session/table.js";
import { expandRows, tableOf } from "../helpers/table.js";

export const STAMP = "2026-01-02T03:04:05.000Z";

export const line = (type: string, payload: JsonObject): JsonObject => ({ timestamp: STAMP, type, payload });
export const item = (payload: JsonObject): JsonObject => line("response_item", payload);
export const event = (payload: JsonObject): JsonObject => line("event_msg", payload);

export const words = (role: string, text: string): JsonObject => ({
	type: "message",
	role,
	content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
});
export const user = (text: string): JsonObject => item(words("user", text));
export const assistant = (text: string): JsonObject => item(words("assistant", text));
export const developer = (text: string): JsonObject => item(words("developer", text));
export const reasoning = (text: string): JsonObject =>
	item({ type: "reasoning", summary: [{ type: "summary_text", text }], encrypted_content: "opaque" });
export const call = (id: string | null, name = "exec_command"): JsonObject =>
	item({ type: "function_call", call_id: id, name, arguments: '{"cmd":"ls"}' });
export const output = (id: string | null, text = "out"): JsonObject =>
	item({ type: "function_call_output", call_id: id, output: text });

export const meta = (more: JsonObject = {}): JsonObject => line("session_meta", { id: "thread-1", ...more });
export const turnStart = (id: string): JsonObject => event({ type: "task_started", turn_id: id });
export const turnEnd = (id: string): JsonObject => event({ type: "task_complete", turn_id: id });
/** A turn with the events around it. */
export const turn = (id: string, ...lines: JsonObject[]): JsonObject[] => [turnStart(id), ...lines, turnEnd(id)];
export const rollback = (turns: number): JsonObject => event({ type: "thread_rolled_back", num_turns: turns });
export const compacted = (items: JsonObject[] | null, message = ""): JsonObject =>
	line("compacted", items === null ? { message } : { message, replacement_history: items });
export const tokenCount = (last: JsonObject | null, more: JsonObject = {}): JsonObject =>
	event({
		type: "token_count",
		info: {
			total_token_usage: { input_tokens: 9e6, output_tokens: 9e5 },
			...more,
			...(last ? { last_token_usage: last } : {}),
		},
	});

/** The full prefix that Codex puts before the summary of a compaction. */
export const SUMMARY_PREFIX =
	"Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:";

export interface Built {
	table: RecordTable;
	branch: Branch;
	/** One string a message: `role: text|text`, with the kinds of parts that are no text in brackets. */
	shown: string[];
	/** Entry ids of each message. */
	entries: string[][];
}

/** Table, expansion and branch, as the engine makes them. A table of several sources may be given; `records` are then those of all. */
export async function build(
	records: readonly JsonObject[],
	given: Partial<BranchOptions> = {},
	table: RecordTable = tableOf(codexReader, records),
): Promise<Built> {
	const options: BranchOptions = { scope: "context", leaf: null, memory: false, ...given };
	expandRows(table, codexReader, records, codexContext.expand?.(table, options) ?? []);
	const branch = await codexContext.branch(table, options);
	const { messages } = branch;
	const shown: string[] = [];
	const entries: string[][] = [];
	for (let message = 0; message < messages.length; message++) {
		const rows = [...messages.rowsOf(message)];
		const facts = rows.map((row) => factsOf(table, records, row));
		shown.push(`${messages.roleOf(message)}: ${facts.map(show).join(" + ")}`);
		entries.push([...messages.entriesOf(message)].map((row) => table.entryOf(row)));
	}
	return { table, branch, shown, entries };
}

/** Reads the row's record again, as the engine does. */
export function factsOf(table: RecordTable, records: readonly JsonObject[], row: number): RecordFacts {
	const record = records[table.record.at(row)];
	const k = table.item.at(row);
	return (k > 0 ? codexReader.items?.(record)[k - 1] : codexReader.read(record)) ?? emptyFacts(0);
}

function show({ parts }: RecordFacts): string {
	return parts
		.map((part) => {
			if (part.type === "text") return part.text;
			if (part.type === "thinking") return `(${part.text})`;
			if (part.type === "tool_call") return `[call ${part.id}]`;
			if (part.type === "tool_result") return `[result ${part.id}]`;
			return part.type === "image" ? "[image]" : "[opaque]";
		})
		.join("|");
}

export const textsOf = (facts: RecordFacts | null): string[] => contentTexts(facts?.parts ?? []);
