import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildAtoms } from "#src/atoms/build.js";
import { groupAtoms } from "#src/atoms/groups.js";
import { ATOM, SOURCES } from "#src/atoms/table.js";
import { measureParts } from "#src/measure/parts.js";
import { type Branch, MESSAGE, MessageList } from "#src/session/branch.js";
import { emptyFacts, FLAG, type Part, type Role } from "#src/session/record.js";
import { RecordTable } from "#src/session/table.js";

/** A message as these tests write it: role, then what it holds. */
interface Made {
	role: Role;
	parts?: Part[];
	flags?: number;
	marks?: number;
}

const text = (words: string): Part => ({ type: "text", text: words, from: "own" });
const user = (words = "words"): Made => ({ role: "user", parts: [text(words)] });
const call = (id: string | null, name = "read", answer: "result" | "by_name" | "none" = "result"): Part => ({
	type: "tool_call",
	id,
	name,
	arguments: "{}",
	answer,
});
const answer = (id: string | null): Part => ({ type: "tool_result", id, name: null, byName: false });
const assistant = (...parts: Part[]): Made => ({ role: "assistant", parts });
const result = (...ids: (string | null)[]): Made => ({ role: "tool_result", parts: ids.map(answer) });

async function build(made: Made[], adjacency: Branch["adjacency"] = "literal") {
	const table = new RecordTable();
	const messages = new MessageList();
	made.forEach((m, record) => {
		const facts = { ...emptyFacts(1), role: m.role, parts: m.parts ?? [], flags: m.flags ?? 0 };
		const row = table.add(
			facts,
			{ start: record * 10, end: record * 10 + 9, record, line: record + 1, item: 0 },
			measureParts(facts),
		);
		messages.push(m.role, [row], m.marks ?? 0);
	});
	const branch: Branch = {
		messages,
		leaf: made.length - 1,
		walked: new Uint8Array(made.length),
		damage: [],
		notices: [],
		usage: null,
		adjacency,
	};
	const { atoms, messages: ordered, system } = await buildAtoms(table, branch);
	const listed = Array.from({ length: atoms.length }, (_, a) => {
		const from = atoms.messageStart.at(a);
		const to = atoms.messageStart.at(a + 1);
		const entries: string[] = [];
		for (let m = from; m < to; m++) entries.push(table.entryOf(ordered.rowsOf(m)[0]).slice(1));
		return `${atoms.kindOf(a)}/${atoms.protocolOf(a)}/${atoms.reasonOf(a) ?? "-"} ${entries.join(",")}`;
	});
	return { atoms, listed, system, ordered };
}

