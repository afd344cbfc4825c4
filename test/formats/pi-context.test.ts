import { describe, expect, it } from "vitest";
import { buildAtoms } from "#src/atoms/build.js";
import type { JsonObject } from "#src/session/record.js";
import {
	assistant,
	call,
	compaction,
	edit,
	entry,
	header,
	lines,
	message,
	result,
	text,
	usage,
	user,
	withoutIds,
} from "./pi/entries.js";
import { brief, view } from "./pi/view.js";

const system = (id: string, content: string) => message(id, null, { role: "system", content });
const contextOf = async (records: JsonObject[], options = {}) => brief((await view(records, options)).list);

describe("the leaf", () => {
	const forked = [header(), user("a", null, "A"), user("b", "a", "B"), user("c", "a", "C"), entry("label", "d", "b")];

	it("is the last entry of the file, of any kind", async () => {
		const { branch, table } = await view(forked);
		expect(table.entryOf(branch.leaf)).toBe("d");
		expect(await contextOf(forked)).toEqual(["user: A", "user: B"]);
	});

	it("is the entry that the caller names", async () => {
		expect(await contextOf(forked, { leaf: "c" })).toEqual(["user: A", "user: C"]);
		expect(await contextOf(forked, { leaf: "a" })).toEqual(["user: A"]);
	});

	it.each(["nope", "#0", "#1", ""])("is refused when it names no entry: %j", async (leaf) => {
		await expect(view(forked, { leaf })).rejects.toMatchObject({ code: "unknown_ref" });
	});

	it("is absent in a session without entries", async () => {
		const { branch, list } = await view([header()]);
		expect(branch.leaf).toBe(-1);
		expect(list).toEqual([]);
		expect(branch.usage).toBeNull();
	});

	it("marks what lies between it and the root as walked", async () => {
		const { branch } = await view(forked, { leaf: "c" });
		expect([...branch.walked]).toEqual([0, 1, 0, 1, 0]);
	});
});

describe("compaction", () => {
	const session = lines(
		system("s1", "prompt"),
		user("a", null, "A"),
		assistant("b", null, [text("B")]),
		system("s2", "patch"),
		user("c", null, "C"),
		compaction("k", "b", { systemMessage: { role: "system", content: "folded", sections: { x: "sec" } } }),
		user("d", null, "D"),
	);

	it("puts its system message and summary in front of what it kept, without the kept system messages", async () => {
		expect(await contextOf(session)).toEqual([
			"system: folded | sec",
			"summary: sum k",
			"assistant: B",
			"user: C",
			"user: D",
		]);
	});

	it("gives both messages the id of its entry", async () => {
		const { list } = await view(session);
		expect(list.slice(0, 2).map((m) => m.entry)).toEqual(["k", "k"]);
	});

	it("is left out of the path, where every message stands as it was", async () => {
		expect(await contextOf(session, { scope: "path" })).toEqual([
			"system: prompt",
			"user: A",
			"assistant: B",
			"system: patch",
			"user: C",
			"user: D",
		]);
	});

	it("keeps nothing when it names itself or nothing known", async () => {
		for (const kept of ["k", "gone"]) {
			expect(await contextOf(lines(user("a", null, "A"), compaction("k", kept), user("d", null, "D")))).toEqual([
				"summary: sum k",
				"user: D",
			]);
		}
	});

	it("counts only when it is the newest; an older one that it kept says nothing", async () => {
		const twice = lines(user("a", null, "A"), compaction("k1", "a"), user("b", null, "B"), compaction("k2", "a"));
		expect(await contextOf(twice)).toEqual(["summary: sum k2", "user: A", "user: B"]);
	});

	it("of another branch does not count", async () => {
		const records = [header(), user("a", null, "A"), { ...compaction("k", "k"), parentId: "a" }, user("b", "a", "B")];
		expect(await contextOf(records)).toEqual(["user: A", "user: B"]);
	});

	it("pi#8667: an entry between a call and its result leaves the pair whole", async () => {
		const records = lines(
			user("a", null, "A"),
			assistant("b", null, [call("1")]),
			compaction("k0", "a"),
			entry("custom", "x", null, { customType: "state" }),
			result("r", null, "1", [text("R")]),
			compaction("k", "b"),
		);
		const { table, branch, list } = await view(records);
		expect(brief(list)).toEqual(["summary: sum k", 'assistant: read | {"path":"f"}', "tool_result: R"]);
		const { atoms } = await buildAtoms(table, branch);
		expect([atoms.kindOf(1), atoms.protocolOf(1), atoms.reasonOf(1), atoms.length]).toEqual([
			"tool_exchange",
			"closed",
			null,
			2,
		]);
	});
});

