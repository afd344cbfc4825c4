import { describe, expect, it } from "vitest";
import { buildAtoms } from "#src/atoms/build.js";
import { MidcompactError } from "#src/errors.js";
import { MESSAGE } from "#src/session/branch.js";
import type { JsonObject } from "#src/session/record.js";
import { answer, at, call, line, progress, read, reminder, result, user } from "./claude-code/lines.js";

const queued = (uuid: string, parent: string, prompt = uuid) =>
	line("attachment", uuid, parent, { attachment: { type: "queued_command", prompt } });
const snapshot = (uuid: string, parent: string | null, text: string) =>
	line("attachment", uuid, parent, { attachment: { type: "prompt_snapshot", systemPrompt: [text] } });
const timed = (record: JsonObject, minute: number): JsonObject => ({ ...record, timestamp: at(minute) });
const unsent = (uuid: string, parent: string) => answer(uuid, parent, "API Error", { isApiErrorMessage: true });

describe("leaf and walk", () => {
	it.each<[string, JsonObject[], string[]]>([
		[
			"follows parents to the root",
			[user("u1", null), answer("a1", "u1"), user("u2", "a1")],
			["user: u1", "assistant: a1", "user: u2"],
		],
		[
			"takes the last line in the file that no line points to, not the newest one",
			[
				timed(user("u1", null), 1),
				timed(answer("a1", "u1"), 9),
				timed(user("u2", "a1"), 10),
				timed(answer("a2", "u1"), 2),
			],
			["user: u1", "assistant: a2"],
		],
		[
			"ignores a dead branch in the middle",
			[user("u1", null), answer("a1", "u1"), user("dead", "a1"), user("u2", "a1"), answer("a2", "u2")],
			["user: u1", "assistant: a1", "user: u2", "assistant: a2"],
		],
		[
			"ends at a progress or system line and walks through them",
			[
				progress("p0", null),
				user("u1", "p0"),
				progress("p1", "u1"),
				answer("a1", "p1"),
				line("system", "s1", "a1", { subtype: "turn_duration" }),
			],
			["user: u1", "assistant: a1"],
		],
		[
			"goes in the walk's order where the file is reversed",
			[user("u2", "a1"), answer("a1", "u1"), user("u1", null)].map((record, k) => timed(record, 9 - k)),
			["user: u1", "assistant: a1", "user: u2"],
		],
		[
			"starts anew at a null parent in the middle",
			[user("u1", null), answer("a1", "u1"), user("u2", null), answer("a2", "u2")],
			["user: u2", "assistant: a2"],
		],
		[
			"drops a user line without a message",
			[user("u1", null), line("user", "x", "u1"), answer("a1", "x")],
			["user: u1", "assistant: a1"],
		],
	])("%s", async (_, lines, list) => {
		expect((await read(lines)).list).toEqual(list);
	});

	const talk = [user("u1", null), progress("p1", "u1"), answer("a1", "p1"), user("u2", "a1"), answer("a2", "u2")];

	it("ends at the line that the caller names, of whatever kind", async () => {
		expect((await read(talk, { leaf: "a1" })).list).toEqual(["user: u1", "assistant: a1"]);
		const { list, leaf, table } = await read(talk, { leaf: "p1" });
		expect(list).toEqual(["user: u1"]);
		expect(table.entryOf(leaf)).toBe("p1");
	});

	it("takes #n for a line that has no uuid, and for no other", async () => {
		const { uuid: _, ...bare } = user("x", "a1");
		expect((await read([...talk, bare], { leaf: "#5" })).list.at(-1)).toBe("user: #5");
		await expect(read(talk, { leaf: "#2" })).rejects.toThrow(MidcompactError);
	});

	it("refuses a leaf that names no line", async () => {
		await expect(read(talk, { leaf: "nothing" })).rejects.toMatchObject({ code: "unknown_ref" });
	});

	it("has no messages without lines", async () => {
		expect(await read([])).toMatchObject({ leaf: -1, list: [], damage: [], notices: [], usage: null });
	});

	it("judges adjacency by turns", async () => {
		expect((await read(talk)).adjacency).toBe("turn");
	});
});