describe("exchanges", () => {
	it.each<[name: string, made: Made[], expected: string[]]>([
		[
			"a call and its result are one atom (claude-code#14416, #8484)",
			[user(), assistant(call("1")), result("1"), user()],
			["user/none/- 0", "tool_exchange/closed/- 1,2", "user/none/- 3"],
		],
		[
			"a parallel batch is one atom (langchain#38352)",
			[assistant(call("1"), call("2"), call("3")), result("2"), result("1"), result("3")],
			["tool_exchange/closed/- 0,1,2,3"],
		],
		[
			"two of three results and a user message: abandoned, whole (langchain#38352)",
			[assistant(call("1"), call("2"), call("3")), result("1"), result("2"), user()],
			["tool_exchange/abandoned/- 0,1,2", "user/none/- 3"],
		],
		[
			"a call without any result is abandoned",
			[assistant(call("1")), user()],
			["tool_exchange/abandoned/- 0", "user/none/- 1"],
		],
		[
			"a result behind another message is an orphan and its call ambiguous",
			[assistant(call("1")), user(), result("1")],
			["tool_exchange/ambiguous/ambiguous_tool_protocol 0", "user/none/- 1", "orphan_result/orphan/orphan_result 2"],
		],
		[
			"a result without a call is an orphan",
			[user(), result("9")],
			["user/none/- 0", "orphan_result/orphan/orphan_result 1"],
		],
		[
			"an id used by every turn is ambiguous (claude-code#20693, qwen-code#8382)",
			[assistant(call("run:0")), result("run:0"), assistant(call("run:0")), result("run:0")],
			["tool_exchange/ambiguous/ambiguous_tool_protocol 0,1", "tool_exchange/ambiguous/ambiguous_tool_protocol 2,3"],
		],
		[
			"a duplicated call with one result is ambiguous (openclaw#93320)",
			[assistant(call("1"), call("1")), result("1")],
			["tool_exchange/ambiguous/ambiguous_tool_protocol 0,1"],
		],
		[
			"a call answered twice is ambiguous",
			[assistant(call("1")), result("1"), result("1")],
			["tool_exchange/ambiguous/ambiguous_tool_protocol 0,1", "orphan_result/orphan/orphan_result 2"],
		],
		[
			"a call without an id is ambiguous",
			[assistant(call(null)), result(null)],
			["tool_exchange/ambiguous/ambiguous_tool_protocol 0", "orphan_result/orphan/orphan_result 1"],
		],
		[
			"a foreign result ends the exchange",
			[assistant(call("1"), call("2")), result("1"), result("x"), result("2")],
			[
				"tool_exchange/ambiguous/ambiguous_tool_protocol 0,1",
				"orphan_result/orphan/orphan_result 2",
				"orphan_result/orphan/orphan_result 3",
			],
		],
		[
			"system messages are transparent and no atoms",
			[assistant(call("1")), { role: "system", parts: [text("s")] }, result("1")],
			["tool_exchange/closed/- 0,2"],
		],
		[
			"calls that need no answer are closed (claude-code#65098)",
			[assistant(call("srv", "web_search", "none"), answer("srv"), text("found"))],
			["tool_exchange/closed/- 0"],
		],
		[
			"a server result of another message is ambiguous (claude-code#65098)",
			[assistant(answer("srv"), text("found"))],
			["assistant/ambiguous/ambiguous_tool_protocol 0"],
		],
		[
			"calls by name pair with the next result of that name",
			[
				assistant(call(null, "f", "by_name")),
				{ role: "tool_result", parts: [{ type: "tool_result", id: null, name: "f", byName: true }] },
			],
			["tool_exchange/closed/- 0,1"],
		],
		[
			"a result by another name is an orphan",
			[
				assistant(call(null, "f", "by_name")),
				{ role: "tool_result", parts: [{ type: "tool_result", id: null, name: "g", byName: true }] },
			],
			["tool_exchange/abandoned/- 0", "orphan_result/orphan/orphan_result 1"],
		],
		[
			"every kind that the host does not let us replace is protected",
			[
				{ role: "summary", parts: [text("s")] },
				{ role: "custom", parts: [text("c")] },
				{ role: "other", parts: [] },
				{ role: "bash", parts: [] },
			],
			[
				"summary/none/unsupported_kind 0",
				"custom/none/unsupported_kind 1",
				"other/none/unsupported_kind 2",
				"bash/none/- 3",
			],
		],
		[
			"a message without a persistent entry is protected",
			[{ ...user(), marks: MESSAGE.MISSING_ENTRY }],
			["user/none/missing_entry 0"],
		],
		[
			"a message that is nothing but a block text is a block",
			[
				user("[midcompact block c0001: topic]\nsummary"),
				user("[midcompact block c12]\nx"),
				user("see [midcompact block c0001]"),
			],
			["block/none/committed_block 0", "user/none/- 1", "user/none/- 2"],
		],
	])("%s", async (_name, made, expected) => {
		expect((await build(made)).listed).toEqual(expected);
	});

	it.each<[name: string, made: Made[], expected: string[]]>([
		[
			"results of one turn come first, words after",
			[assistant(call("1")), user(), result("1"), user()],
			["tool_exchange/closed/- 0,2", "user/none/- 1", "user/none/- 3"],
		],
		[
			"a result behind another assistant message stays an orphan",
			[assistant(call("1")), assistant(text("x")), result("1")],
			[
				"tool_exchange/ambiguous/ambiguous_tool_protocol 0",
				"assistant/none/- 1",
				"orphan_result/orphan/orphan_result 2",
			],
		],
		[
			"a foreign result in a record of its own is an orphan after the exchange",
			[assistant(call("1"), call("2")), result("x"), result("1"), result("2")],
			["tool_exchange/closed/- 0,2,3", "orphan_result/orphan/orphan_result 1"],
		],
		[
			"a record that answers two exchanges makes both ambiguous",
			[assistant(call("1")), assistant(call("2")), result("1", "2")],
			["tool_exchange/ambiguous/ambiguous_tool_protocol 0", "tool_exchange/ambiguous/ambiguous_tool_protocol 1,2"],
		],
	])("in turns: %s", async (_name, made, expected) => {
		expect((await build(made, "turn")).listed).toEqual(expected);
	});

	it("marks an exchange that holds the user's own words, and lets it match the user as source", async () => {
		const { atoms } = await build(
			[assistant(call("1")), { role: "tool_result", parts: [answer("1"), text("and please stop")] }],
			"turn",
		);
		expect(atoms.has(0, ATOM.USER_TEXT)).toBe(true);
		expect(SOURCES.filter((s) => atoms.holds(0, s))).toEqual(["user", "tool_call", "tool_result"]);
		expect(atoms.has(0, ATOM.LEADS)).toBe(false);
	});

	it("takes an unsent call with a result for sent, and one without for unsent", async () => {
		const unsent = { ...assistant(call("1")), marks: MESSAGE.UNSENT };
		expect((await build([unsent, result("1")])).atoms.has(0, ATOM.SENT)).toBe(true);
		expect((await build([unsent])).atoms.has(0, ATOM.SENT)).toBe(false);
	});
});

