/** Codex rollouts: from lines to the messages of a branch. */
import { describe, expect, it } from "vitest";
import { measureParts } from "#src/measure/parts.js";
import { codexContext } from "#src/session/formats/codex/context.js";
import { codexReader } from "#src/session/formats/codex/read.js";
import type { JsonObject, JsonValue } from "#src/session/record.js";
import { RecordTable } from "#src/session/table.js";
import { tableOf } from "../helpers/table.js";
import {
	assistant,
	build,
	call,
	compacted,
	developer,
	event,
	item,
	line,
	meta,
	output,
	reasoning,
	rollback,
	SUMMARY_PREFIX,
	tokenCount,
	turn,
	turnEnd,
	turnStart,
	user,
	words,
} from "./codex-lines.js";

const shownOf = async (records: JsonObject[], scope: "context" | "path" = "context"): Promise<string[]> =>
	(await build(records, { scope })).shown;

describe("a run of the model's items is one message (RULINGS 10)", () => {
	const rows: [name: string, records: JsonObject[], shown: string[]][] = [
		[
			"reasoning, message and parallel calls together; each output a message",
			[
				user("q"),
				reasoning("think"),
				assistant("I look."),
				call("a"),
				call("b"),
				output("a"),
				output("b"),
				assistant("done"),
			],
			[
				"user: q",
				"assistant: (think)|[opaque] + I look. + [call a] + [call b]",
				"tool_result: [result a]|out",
				"tool_result: [result b]|out",
				"assistant: done",
			],
		],
		[
			"events, turn_context and world_state never end it",
			[
				assistant("one"),
				event({ type: "agent_message", message: "one" }),
				line("turn_context", { turn_id: "t" }),
				line("world_state", { full: true }),
				tokenCount({ input_tokens: 1, output_tokens: 1 }),
				call("a"),
			],
			["assistant: one + [call a]"],
		],
		[
			"a user item ends it",
			[assistant("one"), user("q"), assistant("two")],
			["assistant: one", "user: q", "assistant: two"],
		],
		[
			"another agent's message ends it",
			[
				assistant("one"),
				item({ type: "agent_message", content: [{ type: "input_text", text: "go" }] }),
				assistant("two"),
			],
			["assistant: one", "user: go", "assistant: two"],
		],
		[
			"a developer message inside it stands behind",
			[reasoning("think"), developer("rules"), call("a"), output("a")],
			["assistant: (think)|[opaque] + [call a]", "system: rules", "tool_result: [result a]|out"],
		],
		[
			"bookkeeping items are not there",
			[assistant("one"), item({ type: "ghost_snapshot" }), item({ type: "martian" }), call("a")],
			["assistant: one + [call a]"],
		],
		[
			"a compaction ends it",
			[compacted([words("assistant", "kept")]), assistant("new")],
			["assistant: kept", "assistant: new"],
		],
	];
	it.each(rows)("%s", async (_name, records, shown) => {
		expect(await shownOf(records)).toEqual(shown);
	});

	it("every record of the run is an entry of the message", async () => {
		const { entries } = await build([meta(), user("q"), reasoning("r"), event({ type: "x" }), call("a")]);
		expect(entries).toEqual([["#1"], ["#2", "#4"]]);
	});
});

describe("system messages (RULINGS 6)", () => {
	it("base instructions come first, developer items where they stand", async () => {
		const records = [meta({ base_instructions: { text: "BASE" } }), developer("rules"), user("q")];
		expect(await shownOf(records)).toEqual(["system: BASE", "system: rules", "user: q"]);
	});

	it("base instructions are the session's own, not those of a replayed parent", async () => {
		const records = [
			meta({ base_instructions: { text: "CHILD" } }),
			meta({ id: "p", base_instructions: { text: "PARENT" } }),
			user("q"),
		];
		expect(await shownOf(records)).toEqual(["system: CHILD", "user: q"]);
	});
});

