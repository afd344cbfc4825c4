import { describe, expect, it } from "vitest";
import { MESSAGE } from "#src/session/branch.js";
import { piContext } from "#src/session/formats/pi/context.js";
import { piReader } from "#src/session/formats/pi/read.js";
import type { JsonObject } from "#src/session/record.js";
import { tableOf } from "../helpers/table.js";
import {
	assistant,
	call,
	compaction,
	edit,
	entry,
	header,
	lines,
	text,
	usage,
	user,
	withoutIds,
} from "./pi/entries.js";
import { brief, damage, view } from "./pi/view.js";

const contextOf = async (records: JsonObject[], options = {}) => brief((await view(records, options)).list);

describe("damage", () => {
	it("claude-code#58554: a missing parent ends the path and is named", async () => {
		const seen = await view([header(), user("a", null, "A"), user("c", "b", "C"), user("d", "c", "D")]);
		expect(brief(seen.list)).toEqual(["user: C", "user: D"]);
		expect(damage(seen)).toEqual(["missing_parent c *"]);
	});

	it("qwen-code#6501: a cycle of parents ends and is named", async () => {
		const seen = await view([
			header(),
			user("a", "c", "A"),
			user("b", "a", "B"),
			user("c", "b", "C"),
			user("d", "b", "D"),
		]);
		expect(brief(seen.list)).toEqual(["user: C", "user: A", "user: B", "user: D"]);
		expect(damage(seen)).toEqual(["parent_cycle a *"]);
		const self = await view([header(), user("a", "a", "A")]);
		expect([brief(self.list), damage(self)]).toEqual([["user: A"], ["parent_cycle a *"]]);
	});

	it("names several roots, on the anchor or not", async () => {
		const records = [header(), user("a", null, "A"), user("b", "a", "B"), user("c", null, "C"), user("d", "c", "D")];
		expect(damage(await view(records))).toEqual(["several_roots c *"]);
		expect(damage(await view(records, { leaf: "b" }))).toEqual(["several_roots c"]);
		expect(await contextOf(records)).toEqual(["user: C", "user: D"]);
	});

	it("takes the last of several entries with one id", async () => {
		const seen = await view([header(), user("a", null, "A"), user("a", null, "A again"), user("b", "a", "B")]);
		expect(brief(seen.list)).toEqual(["user: A again", "user: B"]);
		expect(damage(seen)).toEqual(["duplicate_id a *", "several_roots a *"]);
	});

	it("names entries without an id", async () => {
		const { id: _id, ...nameless } = user("-", "a", "no id");
		const seen = await view([header(), user("a", null, "A"), nameless, user("b", "a", "B")]);
		expect(brief(seen.list)).toEqual(["user: A", "user: B"]);
		expect(damage(seen)).toEqual(["missing_id #2"]);
		expect(await contextOf([header(), user("a", null, "A"), nameless])).toEqual(["user: A", "user: no id"]);
	});

	it("says so when it reads a tree without ids in file order, or a file without header", async () => {
		const loose = await view(withoutIds([header(), user("-", null, "A"), user("-", null, "B")]));
		expect(brief(loose.list)).toEqual(["user: A", "user: B"]);
		expect(loose.branch.notices).toHaveLength(1);
		const headless = await view([user("a", null, "A"), user("b", "a", "B")]);
		expect(brief(headless.list)).toEqual(["user: A", "user: B"]);
		expect(headless.branch.notices).toHaveLength(1);
	});
});

