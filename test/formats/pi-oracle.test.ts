import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "#src/session/record.js";
import { header, withoutIds } from "./pi/entries.js";
import { contextAt, type Expected, migrate, originalsAt } from "./pi/oracle.js";
import { type Seen, view } from "./pi/view.js";

const words = fc.constantFrom("alpha", "beta", "", "gamma\ndelta", "é😀");
const textPart = words.map((text): JsonObject => ({ type: "text", text }));
const replyPart = fc.oneof(
	textPart,
	words.map((thinking): JsonObject => ({ type: "thinking", thinking })),
	fc
		.constantFrom<JsonValue>("{}", { a: 1 }, { b: [true, null] })
		.map((args): JsonObject => ({ type: "toolCall", id: "c", name: "read", arguments: args })),
);
const content = fc.oneof<fc.Arbitrary<JsonValue>[]>(
	words,
	fc.array(textPart, { maxLength: 3 }).map((parts): JsonValue => parts),
	fc.constant(null),
);
const systemMessage = fc.record({
	role: fc.constant("system"),
	content: words,
	sections: fc.constantFrom<JsonValue>({ rules: "be brief", gone: null }, {}),
	toolsAdded: fc.constantFrom<JsonValue>([{ name: "read" }], [{ name: "a" }, { name: "b" }]),
});
const body = fc.oneof<fc.Arbitrary<JsonObject>[]>(
	fc.record({ role: fc.constant("user"), content }),
	fc.record({
		role: fc.constant("assistant"),
		content: fc.array(replyPart, { maxLength: 3 }),
		stopReason: fc.constantFrom("stop", "error"),
	}),
	fc.record({ role: fc.constant("toolResult"), toolCallId: fc.constant("c"), content }),
	fc.record({ role: fc.constant("bashExecution"), command: words, output: words }),
	fc.record({ role: fc.constantFrom("custom", "hookMessage", "artifact"), content }),
	systemMessage,
);

/** A number that picks one of the entries there are; out of range it names none. */
const pick = fc.integer({ min: 0, max: 34 });
const odd = fc.constantFrom("model_change", "label", "custom", "usage", "session_info", "from_the_future");
const replacement = fc.option(fc.record({ content: fc.oneof(words, fc.array(replyPart, { maxLength: 2 })) }));
type Draft = { fields: JsonObject; target: number };
const draft = fc.oneof<{ arbitrary: fc.Arbitrary<Draft>; weight: number }[]>(
	{
		arbitrary: fc.record({ fields: body.map((message): JsonObject => ({ type: "message", message })), target: pick }),
		weight: 10,
	},
	{
		arbitrary: fc.record({
			fields: replacement.map((value): JsonObject => ({ type: "context_edit", replacement: value })),
			target: pick,
		}),
		weight: 5,
	},
	{
		arbitrary: fc.record({
			fields: fc
				.record({ summary: words, systemMessage: fc.option(systemMessage) })
				.map((fields): JsonObject => ({ type: "compaction", ...fields })),
			target: pick,
		}),
		weight: 2,
	},
	{
		arbitrary: fc.record({
			fields: fc.oneof(
				words.map((summary): JsonObject => ({ type: "branch_summary", summary })),
				content.map((value): JsonObject => ({ type: "custom_message", customType: "t", content: value })),
				odd.map((type): JsonObject => ({ type })),
			),
			target: pick,
		}),
		weight: 3,
	},
);
/** Parent of the entry at `i`: mostly the one before, else any, one that is missing, or none. */
const parentChoice = fc.oneof(
	{ arbitrary: fc.constant("before"), weight: 8 },
	{ arbitrary: pick, weight: 2 },
	{ arbitrary: fc.constant("none"), weight: 1 },
);
/** Now and then an id that another entry has too. */
const idChoice = fc.oneof({ arbitrary: fc.constant(-1), weight: 19 }, { arbitrary: pick, weight: 1 });
const drafts = fc.array(fc.record({ draft, parent: parentChoice, id: idChoice }), { minLength: 1, maxLength: 30 });

const idAt = (i: number) => `e${i}`;

function session(plan: readonly { draft: Draft; parent: string | number; id: number }[], version = 3): JsonObject[] {
	const entries = plan.map(({ draft: { fields, target }, parent, id }, i): JsonObject => {
		const before = i === 0 ? null : idAt(i - 1);
		return {
			...fields,
			id: idAt(id < 0 ? i : id),
			parentId: parent === "before" ? before : parent === "none" ? null : idAt(Number(parent)),
			timestamp: "2026-01-02T03:04:05.000Z",
			...(fields.type === "context_edit" ? { targetId: idAt(target) } : {}),
			...(fields.type === "compaction" ? { firstKeptEntryId: idAt(target), firstKeptEntryIndex: target } : {}),
		};
	});
	return [header({ version }), ...entries];
}

const plain = (list: readonly Seen[]): Expected[] => list.map(({ role, texts, entry }) => ({ role, texts, entry }));

describe("the list at every leaf equals that of an independent copy of Pi's rules", () => {
	it.each([2, 3])("on random trees of version %i", async (version) => {
		await fc.assert(
			fc.asyncProperty(drafts, async (plan) => {
				const records = session(plan, version);
				const entries = migrate(records);
				for (const leaf of new Set(entries.map((e) => e.id))) {
					expect(plain((await view(records, { leaf })).list)).toEqual(contextAt(entries, leaf));
					expect(plain((await view(records, { leaf, scope: "path" })).list)).toEqual(originalsAt(entries, leaf));
				}
				const last = entries[entries.length - 1].id;
				expect(plain((await view(records)).list)).toEqual(contextAt(entries, last));
			}),
			{ numRuns: 250 },
		);
	});

	it("on random files of version 1", async () => {
		await fc.assert(
			fc.asyncProperty(drafts, async (plan) => {
				const { version: _version, ...head } = header();
				const records = withoutIds([head, ...session(plan).slice(1)]);
				const entries = migrate(records);
				for (const { id: leaf } of entries) {
					expect(plain((await view(records, { leaf })).list)).toEqual(contextAt(entries, leaf));
					expect(plain((await view(records, { leaf, scope: "path" })).list)).toEqual(originalsAt(entries, leaf));
				}
			}),
			{ numRuns: 150 },
		);
	});
});

const REAL = "../shared/sessions/pi";

describe.skipIf(!existsSync(REAL))("real sessions", () => {
	it.each([
		["v1-large-session.jsonl", 1019, 914],
		["v3-small.jsonl", 9, 5],
	])("%s reads as the copy of Pi's rules reads it", async (name, records, messages) => {
		const lines = readFileSync(`${REAL}/${name}`, "utf8").split("\n").filter(Boolean);
		const objects = lines.map((line) => JSON.parse(line) as JsonObject);
		const entries = migrate(objects);
		const { list, branch } = await view(objects);
		expect(objects).toHaveLength(records);
		expect(plain(list)).toEqual(contextAt(entries, entries[entries.length - 1].id));
		expect(plain((await view(objects, { scope: "path" })).list)).toEqual(
			originalsAt(entries, entries[entries.length - 1].id),
		);
		expect(list).toHaveLength(messages);
		expect([branch.damage, branch.notices]).toEqual([[], []]);
	});
});