describe("compactions", () => {
	const before = [meta({ base_instructions: { text: "BASE" } }), user("one"), assistant("first")];
	const summary = words("user", `${SUMMARY_PREFIX}\nThe gist.`);

	it("the replacement history stands in for all before it, the summary is a summary", async () => {
		const { shown, entries } = await build([...before, compacted([words("user", "one"), summary]), user("two")]);
		expect(shown).toEqual(["system: BASE", "user: one", `summary: ${SUMMARY_PREFIX}\nThe gist.`, "user: two"]);
		expect(entries).toEqual([["#0"], ["#3.0"], ["#3.1"], ["#4"]]);
	});

	it("only the last one counts", async () => {
		const records = [
			...before,
			compacted([words("user", "A")]),
			user("two"),
			compacted([words("user", "B")]),
			user("three"),
		];
		expect(await shownOf(records)).toEqual(["system: BASE", "user: B", "user: three"]);
	});

	it("an empty replacement history leaves nothing", async () => {
		expect(await shownOf([...before, compacted([]), user("two")])).toEqual(["system: BASE", "user: two"]);
	});

	it("one that Codex cannot read is passed over", async () => {
		const broken = compacted([words("user", "A")]);
		delete broken.timestamp;
		expect(await shownOf([...before, broken])).toEqual(["system: BASE", "user: one", "assistant: first"]);
	});

	it("without a replacement history the user messages and the summary stay", async () => {
		const records = [
			...before,
			developer("rules"),
			user("<environment_context>x</environment_context>"),
			user("two"),
			call("a"),
			output("a"),
			compacted(null, "The gist."),
			assistant("on"),
		];
		expect(await shownOf(records)).toEqual([
			"system: BASE",
			"user: one",
			"user: two",
			"summary: The gist.",
			"assistant: on",
		]);
	});

	it("of those user messages the newest 20,000 tokens stay, four characters each", async () => {
		const records = [
			user("old"),
			user("x".repeat(50_000)),
			user("y".repeat(60_000)),
			user("z".repeat(1_000)),
			compacted(null, "S"),
		];
		const { entries, branch } = await build(records);
		expect(entries).toEqual([["#1"], ["#2"], ["#3"], ["#4"]]);
		expect(branch.notices.join()).toContain("20,000 tokens");
		expect((await build([user("old"), compacted(null, "S")])).branch.notices).toEqual([]);
	});

	it("path scope reads the originals and leaves the host's summaries out (RULINGS 4)", async () => {
		const records = [
			...before,
			item({ type: "compaction", encrypted_content: "E" }),
			compacted([summary]),
			user("two"),
			compacted(null, "S"),
			assistant("second"),
		];
		expect(await shownOf(records, "path")).toEqual([
			"system: BASE",
			"user: one",
			"assistant: first",
			"user: two",
			"assistant: second",
		]);
	});

	it("path scope leaves out the reply in which the model wrote the summary", async () => {
		const records = [
			...before,
			reasoning("how to sum up"),
			assistant("The gist."),
			tokenCount({ input_tokens: 1, output_tokens: 1 }),
			compacted([summary], `${SUMMARY_PREFIX}\nThe gist.`),
			user("two"),
		];
		expect(await shownOf(records, "path")).toEqual(["system: BASE", "user: one", "assistant: first", "user: two"]);
		const other = [...before, compacted([summary], `${SUMMARY_PREFIX}\nThe gist.`), user("two")];
		expect(await shownOf(other, "path")).toEqual(["system: BASE", "user: one", "assistant: first", "user: two"]);
	});

	it.each(["codex#28866", "codex#31198"])("%s: of 100 growing copies of the history only one is expanded", () => {
		const history: JsonObject[] = [];
		const records: JsonObject[] = [meta()];
		for (let n = 0; n < 100; n++) {
			history.push(words("user", `message ${n}`));
			records.push(compacted([...history]), user(`later ${n}`));
		}
		const table = tableOf(codexReader, records);
		expect(table.rows).toBe(1 + 200);
		expect(table.strings).toEqual([]);
		expect([...table.metas.values()].every((m) => JSON.stringify(m).length < 100)).toBe(true);
		expect(codexContext.expand?.(table, { scope: "context", leaf: null, memory: false })).toEqual([199]);
		expect(codexContext.expand?.(table, { scope: "path", leaf: null, memory: false })).toEqual([]);
	});
});