describe("one answer over many lines", () => {
	it("is one message at the place of its first line, whatever stands between", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1", { id: "m" }),
			result("r1", "a1", "c1"),
			call("a2", "r1", "c2", { id: "m" }),
			result("r2", "a2", "c2"),
		];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1 a2", "tool_result: r1", "tool_result: r2"]);
	});

	it("claude-code#37779, claude-code#31330: keeps parallel calls and results that a walk over parents loses", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1", { id: "m" }),
			call("a2", "a1", "c2", { id: "m" }),
			call("a3", "a2", "c3", { id: "m" }),
			result("r1", "a1", "c1"),
			result("r2", "a2", "c2"),
			result("r3", "a3", "c3"),
			answer("a4", "r3"),
		];
		const { list, table, ...branch } = await read(lines);
		expect(list).toEqual([
			"user: u1",
			"assistant: a1 a2 a3",
			"tool_result: r1",
			"tool_result: r2",
			"tool_result: r3",
			"assistant: a4",
		]);
		const { atoms } = await buildAtoms(table, branch);
		expect([atoms.length, atoms.kindOf(1), atoms.protocolOf(1)]).toEqual([3, "tool_exchange", "closed"]);
	});

	it("adds assistant lines beside the walk", async () => {
		const lines = [
			user("u1", null),
			answer("a1", "u1", "x", { id: "m" }),
			answer("b1", "u1", "y", { id: "m" }),
			user("u2", "b1"),
		];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1 b1", "user: u2"]);
	});

	it("adds no second result where the walk has one", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1"),
			result("dead", "a1", "c1"),
			result("r1", "a1", "c1"),
			answer("a2", "r1"),
		];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1", "tool_result: r1", "assistant: a2"]);
	});

	it("adds both of two results of a call that has none on the walk: ambiguous", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1", { id: "m" }),
			result("x", "a1", "c1"),
			result("y", "a1", "c1"),
			call("a2", "a1", "c2", { id: "m" }),
			result("r2", "a2", "c2"),
		];
		const { list, table, ...branch } = await read(lines);
		expect(list).toEqual(["user: u1", "assistant: a1 a2", "tool_result: x", "tool_result: y", "tool_result: r2"]);
		const { atoms } = await buildAtoms(table, branch);
		expect(atoms.protocolOf(1)).toBe("ambiguous");
	});

	it("claude-code#20693: a call id used again in a later turn is ambiguous and pulls in nothing", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "run:0"),
			result("r1", "a1", "run:0"),
			call("a2", "r1", "run:0"),
			result("r2", "a2", "run:0"),
			result("dead", "a2", "run:0"),
			answer("a3", "r2"),
		];
		const { list, table, ...branch } = await read(lines);
		expect(list).not.toContain("tool_result: dead");
		const { atoms } = await buildAtoms(table, branch);
		expect([atoms.reasonOf(1), atoms.reasonOf(2)]).toEqual(["ambiguous_tool_protocol", "ambiguous_tool_protocol"]);
	});

	it("langchain#38352: two of three results and a user message leave one abandoned atom", async () => {
		const calls = ["c1", "c2", "c3"].map((id) => ({ type: "tool_use", id, name: "n", input: {} }));
		const lines = [
			user("u1", null),
			answer("a1", "u1", calls),
			result("r1", "a1", "c1"),
			result("r2", "r1", "c2"),
			user("u2", "r2"),
			answer("a2", "u2"),
		];
		const { table, ...branch } = await read(lines);
		const { atoms } = await buildAtoms(table, branch);
		expect([atoms.length, atoms.kindOf(1), atoms.protocolOf(1)]).toEqual([4, "tool_exchange", "abandoned"]);
	});

	it("finds a result adjacent although the user's words stand before it", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1"),
			queued("q1", "a1"),
			result("r1", "q1", "c1"),
			answer("a2", "r1"),
		];
		const { table, ...branch } = await read(lines);
		const { atoms } = await buildAtoms(table, branch);
		expect(Array.from({ length: atoms.length }, (_, a) => atoms.kindOf(a))).toEqual([
			"user",
			"tool_exchange",
			"user",
			"assistant",
		]);
		expect(atoms.protocolOf(1)).toBe("closed");
	});
});

