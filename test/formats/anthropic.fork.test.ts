import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropicCleaner } from "#src/session/formats/anthropic/clean.js";
import type { JsonObject } from "#src/session/record.js";
import { scratchFolder } from "../helpers/files.js";
import { forkFile, testBlockText } from "../helpers/fork.js";
import { ELEMENT_USAGE, forkSteps, holdForks, layouts, seeArray } from "./array-fork.js";

const scratch = scratchFolder();

/** A stretch of an array: its elements, calls with ids that grow with `n`. */
type Stretch = (n: number) => string[];

const words = fc.string({ maxLength: 20, unit: "grapheme" }).map((text) => `w${text}`);
const message = (role: string, content: unknown, extra = "}"): string =>
	`{"role": "${role}", "content": ${JSON.stringify(content)}${extra}`;
const text = (value: string) => ({ type: "text", text: value });
const use = (id: string) => ({ type: "tool_use", id, name: "read", input: { path: "a", n: 1.5 } });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: [text("out")] });

const stretches: fc.Arbitrary<Stretch> = fc.oneof(
	words.map(
		(said): Stretch =>
			() => [message("user", said, ',"n":1.0}')],
	),
	words.map(
		(said): Stretch =>
			() => [message("user", [text(said), text("more")])],
	),
	words.map(
		(said): Stretch =>
			() => [message("assistant", [text(said)], ELEMENT_USAGE)],
	),
	words.map(
		(said): Stretch =>
			() => [message("assistant", [{ type: "thinking", thinking: said, signature: "c2ln" }, text(said)])],
	),
	words.map(
		(said): Stretch =>
			() => [message("system", said, ',"big":9223372036854775808}')],
	),
	fc.nat(2).map(
		(more): Stretch =>
			(n) => {
				const ids = Array.from({ length: more + 1 }, (_, k) => `t${n}_${k}`);
				return [message("assistant", [text("go"), ...ids.map(use)], ELEMENT_USAGE), message("user", ids.map(result))];
			},
	),
	words.map(
		(said): Stretch =>
			(n) => [
				message("assistant", [use(`u${n}`), use(`v${n}`)]),
				message("user", [result(`u${n}`)]),
				message("user", [result(`v${n}`), text(said)]),
			],
	),
	words.map(
		(said): Stretch =>
			(n) => [
				message("assistant", [use(`late${n}`)]),
				message("user", said),
				message("system", "between"),
				message("user", [result(`late${n}`)]),
			],
	),
	fc.constant<Stretch>((n) => [
		message("assistant", [
			{ type: "server_tool_use", id: `srvtoolu_${n}`, name: "web_search", input: { query: "q" } },
			{ type: "web_search_tool_result", tool_use_id: `srvtoolu_${n}`, content: [] },
			text("found"),
		]),
	]),
	fc.constant<Stretch>((n) => [message("assistant", [use(`open${n}`)])]),
	fc.constant<Stretch>(() => [message("assistant", [use("same")]), message("user", [result("same")])]),
	fc.constant<Stretch>((n) => [message("user", [result(`orphan${n}`)])]),
);