describe("rollbacks (RULINGS 7), each as seen in Codex 0.171", () => {
	const start = [
		developer("rules"),
		user("<environment_context>x</environment_context>"),
		...turn("a", user("q1"), assistant("r1")),
		...turn("b", user("q2"), assistant("r2")),
		...turn("c", user("q3"), assistant("r3")),
	];
	const kept = compacted([words("user", "kept"), words("user", `${SUMMARY_PREFIX}\nS`)]);
	const until = (n: number): string[] => [
		"system: rules",
		"user: <environment_context>x</environment_context>",
		...[1, 2, 3].slice(0, n).flatMap((k) => [`user: q${k}`, `assistant: r${k}`]),
	];
	const afterKept = ["user: kept", `summary: ${SUMMARY_PREFIX}\nS`];
	const rows: [name: string, later: JsonObject[], shown: string[]][] = [
		["one turn", [rollback(1)], until(2)],
		["two rollbacks of one turn", [rollback(1), rollback(1)], until(1)],
		["of no turn", [rollback(0)], until(3)],
		["more turns than there are: what stands before the first turn stays", [rollback(9)], until(0)],
		[
			"a turn in front of which the host wrote context",
			[
				developer("<permissions instructions>p"),
				user("<environment_context>y</environment_context>"),
				...turn("d", user("q4"), assistant("r4")),
				rollback(1),
			],
			until(3),
		],
		[
			"a turn that was aborted",
			[
				turnStart("d"),
				user("q4"),
				user("<turn_aborted>\nx\n</turn_aborted>"),
				event({ type: "turn_aborted", turn_id: "d" }),
				rollback(1),
			],
			until(3),
		],
		[
			"another agent's message starts a turn",
			[item({ type: "agent_message", content: [{ type: "input_text", text: "go" }] }), assistant("gone"), rollback(1)],
			until(3),
		],
		[
			"words beside host context start none",
			[
				item({
					type: "message",
					role: "user",
					content: [
						{ type: "input_text", text: "<environment_context>y</environment_context>" },
						{ type: "input_text", text: "typed" },
					],
				}),
				assistant("r4"),
				rollback(1),
			],
			until(2),
		],
		["a compaction after the turn is undone with it", [...turn("d", kept), rollback(1)], until(2)],
		[
			"a compaction before the turn stays",
			[...turn("d", kept), ...turn("e", user("q4"), assistant("r4")), rollback(1)],
			afterKept,
		],
		[
			"two turns, a compaction between them",
			[...turn("d", kept), ...turn("e", user("q4"), assistant("r4")), rollback(2)],
			until(2),
		],
		["a compaction inside the turn", [...turn("d", user("q4"), kept, assistant("r4")), rollback(1)], until(3)],
		[
			"a compaction inside the turn, an older one before it",
			[...turn("d", kept), ...turn("e", user("q4"), compacted([words("user", "other")]), assistant("r4")), rollback(1)],
			afterKept,
		],
		[
			"two prompts in one turn, a compaction between them",
			[...turn("d", user("q4"), kept, user("q5"), assistant("r5")), rollback(1)],
			[...until(3), "user: q4"],
		],
		[
			"a compaction newer than the rollback",
			[
				rollback(1),
				...turn("d", kept),
				...turn("e", user("q4"), assistant("r4")),
				rollback(1),
				...turn("f", user("q5"), assistant("r5")),
			],
			[...afterKept, "user: q5", "assistant: r5"],
		],
		["no events around the compaction", [kept, user("q4"), assistant("r4"), rollback(1)], until(3)],
	];
	it.each(rows)("%s", async (_name, later, shown) => {
		expect(await shownOf([...start, ...later])).toEqual(shown);
	});

	it("path scope drops the turns too", async () => {
		const records = [...start, ...turn("d", kept), ...turn("e", user("q4"), assistant("r4")), rollback(1)];
		expect(await shownOf(records, "path")).toEqual(until(3));
	});
});