describe("what hangs on a message", () => {
	it("belongs to the message it follows, and before the first one to that", async () => {
		const lines = [
			reminder("t0", null),
			user("u1", "t0"),
			reminder("t1", "u1"),
			call("a1", "t1", "c1"),
			reminder("t2", "a1"),
			result("r1", "t2", "c1"),
			reminder("t3", "r1"),
			answer("a2", "t3"),
		];
		const { list, messages, table } = await read(lines);
		expect(list).toEqual(["user: t0 u1 t1", "assistant: a1 t2", "tool_result: r1 t3", "assistant: a2"]);
		expect([...messages.rowsOf(0)].map((row) => table.entryOf(row))).toEqual(["t0", "u1", "t1"]);
	});

	it("stays with the answer whose last line it follows", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1", { id: "m" }),
			result("r1", "a1", "c1"),
			call("a2", "r1", "c2", { id: "m" }),
			reminder("t", "a2"),
			result("r2", "t", "c2"),
		];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1 a2 t", "tool_result: r1", "tool_result: r2"]);
	});

	it("is sent although an API error stands before it", async () => {
		const lines = [user("u1", null), unsent("e1", "u1"), reminder("t", "e1"), user("u2", "t")];
		expect((await read(lines)).list).toEqual(["user: u1 t", "!assistant: e1", "user: u2"]);
	});

	it("never protects, and an exchange stays one atom", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1"),
			result("r1", "a1", "c1"),
			reminder("t", "r1"),
			answer("a2", "t"),
		];
		const { table, ...branch } = await read(lines);
		const { atoms } = await buildAtoms(table, branch);
		expect([atoms.length, atoms.reasonOf(1), atoms.protocolOf(1)]).toEqual([3, null, "closed"]);
	});

	it("a queued command is a message of its own", async () => {
		const lines = [user("u1", null), answer("a1", "u1"), queued("q1", "a1"), answer("a2", "q1")];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1", "user: q1", "assistant: a2"]);
	});

	it("the last prompt snapshot of the file is the system message", async () => {
		const lines = [snapshot("s1", null, "old"), user("u1", "s1"), answer("a1", "u1"), snapshot("s2", "a1", "new")];
		expect((await read(lines)).list).toEqual(["system: s2", "user: u1", "assistant: a1"]);
	});
});

describe("sidechains", () => {
	const side = (record: JsonObject): JsonObject => ({ ...record, isSidechain: true });

	it("are left out, and their roots are no damage", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1"),
			side(user("x1", null)),
			side(answer("x2", "x1")),
			result("r1", "a1", "c1"),
			side(answer("x3", "x2")),
		];
		const { list, found } = await read(lines);
		expect(list).toEqual(["user: u1", "assistant: a1", "tool_result: r1"]);
		expect(found).toEqual([]);
	});

	it("do not lend lines to an answer of the conversation", async () => {
		const lines = [
			user("u1", null),
			answer("a1", "u1", "x", { id: "m" }),
			side(answer("x1", "u1", "y", { id: "m" })),
			user("u2", "a1"),
		];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1", "user: u2"]);
	});

	it("are walked through where a parent link leads into one", async () => {
		const lines = [user("u1", null), side(answer("x1", "u1")), user("u2", "x1")];
		const { list, found } = await read(lines);
		expect(list).toEqual(["user: u1", "user: u2"]);
		expect(found).toEqual([]);
	});

	it("are a session of their own when the file has nothing else", async () => {
		const { list, notices } = await read([side(user("x1", null)), side(progress("p", "x1")), side(answer("x2", "p"))]);
		expect(list).toEqual(["user: x1", "assistant: x2"]);
		expect(notices).toEqual(["All messages of this file are a sub-agent's: it was read as a session of its own."]);
	});

	it("can be named as the leaf", async () => {
		const lines = [user("u1", null), side(user("x1", null)), side(answer("x2", "x1")), answer("a1", "u1")];
		expect((await read(lines, { leaf: "x2" })).list).toEqual(["user: x1", "assistant: x2"]);
	});
});

