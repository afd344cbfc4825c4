import { describe, expect, it } from "vitest";
import type { JsonObject } from "#src/session/record.js";
import { answer, at, boundary, call, line, read, reminder, result, summary, user } from "./claude-code/lines.js";

const timed = (lines: readonly JsonObject[]): JsonObject[] =>
	lines.map((record, k) => ({ ...record, timestamp: at(k) }));
const segment = (head: string, anchor: string, tail: string) => ({
	preservedSegment: { headUuid: head, anchorUuid: anchor, tailUuid: tail },
});
const messages = (anchor: string, uuids: string[]) => ({
	preservedMessages: { anchorUuid: anchor, uuids, allUuids: uuids },
});

const BEFORE = [user("u1", null), answer("a1", "u1"), user("u2", "a1"), answer("a2", "u2")];
const AFTER = [summary("s", "b"), user("u3", "s"), answer("a3", "u3")];
const compacted = (extra: JsonObject, after: readonly JsonObject[] = AFTER) => [
	...BEFORE,
	boundary("b", extra),
	...after,
];
const NEW = ["user: u3", "assistant: a3"];
const OLD = ["user: u1", "assistant: a1", "user: u2", "assistant: a2"];

describe("a compaction in the host's context", () => {
	it("starts the history anew with its summary", async () => {
		const { list, found } = await read(compacted({ logicalParentUuid: "a2" }));
		expect(list).toEqual(["summary: s", ...NEW]);
		expect(found).toEqual([]);
	});

	it("starts it anew also where the boundary has a parent or stands in a file without links", async () => {
		const tied = compacted({ parentUuid: "a2" });
		expect((await read(tied)).list).toEqual(["summary: s", ...NEW]);
		const loose = tied.map((record) => ({ ...record, parentUuid: null }));
		expect((await read(loose)).list).toEqual(["summary: s", ...NEW]);
	});

	it.each<[string, JsonObject]>([
		["a list of messages", messages("s", ["u2", "a2"])],
		["the ends of a segment", segment("u2", "s", "a2")],
	])("keeps %s behind the anchor, whatever their parents on disk say", async (_, compactMetadata) => {
		const { list, found, notices } = await read(compacted({ logicalParentUuid: "a2", compactMetadata }));
		expect(list).toEqual(["summary: s", "user: u2", "assistant: a2", ...NEW]);
		expect([found, notices]).toEqual([[], []]);
	});

	it("keeps messages behind the boundary itself, in front of the summary", async () => {
		const lines = compacted({ compactMetadata: segment("u2", "b", "a2") });
		expect((await read(lines)).list).toEqual(["user: u2", "assistant: a2", "summary: s", ...NEW]);
	});

	it("keeps messages when nothing was written behind the summary yet", async () => {
		const lines = compacted({ compactMetadata: messages("s", ["u2", "a2"]) }, [summary("s", "b")]);
		expect((await read(lines)).list).toEqual(["summary: s", "user: u2", "assistant: a2"]);
	});

	it("keeps messages to whose last one the new lines are tied", async () => {
		const after = [summary("s", "b"), user("u3", "a2"), answer("a3", "u3")];
		const lines = compacted({ compactMetadata: messages("s", ["u2", "a2"]) }, after);
		expect((await read(lines)).list).toEqual(["summary: s", "user: u2", "assistant: a2", ...NEW]);
	});

	it.each<[string, JsonObject[]]>([
		["twice", BEFORE],
		["only behind the boundary", BEFORE.slice(0, 3)],
	])("keeps a last message that was written %s, as a child of the summary", async (_, before) => {
		const after = [summary("s", "b"), answer("a2", "s"), user("u3", "a2"), answer("a3", "u3")];
		const compactMetadata = segment("u2", "s", "a2");
		const lines = [...before, boundary("b", { logicalParentUuid: "a2", compactMetadata }), ...after];
		const { list, found } = await read(lines);
		expect(list).toEqual(["summary: s", "user: u2", "assistant: a2", ...NEW]);
		expect(found).toEqual([]);
	});

	it("gives a message to the later of two compactions that kept it", async () => {
		const lines = [
			user("u0", null),
			answer("a0", "u0"),
			boundary("b1", { compactMetadata: segment("a0", "s1", "a0") }),
			summary("s1", "b1"),
			answer("a1", "a0"),
			boundary("b2", { compactMetadata: messages("s2", ["a0", "a1"]) }),
			summary("s2", "b2"),
		];
		expect((await read(lines)).list).toEqual(["summary: s2", "assistant: a0", "assistant: a1"]);
	});

	it("keeps the parallel lines of a kept answer with it", async () => {
		const lines = [
			user("u1", null),
			call("a1", "u1", "c1", { id: "m" }),
			call("a2", "a1", "c2", { id: "m" }),
			result("r1", "a1", "c1"),
			result("r2", "a2", "c2"),
			boundary("b", { compactMetadata: messages("s", ["a1", "a2", "r2"]) }),
			...AFTER,
		];
		expect((await read(lines)).list).toEqual([
			"summary: s",
			"assistant: a1 a2",
			"tool_result: r1",
			"tool_result: r2",
			...NEW,
		]);
	});

	it("says so where the kept messages cannot be found, and leaves them where they are", async () => {
		const lines = compacted({ compactMetadata: segment("gone", "s", "a2") });
		const { list, notices } = await read(lines);
		expect(list).toEqual(["summary: s", ...NEW]);
		expect(notices).toEqual([
			"A compaction names kept messages that are not in the file as it says: they were left where they are.",
		]);
	});

	it("changes nothing for a leaf that stands before it", async () => {
		const lines = compacted({ compactMetadata: messages("s", ["u2", "a2"]) });
		expect((await read(lines, { leaf: "a2" })).list).toEqual(OLD);
	});

	it("hangs attachments on the summary", async () => {
		const lines = compacted({}, [summary("s", "b"), reminder("t", "s"), user("u3", "t"), answer("a3", "u3")]);
		expect((await read(lines)).list).toEqual(["summary: s t", ...NEW]);
	});
});