describe("usage (RULINGS 19)", () => {
	const used = (input: number): JsonObject =>
		tokenCount({ input_tokens: input, cached_input_tokens: 10, output_tokens: 5 }, { model_context_window: 1000 });
	const total = async (records: JsonObject[], scope: "context" | "path" = "context"): Promise<number | null> => {
		const { usage } = (await build(records, { scope })).branch;
		return usage && usage.usage.input + usage.usage.cacheRead + usage.usage.cacheWrite + usage.usage.output;
	};
	const rows: [name: string, records: JsonObject[], context: number | null][] = [
		["the last reply's", [user("q"), assistant("r"), used(100), used(100), user("q"), assistant("r"), used(200)], 205],
		["none when only totals exist", [user("q"), assistant("r"), tokenCount(null)], null],
		["none when a compaction is newer", [user("q"), assistant("r"), used(100), compacted([words("user", "k")])], null],
		[
			"none when a compaction without history is newer",
			[user("q"), assistant("r"), used(100), compacted(null, "S")],
			null,
		],
		[
			"zeros after a compaction are none",
			[assistant("r"), used(100), compacted([]), tokenCount({ input_tokens: 0, output_tokens: 0, total_tokens: 6075 })],
			null,
		],
		[
			"repeated after a compaction it is still the old one",
			[assistant("r"), used(100), compacted([]), user("q"), used(100)],
			null,
		],
		[
			"a reply after the compaction counts again",
			[assistant("r"), used(900), compacted([]), user("q"), assistant("r"), used(100)],
			105,
		],
		[
			"a rollback goes back to the usage before the turn",
			[
				...turn("a", user("q"), assistant("r"), used(100)),
				...turn("b", user("q"), assistant("r"), used(900)),
				rollback(1),
				used(900),
			],
			105,
		],
	];
	it.each(rows)("%s", async (_name, records, context) => {
		expect(await total(records)).toBe(context);
		expect(await total(records, "path")).toBe(context);
	});

	it("names the record and the window", async () => {
		const { branch, table } = await build([meta(), user("q"), assistant("r"), used(100)]);
		expect(branch.usage?.usage).toEqual({ input: 90, cacheRead: 10, cacheWrite: 0, output: 5, window: 1000 });
		expect(table.entryOf(branch.usage?.row ?? -1)).toBe("#3");
	});

	it("ccusage#1370: a fork that replays its parent with all its token counts has the usage of its own last reply", async () => {
		const parent = [user("q"), assistant("r"), used(700), user("q2"), assistant("r2"), used(800)];
		expect(
			await total([meta(), meta({ id: "parent" }), ...parent, user("own"), assistant("own reply"), used(100)]),
		).toBe(105);
	});
});