describe("groups", () => {
	it("are led by typed words and summaries, not by what the host wrote", async () => {
		const host = { ...user("<task-notification>"), flags: FLAG.HOST };
		const summary: Made = { role: "summary", parts: [text("so far")] };
		const { atoms } = await build([
			assistant(text("hi")),
			user(),
			host,
			assistant(text("a")),
			summary,
			assistant(text("b")),
			user(" "),
			user(),
		]);
		expect(groupAtoms(atoms).parts.map((p) => [p.label, p.lead, p.from, p.to])).toEqual([
			["g0001", "prefix", 0, 1],
			["g0002", "user", 1, 4],
			["g0003", "summary", 4, 7],
			["g0004", "user", 7, 8],
		]);
	});

	it("are listed in parts of at most 50 atoms, and counted as groups", async () => {
		const { atoms } = await build([user(), ...Array.from({ length: 120 }, () => assistant(text("x")))]);
		const groups = groupAtoms(atoms);
		expect(groups.count).toBe(1);
		expect(groups.parts.map((p) => [p.label, p.from, p.to, p.part?.of])).toEqual([
			["g0001.1", 0, 50, 3],
			["g0001.2", 50, 100, 3],
			["g0001.3", 100, 121, 3],
		]);
	});
});

describe("any list of messages", () => {
	const id = fc.constantFrom("1", "2", "3", null);
	const message = fc.oneof(
		fc.constant<Made>(user()),
		fc.constant<Made>(assistant(text("x"))),
		fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => assistant(...ids.map((i) => call(i)))),
		fc.array(id, { minLength: 1, maxLength: 2 }).map((ids) => result(...ids)),
		fc.constant<Made>({ role: "system", parts: [text("s")] }),
	);

	it.each(["literal", "turn"] as const)("keeps every message in exactly one atom (%s)", async (adjacency) => {
		await fc.assert(
			fc.asyncProperty(fc.array(message, { maxLength: 30 }), async (made) => {
				const { ordered, atoms, system } = await build(made, adjacency);
				const rows = Array.from(ordered.rows.view());
				expect(new Set(rows).size).toBe(rows.length);
				expect(rows.length + system.messages).toBe(made.length);
				expect(atoms.messageStart.at(atoms.length)).toBe(ordered.length);
			}),
		);
	});

	it.each(["literal", "turn"] as const)(
		"never calls an exchange closed that lacks a result (%s)",
		async (adjacency) => {
			await fc.assert(
				fc.asyncProperty(fc.array(message, { maxLength: 30 }), async (made) => {
					const { atoms, ordered } = await build(made, adjacency);
					for (let a = 0; a < atoms.length; a++) {
						if (atoms.protocolOf(a) !== "closed") continue;
						const parts = [];
						for (let m = atoms.messageStart.at(a); m < atoms.messageStart.at(a + 1); m++)
							parts.push(...(made[ordered.rowsOf(m)[0]].parts ?? []));
						const calls = parts.flatMap((p) => (p.type === "tool_call" ? [p.id] : []));
						const results = parts.flatMap((p) => (p.type === "tool_result" ? [p.id] : []));
						expect([...results].sort()).toEqual([...calls].sort());
					}
				}),
			);
		},
	);
});