describe("files without parent links", () => {
	it("are read in file order, with a notice in place of several roots", async () => {
		const { list, found, notices } = await read([user("u1", null), answer("a1", null), user("u2", null)]);
		expect(list).toEqual(["user: u1", "assistant: a1", "user: u2"]);
		expect(found).toEqual([]);
		expect(notices).toEqual(["No parent link names a line of this file: its lines were read in file order."]);
	});

	it("say which parents are missing when they name some", async () => {
		const { list, found } = await read([user("u1", "x"), answer("a1", "y")]);
		expect(list).toEqual(["user: u1", "assistant: a1"]);
		expect(found).toEqual(["missing_parent u1*", "missing_parent a1*"]);
	});

	it("end at the leaf that the caller names", async () => {
		const lines = [user("u1", null), answer("a1", null), user("u2", null)];
		expect((await read(lines, { leaf: "a1" })).list).toEqual(["user: u1", "assistant: a1"]);
	});

	it("need no notice with one message", async () => {
		const { list, notices } = await read([user("u1", null)]);
		expect(list).toEqual(["user: u1"]);
		expect(notices).toEqual([]);
	});

	it("may be a list in memory: messages without uuid have no persistent entry, and that is no damage", async () => {
		const lines = [user("u", null), answer("a", null)].map(({ uuid: _, ...bare }) => bare);
		const { messages, found } = await read(lines, { memory: true });
		expect([messages.marks.at(0), messages.marks.at(1)]).toEqual([MESSAGE.MISSING_ENTRY, MESSAGE.MISSING_ENTRY]);
		expect(found).toEqual([]);
	});
});

describe("not sent", () => {
	it("an API error is a message that is marked so", async () => {
		const lines = [user("u1", null), unsent("e1", "u1"), answer("a1", "e1")];
		expect((await read(lines)).list).toEqual(["user: u1", "!assistant: e1", "assistant: a1"]);
	});
});

describe("records of unknown effect", () => {
	it("are not applied, and a notice says so", async () => {
		const lines = [
			user("u1", null),
			{ type: "content-replacement", sessionId: "s", replacements: [] },
			{ type: "content-replacement", sessionId: "s", replacements: [] },
			{ type: "marble-origami-commit", sessionId: "s" },
			answer("a1", "u1"),
		];
		const { list, notices } = await read(lines);
		expect(list).toEqual(["user: u1", "assistant: a1"]);
		expect(notices).toEqual([
			"2 content-replacement records not applied: their effect on the context is not known.",
			"1 context collapse record not applied: their effect on the context is not known.",
		]);
	});
});

describe("recorded usage", () => {
	const counts = (input: number, output: number) => ({
		usage: {
			input_tokens: input,
			cache_read_input_tokens: 100,
			cache_creation_input_tokens: 10,
			output_tokens: output,
		},
	});

	it("ccusage#797: takes one answer over many lines once, the largest of each number", async () => {
		const lines = [
			user("u1", null),
			answer("a1", "u1", "x", { id: "m", ...counts(5, 1) }),
			answer("a2", "a1", "y", { id: "m", ...counts(5, 40) }),
			answer("a3", "a2", "z", { id: "m", ...counts(4, 40) }),
			answer("a4", "a3", "z", { id: "m" }),
		];
		const { usage, table } = await read(lines);
		expect(usage?.usage).toEqual({ input: 5, output: 40, cacheRead: 100, cacheWrite: 10, window: null });
		expect(table.entryOf(usage?.row ?? -1)).toBe("a3");
	});

	it("passes over errors, replies that the host made up, and zero rows", async () => {
		const lines = [
			user("u1", null),
			answer("a1", "u1", "x", counts(5, 6)),
			user("u2", "a1"),
			answer("e1", "u2", "error", { isApiErrorMessage: true, ...counts(9, 9) }),
			answer("s1", "e1", "no response", { model: "<synthetic>", ...counts(8, 8) }),
			answer("z1", "s1", "zero", { usage: { input_tokens: 0, output_tokens: 0 } }),
		];
		const { usage, table } = await read(lines);
		expect(table.entryOf(usage?.row ?? -1)).toBe("a1");
	});

	it("is none without a valid reply", async () => {
		expect((await read([user("u1", null), answer("a1", "u1")])).usage).toBeNull();
	});
});