describe("native forks", () => {
	const child = [
		meta({
			id: "child",
			base_instructions: { text: "CHILD" },
			history_base: { thread_id: "parent", end_ordinal_exclusive: 3, end_byte_offset: 299 },
		}),
		user("own"),
	];
	const parent = [meta({ id: "parent", base_instructions: { text: "PARENT" } }), user("q"), assistant("r")];

	it("base names the parent and how many of its bytes count", () => {
		expect(codexContext.base?.(tableOf(codexReader, child))).toEqual({ id: "parent", end: 299 });
		expect(codexContext.base?.(tableOf(codexReader, parent))).toBeNull();
		expect(codexContext.base?.(tableOf(codexReader, []))).toBeNull();
	});

	it("the parent's lines come first, the child's header rules", async () => {
		const table = new RecordTable();
		await table.append(tableOf(codexReader, parent).toChunk(), { source: 0 });
		await table.append(tableOf(codexReader, child).toChunk(), { source: 1 });
		const { messages } = await codexContext.branch(table, { scope: "context", leaf: null, memory: false });
		const entries = Array.from({ length: messages.length }, (_, m) =>
			[...messages.entriesOf(m)].map((row) => table.entryOf(row)),
		);
		expect(entries).toEqual([["#3"], ["#1"], ["#2"], ["#4"]]);
		expect(codexContext.base?.(table)).toEqual({ id: "parent", end: 299 });
	});

	const sound = { thread_id: "parent", end_byte_offset: 299 };
	const unusable: [name: string, history_base: JsonValue][] = [
		["a negative offset", { ...sound, end_byte_offset: -1 }],
		["an offset before the parent's first line ends", { ...sound, end_byte_offset: 0 }],
		["half a byte", { ...sound, end_byte_offset: 12.5 }],
		["an offset as text", { ...sound, end_byte_offset: "299" }],
		["an offset that no file reaches", { ...sound, end_byte_offset: 1e300 }],
		["no offset", { thread_id: "parent" }],
		["an empty id", { ...sound, thread_id: "" }],
		["an id that is no string", { ...sound, thread_id: 7 }],
		["itself", { ...sound, thread_id: "child" }],
		["no object", "parent"],
		["a list", []],
	];
	it.each(unusable)(
		"a base that cannot be followed is damage, and the child stands alone: %s",
		async (_, history_base) => {
			const records = [meta({ id: "child", history_base }), user("own")];
			const { table, branch, shown } = await build(records);
			expect(codexContext.base?.(table)).toBeNull();
			expect(shown).toEqual(["user: own"]);
			expect(branch.damage).toEqual([{ kind: "missing_parent", row: 0, onAnchor: true }]);
			expect(branch.notices).toEqual([
				"The session continues another one, but not in a way that can be followed: only its own part is here.",
			]);
		},
	);

	it("no base, or one that the engine follows, is no damage of the branch", async () => {
		for (const more of [{}, { history_base: null }, { history_base: sound }]) {
			const { branch } = await build([meta({ id: "child", ...more }), user("own")]);
			expect(branch.damage).toEqual([]);
			expect(branch.notices).toEqual([]);
		}
	});

	it("a file that was followed and has such a base: a notice, because places of damage are in the file that was opened", async () => {
		const lost = [meta({ id: "parent", history_base: { ...sound, thread_id: "parent" } }), user("q")];
		const table = new RecordTable();
		await table.append(tableOf(codexReader, lost).toChunk(), { source: 0 });
		await table.append(tableOf(codexReader, child).toChunk(), { source: 1 });
		const { damage, notices } = await codexContext.branch(table, { scope: "context", leaf: null, memory: false });
		expect(damage).toEqual([]);
		expect(notices).toEqual([expect.stringMatching(/^The first of the continued sessions continues another one/)]);
	});
});

describe("--leaf", () => {
	const records = [
		meta(),
		user("q1"),
		assistant("r1"),
		call("a"),
		output("a"),
		compacted([words("user", "k0"), words("user", "k1")]),
		user("q2"),
	];
	const rows: [leaf: string, shown: string[]][] = [
		["#1", ["user: q1"]],
		["#2", ["user: q1", "assistant: r1"]],
		["#4", ["user: q1", "assistant: r1 + [call a]", "tool_result: [result a]|out"]],
		["#5", ["user: k0", "user: k1"]],
		["#5.0", ["user: k0"]],
		["#6", ["user: k0", "user: k1", "user: q2"]],
	];
	it.each(rows)("%s is the last row of the branch", async (leaf, shown) => {
		const { shown: got, branch, table } = await build(records, { leaf });
		expect(got).toEqual(shown);
		if (leaf !== "#5") expect(table.entryOf(branch.leaf)).toBe(leaf);
	});

	it.each(["#99", "#5.2", "#2.0", "a0001", "#", "5"])("%s names no entry", async (leaf) => {
		await expect(build(records, { leaf })).rejects.toMatchObject({ code: "unknown_ref" });
	});

	it("items of a compaction are no entries of path scope", async () => {
		await expect(build(records, { leaf: "#5.0", scope: "path" })).rejects.toMatchObject({ code: "unknown_ref" });
	});

	it("a session without messages has no leaf", async () => {
		expect((await build([meta({ base_instructions: { text: "BASE" } })])).branch.leaf).toBe(-1);
		expect((await build([])).branch.leaf).toBe(-1);
	});
});