describe("path scope across a compaction", () => {
	const path = (lines: readonly JsonObject[]) => read(lines, { scope: "path" });

	it("goes on at the logical parent and leaves the summary and its attachments out", async () => {
		const after = [summary("s", "b"), reminder("t", "s"), user("u3", "t"), answer("a3", "u3")];
		const { list, found } = await path(compacted({ logicalParentUuid: "a2" }, after));
		expect(list).toEqual([...OLD, ...NEW]);
		expect(found).toEqual([]);
	});

	it("goes over several compactions", async () => {
		const lines = [
			...compacted({ logicalParentUuid: "a2" }),
			boundary("b2", { logicalParentUuid: "a3" }),
			summary("s2", "b2"),
			user("u4", "s2"),
		];
		expect((await path(lines)).list).toEqual([...OLD, ...NEW, "user: u4"]);
	});

	it("follows the branch that was compacted, not the file", async () => {
		const lines = [...BEFORE, user("dead", "a1"), boundary("b", { logicalParentUuid: "a2" }), ...AFTER];
		expect((await path(lines)).list).toEqual([...OLD, ...NEW]);
	});

	it.each<[string, JsonObject, string[]]>([
		["a list", messages("s", ["u2", "a2"]), NEW],
		["a segment", segment("u2", "s", "a2"), NEW],
	])("leaves messages kept by %s once, in their old place", async (_, compactMetadata, rest) => {
		const { list, found } = await path(compacted({ logicalParentUuid: "a2", compactMetadata }));
		expect(list).toEqual([...OLD, ...rest]);
		expect(found).toEqual([]);
	});

	it.each<[string, JsonObject[]]>([
		["twice", BEFORE],
		["only behind the boundary", BEFORE.slice(0, 3)],
	])(
		"has a kept message once that was written %s, and its being the logical parent is no damage",
		async (_, before) => {
			const after = [summary("s", "b"), answer("a2", "s"), user("u3", "a2"), answer("a3", "u3")];
			const compactMetadata = { ...segment("u2", "s", "a2"), ...messages("s", ["u2", "a2"]) };
			const { list, found } = await path([
				...before,
				boundary("b", { logicalParentUuid: "a2", compactMetadata }),
				...after,
			]);
			expect(list).toEqual([...OLD, ...NEW]);
			expect(found).toEqual([]);
		},
	);

	it("claude-code#40027: goes on at the last message before a boundary whose logical parent names nothing", async () => {
		const lines = compacted({ logicalParentUuid: "deleted" });
		const { list, found } = await path(lines);
		expect(list).toEqual([...OLD, ...NEW]);
		expect(found).toEqual(["missing_parent b*"]);
		expect((await read(lines)).found).toEqual(["missing_parent b"]);
	});

	it.each<[string, string]>([
		["a line behind it", "u3"],
		["itself", "b"],
	])("goes on at the last message before a boundary whose logical parent is %s", async (_, logicalParentUuid) => {
		const lines = compacted({ logicalParentUuid });
		const { list, found } = await path(lines);
		expect(list).toEqual([...OLD, ...NEW]);
		expect(found).toEqual(["parent_cycle b*"]);
		expect((await read(lines)).found).toEqual(["parent_cycle b"]);
	});

	it("goes on at the last message before a boundary of an older file, which has no logical parent: no damage", async () => {
		const { list, found } = await path(compacted({}));
		expect(list).toEqual([...OLD, ...NEW]);
		expect(found).toEqual([]);
	});

	it("ends at a boundary with nothing before it", async () => {
		const { list, found } = await path([boundary("b", { logicalParentUuid: "elsewhere" }), ...AFTER]);
		expect(list).toEqual(NEW);
		expect(found).toEqual(["missing_parent b*"]);
	});

	it("leaves summaries out of a file without links", async () => {
		const loose = compacted({}).map((record) => ({ ...record, parentUuid: null }));
		expect((await path(loose)).list).toEqual([...OLD, ...NEW]);
	});

	it("joins a broken link before the boundary by time", async () => {
		const lines = timed(compacted({ logicalParentUuid: "a2" })).filter((record) => record.uuid !== "a1");
		const { list, found } = await path(lines);
		expect(list).toEqual(["user: u1", "user: u2", "assistant: a2", ...NEW]);
		expect(found).toEqual(["missing_parent u2*"]);
		expect((await read(lines)).found).toEqual(["missing_parent u2"]);
	});
});