describe("a fork of an Anthropic messages array", () => {
	it("is the array with blocks in it, every other byte as it was, and so is a fork of it", { timeout: 120_000 }, () =>
		fc.assert(
			fc.asyncProperty(
				fc.array(stretches, { minLength: 1, maxLength: 10 }),
				layouts,
				forkSteps,
				async (made, layout, steps) => {
					const elements = made.flatMap((stretch, n) => stretch(n));
					await holdForks("anthropic", elements, layout, steps, scratch.write);
				},
			),
			{ numRuns: 25 },
		),
	);

	it("leaves thinking out that a block would let end its turn", async () => {
		const thinking = { type: "thinking", thinking: "hm", signature: "c2ln" };
		const path = scratch.write(
			"thinking.json",
			JSON.stringify([
				{ role: "user", content: "a" },
				{ role: "assistant", content: [thinking] },
				{ role: "system", content: "s" },
				{ role: "assistant", content: [thinking] },
				{ role: "assistant", content: [text("b")] },
				{ role: "user", content: "c" },
			]),
		);
		const before = await seeArray(path, "anthropic");
		expect([before.atoms.length, before.refused.size]).toEqual([5, 0]);
		const fork = await forkFile(path, [{ from: 3, to: 3, summary: "s" }]);
		expect(fork.dropped).toBe(2);
		expect(JSON.parse(fork.text())).toEqual([
			{ role: "user", content: "a" },
			{ role: "system", content: "s" },
			{ role: "user", content: testBlockText("c0001", { from: 3, to: 3, summary: "s" }) },
			{ role: "user", content: "c" },
		]);
		expect((await seeArray(fork.path, "anthropic")).refused.size).toBe(0);
	});

	it("has nothing in it that the API refuses inside a message (claude-code#41729, #63147, #56064)", async () => {
		const path = scratch.write(
			"refused.json",
			JSON.stringify([
				{ role: "user", content: "a" },
				{ role: "user", content: [text("")] },
				{ role: "assistant", content: [{ type: "thinking", thinking: "", signature: "x" }, text(" \n"), use("a")] },
				{ role: "user", content: [{ ...result("a"), content: [text("")] }, text("half \ud83d")] },
				{ role: "user", content: "b" },
			]),
		);
		const before = await seeArray(path, "anthropic");
		expect([...before.refused.keys()].sort()).toEqual(["empty_text", "hollow_thinking", "lone_surrogate"]);
		const fork = await forkFile(path, [{ from: 3, to: 3, summary: "s" }]);
		expect(fork).toMatchObject({ cleaned: 2, dropped: 1 });
		expect(JSON.parse(fork.text())).toEqual([
			{ role: "user", content: "a" },
			{ role: "assistant", content: [use("a")] },
			{ role: "user", content: [{ ...result("a"), content: [] }, text("half \ufffd")] },
			{ role: "user", content: testBlockText("c0001", { from: 3, to: 3, summary: "s" }) },
		]);
		expect((await seeArray(fork.path, "anthropic")).refused.size).toBe(0);
	});
});

describe("what is taken out of an element of an Anthropic array", () => {
	const thinking = (value: string) => ({ type: "thinking", thinking: value, signature: "x" });
	const SAME: JsonObject[] = [
		{ role: "user", content: "a" },
		{ role: "assistant", content: [thinking("a"), text("b"), use("c")] },
		{ role: "assistant", content: [thinking("a")] },
		{ role: "assistant", content: [{ type: "redacted_thinking", data: "x" }, text("b")] },
		{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "" }] },
		{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
		{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [] }] },
		{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [text("\n")] }] },
	];
	it.each(SAME.map((record) => [JSON.stringify(record), record] as const))("nothing of %s", (_name, record) => {
		expect(anthropicCleaner.clean(record)).toBe(record);
	});

	const CHANGED: [name: string, content: JsonObject["content"], cleaned: JsonObject["content"] | null][] = [
		["an empty text", [text(""), text("a")], [text("a")]],
		["white space", [text("a"), text("\n ")], [text("a")]],
		["hollow thinking", [thinking(""), text("a")], [text("a")]],
		["thinking that only an empty text followed", [text("a"), thinking("b"), text("")], [text("a")]],
		["nothing but an empty text", [text("")], null],
		["an empty string", "", null],
		["white space as a string", " \n", null],
		["no blocks", [], null],
		["null", null, null],
	];
	it.each(CHANGED)("%s", (_name, content, cleaned) => {
		const made = anthropicCleaner.clean({ role: "assistant", content, id: "m" });
		expect(made).toEqual(cleaned === null ? null : { role: "assistant", content: cleaned, id: "m" });
	});
});