describe("notices", () => {
	const notices = async (records: JsonObject[]): Promise<string> => (await build(records)).branch.notices.join("\n");

	it("messages only as events (RULINGS 7)", async () => {
		expect(await notices([meta(), event({ type: "user_message", message: "q" })])).toContain("only as events");
		expect(await notices([meta(), event({ type: "item_completed", item: { type: "AgentMessage" } })])).toContain(
			"only as events",
		);
		expect(await notices([meta(), event({ type: "user_message", message: "q" }), user("q")])).toBe("");
		const { branch } = await build([meta(), event({ type: "user_message", message: "q" }), user("q")], { leaf: "#1" });
		expect(branch.notices).toEqual([]);
	});

	it("events without any message (RULINGS 7)", async () => {
		const nothing =
			"This rollout holds only events and bookkeeping, no response item that Codex would send: there is no message to survey.";
		expect(await notices([meta(), event({ type: "turn.completed", usage: { input_tokens: 1 } })])).toBe(nothing);
		expect(await notices([meta(), tokenCount({ input_tokens: 1, output_tokens: 1 })])).toBe(nothing);
		expect(await notices([meta(), event({ type: "task_started", turn_id: "t" })])).toBe(nothing);
		expect(await notices([meta({ base_instructions: { text: "B" } })])).toBe("");
		expect(await notices([meta(), event({ type: "error" }), user("q")])).toBe("");
		expect(await notices([meta(), event({ type: "error" }), compacted(null, "S")])).toBe("");
	});

	it("lines that Codex drops, and items of unknown kinds", async () => {
		const broken = user("q");
		delete broken.timestamp;
		expect(await notices([meta(), broken, user("q")])).toMatch(/^1 line left out/);
		expect(await notices([user("q"), item({ type: "martian" }), item({ type: "venusian" })])).toBe(
			"2 response items of unknown kinds left out (martian, venusian).",
		);
	});
});

describe("what was walked", () => {
	it("context scope reads from the last compaction on, path scope all; the header belongs to both", async () => {
		const records = [
			meta({ base_instructions: { text: "B" } }),
			user("q1"),
			compacted([words("user", "k")]),
			user("q2"),
		];
		expect([...(await build(records)).branch.walked]).toEqual([1, 0, 1, 1, 1]);
		expect([...(await build(records, { scope: "path" })).branch.walked]).toEqual([1, 1, 1, 1]);
		expect([...(await build(records, { leaf: "#1" })).branch.walked]).toEqual([1, 1, 0, 0]);
	});
});

describe("size", () => {
	it("a long rollout with a rollback after every other turn leaves the event loop free", async () => {
		const records: JsonObject[] = [meta()];
		for (let n = 0; n < 20_000; n++) {
			records.push(...turn(`t${n}`, user(`q${n}`), call(`c${n}`), output(`c${n}`)));
			if (n % 2 === 1) records.push(rollback(1));
		}
		const table = tableOf(codexReader, records);
		let pauses = 0;
		const timer = setInterval(() => pauses++, 1);
		const branch = await codexContext.branch(table, { scope: "context", leaf: null, memory: false });
		clearInterval(timer);
		expect(branch.messages.length).toBe(30_000);
		expect(pauses).toBeGreaterThan(0);
	});

	it("measures of a row come from its parts alone", () => {
		const facts = codexReader.read(compacted([words("user", "x".repeat(1000))], "m"));
		expect(facts && measureParts(facts).chars).toBe(0);
	});

	it("an unfinished turn at the end is read like any other", async () => {
		expect(
			await shownOf([turnStart("a"), user("q"), assistant("r"), turnEnd("a"), turnStart("b"), user("q2")]),
		).toEqual(["user: q", "assistant: r", "user: q2"]);
	});
});