describe("usage and compactions", () => {
	const usage = { input_tokens: 1, output_tokens: 2 };
	const old = [user("u1", null), answer("a1", "u1", "x", { usage })];
	const entryOf = async (lines: readonly JsonObject[], scope: "context" | "path" = "context") => {
		const { usage: recorded, table } = await read(lines, { scope });
		return recorded === null ? null : table.entryOf(recorded.row);
	};

	it("is none until a reply is newer, in either scope", async () => {
		const lines = [...old, boundary("b", { logicalParentUuid: "a1" }), summary("s", "b")];
		expect([await entryOf(lines), await entryOf(lines, "path")]).toEqual([null, null]);
		const later = [...lines, answer("a2", "s", "y", { usage })];
		expect([await entryOf(later), await entryOf(later, "path")]).toEqual(["a2", "a2"]);
	});

	it("is not that of a message which the compaction kept, wherever its line stands", async () => {
		const kept = boundary("b", { compactMetadata: messages("s", ["a1"]) });
		expect(await entryOf([...old, kept, summary("s", "b"), user("u2", "s")])).toBeNull();
		const again = answer("a1", "s", "x", { usage });
		expect(await entryOf([...old, kept, summary("s", "b"), again, line("system", "y", "a1")])).toBeNull();
	});
});