describe("branch summaries and custom messages", () => {
	it("stand where their entries stand, in both scopes", async () => {
		const records = lines(
			user("a", null, "A"),
			entry("branch_summary", "s", null, { fromId: "x", summary: "over there" }),
			entry("branch_summary", "e", null, { fromId: "x", summary: "" }),
			entry("custom_message", "m", null, { customType: "t", content: [text("note")], display: true }),
			entry("custom", "n", null, { customType: "t", data: 1 }),
		);
		const list = ["user: A", "summary: over there", "custom: note"];
		expect(await contextOf(records)).toEqual(list);
		expect(await contextOf(records, { scope: "path" })).toEqual(list);
	});
});

describe("context edits", () => {
	const base = [
		user("a", null, "A"),
		assistant("b", null, [text("B"), call("1")], { usage: usage(5, 5) }),
		result("r", null, "1", [text("R")]),
		entry("custom_message", "m", null, { customType: "t", content: "M" }),
		message("x", null, { role: "bashExecution", command: "c", output: "o" }),
	];

	it("drop a message", async () => {
		expect(await contextOf(lines(...base, edit("e", "a", null)))).toEqual([
			'assistant: B | read | {"path":"f"}',
			"tool_result: R",
			"custom: M",
			"bash: c | o",
		]);
	});

	it("give a message other content, known by the id of its entry", async () => {
		const records = lines(
			...base,
			edit("e1", "a", { content: "A2" }),
			edit("e2", "b", { content: [text("B2"), call("1", "write")] }),
			edit("e3", "r", { content: "R2" }),
			edit("e4", "m", { content: [text("M2")] }),
			edit("e5", "x", { content: "bash is not edited" }),
		);
		const { list } = await view(records);
		expect(brief(list)).toEqual([
			"user: A2",
			'assistant: B2 | write | {"path":"f"}',
			"tool_result: R2",
			"custom: M2",
			"bash: c | o",
		]);
		expect(list.map((m) => m.entry)).toEqual(["a", "b", "r", "m", "x"]);
	});

	it("take the calls of a reply with its content", async () => {
		const { list } = await view(lines(...base, edit("e", "b", { content: "no call any more" })));
		expect(list[1]).toMatchObject({ texts: ["no call any more"], calls: [] });
	});

	it("leave a result the result of its call", async () => {
		const image = { type: "image", data: "AAAA", mimeType: "image/png" };
		const { table, branch, list } = await view(lines(...base, edit("e", "r", { content: [text("short"), image] })));
		expect(list[2]).toMatchObject({ role: "tool_result", texts: ["short"], answers: ["1"], images: 1 });
		const { atoms } = await buildAtoms(table, branch);
		expect([atoms.kindOf(1), atoms.protocolOf(1), atoms.holds(1, "user"), atoms.holds(1, "tool_result")]).toEqual([
			"tool_exchange",
			"closed",
			false,
			true,
		]);
	});

	it("count once for each target, the last one", async () => {
		const records = lines(user("a", null, "A"), edit("e1", "a", null), edit("e2", "a", { content: "A2" }));
		expect(await contextOf(records)).toEqual(["user: A2"]);
	});

	it("apply on their own branch only, and only when the compaction kept them", async () => {
		const fork = [header(), user("a", null, "A"), { ...edit("e", "a", null), parentId: "a" }, user("b", "a", "B")];
		expect(await contextOf(fork)).toEqual(["user: A", "user: B"]);
		const cut = lines(
			edit("e", "b", { content: "B2" }),
			user("a", null, "A"),
			user("b", null, "B"),
			compaction("k", "a"),
			user("c", null, "C"),
		);
		expect(await contextOf(cut)).toEqual(["summary: sum k", "user: A", "user: B", "user: C"]);
		expect(await contextOf(cut, { scope: "path" })).toEqual(["user: A", "user: B2", "user: C"]);
	});

	it("apply on the path as well", async () => {
		const records = lines(
			user("a", null, "A"),
			user("b", null, "B"),
			edit("e", "a", { content: "A2" }),
			edit("f", "b", null),
		);
		expect(await contextOf(records, { scope: "path" })).toEqual(["user: A2"]);
	});

	it("of a message that is not there change nothing, not even one without an id", async () => {
		const { id: _id, ...nameless } = user("-", "e", "no id");
		const records = [header(), user("a", null, "A"), { ...edit("e", "gone", null), parentId: "a" }, nameless];
		expect(await contextOf(records)).toEqual(["user: A", "user: no id"]);
	});

	it("of a compaction with no content drops it whole", async () => {
		const records = lines(
			user("a", null, "A"),
			compaction("k", "a", { systemMessage: { role: "system", content: "S" } }),
			edit("e", "k", null),
		);
		expect(await contextOf(records)).toEqual(["user: A"]);
	});
});

