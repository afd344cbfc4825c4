/** Real and composed session files against a prediction that shares no code with the engine. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { claudeCodeReader } from "#src/session/formats/claude-code/read.js";
import { contentTexts, FLAG, type JsonObject } from "#src/session/record.js";
import { read } from "./claude-code/lines.js";
import { type Predicted, predict } from "./claude-code/predict.js";

const FOLDER = new URL("../../../shared/sessions/claude-code/", import.meta.url);
const LARGE = "258c7280-ae70-4798-800f-63464d01a85d";

/** Messages in the context and in path scope. */
const FILES: readonly [file: string, context: number, path: number][] = [
	[`${LARGE}.jsonl`, 115, 343],
	["4d5611e5-241a-462a-8d15-5122611a9569.jsonl", 161, 292],
	[`${LARGE}/subagents/agent-a881341.jsonl`, 6, 6],
	[`${LARGE}/subagents/agent-acompact-fffbd0.jsonl`, 4, 4],
	["composed-large.jsonl", 10, 10],
	["line-types.jsonl", 2, 2],
	["representative_messages.jsonl", 11, 11],
	["schema-drift.jsonl", 2, 2],
	["session_b.jsonl", 3, 3],
	["short.jsonl", 5, 5],
	["todowrite_examples.jsonl", 11, 11],
	["tool_heavy.jsonl", 17, 17],
];

function linesOf(file: string): JsonObject[] {
	const text = readFileSync(new URL(file, FOLDER), "utf8");
	return text
		.split("\n")
		.filter((line) => line.trim() !== "")
		.map((line) => JSON.parse(line) as JsonObject);
}

/** The branch as the prediction words it: attachments that hang on a message are left out, their text comes with other rules. */
async function readAs(lines: JsonObject[], scope: "context" | "path"): Promise<Predicted[]> {
	const { messages, table } = await read(lines, { scope });
	const list: Predicted[] = [];
	for (let m = 0; m < messages.length; m++) {
		const own = [...messages.rowsOf(m)].filter((row) => (table.flags.at(row) & FLAG.ATTACHED) === 0);
		const records = own.map((row) => lines[table.record.at(row)]);
		list.push({
			role: messages.roleOf(m),
			uuids: records.map((record) => record.uuid),
			texts: records.flatMap((record) => contentTexts(claudeCodeReader.read(record)?.parts ?? [])),
		});
	}
	return list;
}

describe.skipIf(!existsSync(FOLDER))("session files of Claude Code", () => {
	it.each(FILES)("%s reads as the host would send it", async (file, context, path) => {
		const lines = linesOf(file);
		const sent = await readAs(lines, "context");
		expect(sent).toEqual(predict(lines));
		const all = await readAs(lines, "path");
		expect(all).toEqual(predict(lines, "path"));
		expect([sent.length, all.length]).toEqual([context, path]);
	});
});