describe("recorded usage", () => {
	const reply = (id: string, tokens: number, fields: JsonObject = {}) =>
		assistant(id, null, [text(id)], { usage: usage(tokens, 1, 2, 3), ...fields });
	const recorded = async (...records: JsonObject[]) => {
		const { branch, table } = await view(lines(...records));
		return branch.usage && [table.entryOf(branch.usage.row), branch.usage.usage.input];
	};

	it("is that of the last valid reply", async () => {
		const failed = reply("c", 9, { stopReason: "error" });
		const zero = assistant("d", null, [], { usage: usage(0, 0) });
		expect(await recorded(reply("a", 5), reply("b", 7), user("u", null, "U"), failed, zero)).toEqual(["b", 7]);
	});

	it("is none when a compaction or an edit is newer, in either scope", async () => {
		for (const newer of [compaction("k", "a"), edit("e", "a", { content: "x" })]) {
			expect(await recorded(reply("a", 5), newer, user("u", null, "U"))).toBeNull();
			expect(await recorded(reply("a", 5), newer, reply("b", 7))).toEqual(["b", 7]);
			expect((await view(lines(reply("a", 5), newer), { scope: "path" })).branch.usage).toBeNull();
		}
	});

	it("is none without a reply, and never the cost of a summary", async () => {
		expect(await recorded(user("a", null, "A"))).toBeNull();
		expect(await recorded(entry("branch_summary", "b", null, { summary: "s", usage: usage(9, 9) }))).toBeNull();
	});
});

describe("a list in memory", () => {
	const bare: JsonObject[] = [
		{ role: "user", content: "A", timestamp: 1 },
		{ role: "assistant", content: [call("1")], stopReason: "toolUse", timestamp: 2, usage: usage(3, 4) },
		{ role: "toolResult", toolCallId: "1", toolName: "read", content: [text("R")], timestamp: 3 },
	];

	it("may be messages without entries: no id stands behind them", async () => {
		const { list, branch } = await view(bare, { memory: true });
		expect(brief(list)).toEqual(["user: A", 'assistant: read | {"path":"f"}', "tool_result: R"]);
		expect([0, 1, 2].map((m) => branch.messages.marks.at(m))).toEqual(Array(3).fill(MESSAGE.MISSING_ENTRY));
		expect([branch.damage, branch.notices]).toEqual([[], []]);
		expect(branch.usage?.usage).toMatchObject({ input: 3, output: 4 });
	});

	it("may be entries, with or without a header", async () => {
		const entries = lines(user("a", null, "A"), user("b", null, "B"), compaction("k", "b"));
		for (const records of [entries, entries.slice(1)]) {
			const { list, branch } = await view(records, { memory: true });
			expect(brief(list)).toEqual(["summary: sum k", "user: B"]);
			expect(branch.messages.marks.at(0)).toBe(0);
			expect(branch.notices).toEqual([]);
		}
	});

	it("may be both, in the order given", async () => {
		const { list, branch } = await view([...lines(user("a", null, "A")), bare[0]], { memory: true });
		expect(brief(list)).toEqual(["user: A", "user: A"]);
		expect([0, 1].map((m) => branch.messages.marks.at(m))).toEqual([0, MESSAGE.MISSING_ENTRY]);
	});

	it("has a compaction summary in front that may be newer than the replies it kept", async () => {
		const summary = (timestamp: number): JsonObject => ({ role: "compactionSummary", summary: "S", timestamp });
		expect((await view([summary(9), ...bare], { memory: true })).branch.usage).toBeNull();
		expect((await view([summary(0), ...bare], { memory: true })).branch.usage).not.toBeNull();
		expect(await contextOf([summary(9), ...bare], { memory: true, scope: "path" })).not.toContain("summary: S");
	});
});

describe("a long session", () => {
	it("never keeps the event loop for the whole of its walk", async () => {
		const records = [header()];
		for (let i = 0; i < 150_000; i++) records.push(user(`e${i}`, i === 0 ? null : `e${i - 1}`, "x"));
		records.push({ ...compaction("k", "e10"), parentId: "e149999" });
		const table = tableOf(piReader, records);
		const turns = [performance.now()];
		const timer = setInterval(() => turns.push(performance.now()), 1);
		const branch = await piContext.branch(table, { scope: "context", leaf: null, memory: false });
		clearInterval(timer);
		turns.push(performance.now());
		expect(branch.messages.length).toBe(1 + 150_000 - 10);
		const longest = Math.max(...turns.slice(1).map((turn, i) => turn - turns[i]));
		expect(longest).toBeLessThan((turns[turns.length - 1] - turns[0]) / 2);
	});
});