describe("damage", () => {
	const chain = [
		timed(user("u1", null), 1),
		timed(answer("a1", "u1"), 2),
		timed(user("u2", "a1"), 3),
		timed(answer("a2", "u2"), 4),
		timed(user("u3", "a2"), 5),
	];
	const without = (uuid: string) => chain.filter((record) => record.uuid !== uuid);
	const relinked = (uuid: string, parent: string) =>
		chain.map((record) => (record.uuid === uuid ? { ...record, parentUuid: parent } : record));
	const untimed = (lines: readonly JsonObject[]) => lines.map(({ timestamp: _, ...record }) => record);
	const joined =
		"1 broken parent link on the branch: reading went on at the line before it in time, as Claude Code does.";

	it("claude-code#58554: a missing parent hides nothing where a timestamp tells what came before", async () => {
		const { list, found, notices } = await read(without("a1"));
		expect(list).toEqual(["user: u1", "user: u2", "assistant: a2", "user: u3"]);
		expect(found).toEqual(["missing_parent u2*"]);
		expect(notices).toEqual([joined]);
	});

	it("starts at a missing parent where nothing has a timestamp", async () => {
		const { list, found, notices } = await read(untimed(without("a1")));
		expect(list).toEqual(["user: u2", "assistant: a2", "user: u3"]);
		expect(found).toEqual(["missing_parent u2*"]);
		expect(notices).toEqual([
			"The parent of line 2 leads nowhere and no earlier timestamp tells what came before: the history starts there.",
		]);
	});

	it("joins by time, not by place: the nearest earlier line wins", async () => {
		const lines = [
			timed(user("u1", null), 1),
			timed(answer("late", "u1"), 9),
			timed(answer("a1", "u1"), 2),
			timed(user("u2", "gone"), 3),
			timed(answer("a2", "u2"), 4),
		];
		expect((await read(lines)).list).toEqual(["user: u1", "assistant: a1", "user: u2", "assistant: a2"]);
	});

	it("reads a file whose every parent but one is unknown", async () => {
		const lines = [
			timed(user("x1", "o1"), 1),
			timed(user("x2", "o2"), 2),
			timed(user("x3", "o3"), 3),
			timed(answer("x4", "x3"), 4),
		];
		const { list, found } = await read(lines);
		expect(list).toEqual(["user: x1", "user: x2", "user: x3", "assistant: x4"]);
		expect(found).toEqual(["missing_parent x1*", "missing_parent x2*", "missing_parent x3*"]);
	});

	it("claude-code#58554, qwen-code#6501: a cycle of two does not hang, and its lines are read", async () => {
		const { list, found, notices } = await read(relinked("u2", "a2"));
		expect(list).toEqual(["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"]);
		expect(found).toEqual(["parent_cycle u2*"]);
		expect(notices).toEqual([joined]);
	});

	it.each<[string, JsonObject[], string[], string[]]>([
		[
			"a line that is its own parent",
			relinked("u2", "u2"),
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"],
			["parent_cycle u2*"],
		],
		[
			"a cycle at the end of the file",
			relinked("a2", "u3"),
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"],
			["parent_cycle a2*"],
		],
		[
			"a cycle of all lines",
			relinked("u1", "u3"),
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"],
			["parent_cycle u1*"],
		],
		[
			"a cycle beside the branch",
			[...chain.slice(0, 2), line("system", "x", "y"), line("system", "y", "x"), ...chain.slice(2)],
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"],
			["parent_cycle x"],
		],
		[
			"a second root",
			[...chain.slice(0, 2), ...relinked("u2", "").slice(2)],
			["user: u2", "assistant: a2", "user: u3"],
			["several_roots u2*"],
		],
		[
			"a root that was left behind",
			[...chain, user("r", null), answer("b", "r"), timed(user("u4", "u3"), 9)],
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3", "user: u4"],
			["several_roots r"],
		],
		[
			"the same line twice",
			[...chain.slice(0, 3), chain[2], ...chain.slice(3)],
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"],
			["duplicate_id u2*"],
		],
		[
			"two lines of one uuid: the earlier is lost",
			[...chain.slice(0, 2), timed(user("u2", null), 3), ...chain.slice(2)],
			["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"],
			["duplicate_id u2*"],
		],
	])("%s", async (_, lines, list, found) => {
		const branch = await read(lines);
		expect([branch.list, branch.found]).toEqual([list, found]);
	});

	it("joins a line without uuid by time", async () => {
		const lines = chain.map(({ uuid, ...record }) => (uuid === "u2" ? record : { ...record, uuid }));
		const { list, found } = await read(lines);
		expect(list).toEqual(["user: u1", "assistant: a1", "user: #2", "assistant: a2", "user: u3"]);
		expect(found).toEqual(["missing_id #2*", "missing_parent a2*"]);
	});

	it("is the same over the whole file for every leaf", async () => {
		const lines = [...without("a1"), timed(answer("b", "gone"), 9)];
		const all = (await read(lines)).found;
		const first = (await read(lines, { leaf: "u1" })).found;
		expect(all.map((f) => f.replace("*", ""))).toEqual(first.map((f) => f.replace("*", "")));
		expect(first.filter((f) => f.endsWith("*"))).toEqual([]);
	});
});
