/** What the engine says Codex sends, and the comparison with what came over the wire. */
import { expect } from "vitest";
import type { Engine } from "#src/index.js";
import { codexContext } from "#src/session/formats/codex/context.js";
import { codexReader } from "#src/session/formats/codex/read.js";
import { contentTexts, isObject, type JsonObject, type JsonValue } from "#src/session/record.js";
import { words } from "../../formats/codex-lines.js";
import { type Ran, recordAt } from "./host.js";

/** What our reader says is sent: the wire items behind the rows of its messages, in order, each with the texts of its parts. */
export interface Sent {
	item: JsonObject;
	texts: string[];
}

/** Opens the last of the files with the engine and reads every row's bytes back. The files before it are those that it continues. */
export async function predicted(engine: Engine, ...paths: string[]): Promise<Sent[]> {
	const session = await engine.open(paths[paths.length - 1], { background: { tokens: false, index: false } });
	const { table, format, damage } = session.survey;
	// The survey's own list leaves system messages out, the wire does not.
	const branch = await codexContext.branch(table, { scope: "context", leaf: null, memory: false });
	expect([format, damage.count]).toEqual(["codex", 0]);
	const sent: Sent[] = [];
	for (let message = 0; message < branch.messages.length; message++)
		for (const row of branch.messages.rowsOf(message))
			sent.push(
				sentOf(recordAt(paths[table.source.at(row)], table.start.at(row), table.end.at(row)), table.item.at(row)),
			);
	await session.close();
	return sent;
}

/** What is sent of a record, or of item `k - 1` inside it. */
export function sentOf(record: JsonObject, k: number): Sent {
	const payload = isObject(record.payload) ? record.payload : record;
	const facts = k > 0 ? codexReader.items?.(record)[k - 1] : codexReader.read(record);
	const texts = contentTexts(facts?.parts ?? []);
	if (record.type === "session_meta") return { item: words("developer", texts[0]), texts };
	if (k > 0) return { item: wire((payload.replacement_history as JsonObject[])[k - 1]), texts };
	return { item: record.type === "compacted" ? words("user", texts[0]) : wire(payload), texts };
}

/** A stored item without the one field that Codex keeps for itself. */
function wire(payload: JsonObject): JsonObject {
	const { internal_chat_message_metadata_passthrough: _kept, ...sent } = payload;
	return sent;
}

/** The texts of an item as it came over the wire. */
export function wireTexts(sent: JsonObject): string[] {
	const inner = (value: JsonValue | undefined): string[] =>
		typeof value === "string"
			? [value]
			: Array.isArray(value)
				? value.flatMap((v) => (isObject(v) && typeof v.text === "string" ? [v.text] : []))
				: [];
	if (sent.type === "function_call") return [String(sent.name), String(sent.arguments)];
	if (sent.type === "custom_tool_call") return [String(sent.name), String(sent.input)];
	if (sent.type === "reasoning") return [...inner(sent.summary), ...inner(sent.content)];
	return inner(sent.output ?? sent.content);
}

/**
 * Compares item by item. The request is base instructions, then the history, then what Codex adds for the new turn (`context` messages at most, of
 * its own making) and the new prompt.
 */
export function compare(ran: Ran, sent: Sent[], context = 3): void {
	expect(ran.code, ran.stderr).toBe(0);
	const { input } = ran.requests[0];
	expect(sent.length).toBeGreaterThan(1);
	const [base, ...history] = sent;
	expect(input.slice(1, history.length + 1)).toEqual(history.map((s) => s.item));
	expect(input.slice(1, history.length + 1).map(wireTexts)).toEqual(history.map((s) => s.texts));
	// Codex shortens its stock instructions before it sends them.
	expect(base.texts[0].slice(0, 100)).toBe(wireTexts(input[0])[0].slice(0, 100));
	const added = input.slice(history.length + 1, -1);
	expect(added.length).toBeLessThanOrEqual(context);
	for (const message of added)
		expect(wireTexts(message)[0]).toMatch(/^<(skills_instructions|environment_context|permissions instructions)>/);
	expect(input.at(-1)).toMatchObject({ role: "user", content: [{ text: "next question" }] });
}