describe("what is not sent", () => {
	it("stays in the list with a mark", async () => {
		const { list } = await view(
			lines(
				assistant("a", null, [], { stopReason: "error" }),
				assistant("b", null, [text("half")], { stopReason: "aborted" }),
				message("c", null, { role: "bashExecution", command: "c", output: "o", excludeFromContext: true }),
				message("d", null, { role: "artifact", content: "z" }),
				message("e", null, { role: "bashExecution", command: "c", output: "o" }),
			),
		);
		expect(list.map((m) => [m.role, m.sent])).toEqual([
			["assistant", false],
			["assistant", false],
			["bash", false],
			["other", false],
			["bash", true],
		]);
	});
});

describe("older versions", () => {
	it("reads version 1 in file order, with record numbers for ids", async () => {
		const { version: _version, ...v1 } = header();
		const records = withoutIds([
			v1,
			user("-", null, "A"),
			assistant("-", null, [text("B")]),
			user("-", null, "C"),
			{ type: "compaction", timestamp: "2025-12-01T00:00:00Z", summary: "S", firstKeptEntryIndex: 2, tokensBefore: 1 },
			user("-", null, "D"),
		]);
		const { list, branch, table } = await view(records);
		expect(brief(list)).toEqual(["summary: S", "assistant: B", "user: C", "user: D"]);
		expect(list.map((m) => m.entry)).toEqual(["#4", "#2", "#3", "#5"]);
		expect(table.entryOf(branch.leaf)).toBe("#5");
		expect([branch.damage, branch.notices]).toEqual([[], []]);
		expect(await contextOf(records, { leaf: "#3" })).toEqual(["user: A", "assistant: B", "user: C"]);
		expect(await contextOf(records, { scope: "path" })).toEqual(["user: A", "assistant: B", "user: C", "user: D"]);
		await expect(view(records, { leaf: "#0" })).rejects.toMatchObject({ code: "unknown_ref" });
	});

	it("reads version 2 as a tree whose hook messages are custom ones, and knows none of them in version 3", async () => {
		const hook = message("a", null, { role: "hookMessage", customType: "x", content: "H" });
		expect((await view([header({ version: 2 }), hook])).list[0]).toMatchObject({ role: "custom", sent: true });
		expect((await view([header(), hook])).list[0]).toMatchObject({ role: "other", sent: false });
	});

	it("reads a version from the future as it is", async () => {
		const records = [header({ version: 9 }), user("a", null, "A"), entry("new_kind", "b", "a"), user("c", "b", "C")];
		expect(await contextOf(records)).toEqual(["user: A", "user: C"]);
	});
});
