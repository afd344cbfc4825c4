import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureParts } from "#src/measure/parts.js";
import { blockText, parseBlockText } from "#src/plan/block-text.js";
import { FLAG, type RecordFacts } from "#src/session/record.js";

/** Half of a character. */
const HALF = /\p{Surrogate}/gu;

const session = "3f2b8c1d-7a64-4e9b-b5d0-1c8e9f6a2d47";
const whole = { block: "c0012", topic: "Parser [v2]", summary: "Rewrote it.\n\nAll tests pass.", session };

/** Whether the reader takes a message with this text for a block. */
function isBlock(text: string): boolean {
	const facts: Pick<RecordFacts, "role" | "parts"> = { role: "user", parts: [{ type: "text", text, from: "own" }] };
	return (measureParts(facts as RecordFacts).flags & FLAG.BLOCK) !== 0;
}

describe("the text of a block", () => {
	it("is the mark, the summary and the exact recall call", () => {
		expect(blockText(whole)).toBe(
			[
				"[midcompact block c0012: Parser [v2]]",
				"Rewrote it.",
				"",
				"All tests pass.",
				"",
				`(Originals: call the tool midcompact with {"request":{"action":"recall_read","block":"c0012"}}, or run midcompact recall ${session} c0012)`,
			].join("\n"),
		);
	});

	it.each([
		["no topic", { topic: "" }, /^\[midcompact block c0012\]\nRewrote/],
		["a topic of blanks", { topic: " \n\t " }, /^\[midcompact block c0012\]\n/],
		["a topic of several lines", { topic: "one\r\ntwo\u2028three" }, /^\[midcompact block c0012: one two three\]\n/],
		["a session without an id", { session: null }, /or run midcompact recall SESSION c0012\)$/],
		[
			"a file for a session",
			{ session: "/home/me/my chat's.json" },
			/recall '\/home\/me\/my chat'\\''s\.json' c0012\)$/,
		],
		["a session id with a line end", { session: "a\nb" }, /recall SESSION c0012\)$/],
		["half a character (claude-code#56064)", { summary: "a\ud83d" }, /\na\ufffd\n/],
	])("with %s", (_name, parts, expected) => {
		const text = blockText({ ...whole, ...parts });
		expect(text).toMatch(expected);
		expect(text).not.toMatch(HALF);
	});

	const words = fc.oneof(
		fc.string({ unit: "binary" }),
		fc.string({ unit: fc.constantFrom("]", "[", "\n", "\r", " ", ":", "\ud83d", "\u2028", "a") }),
	);
	const recallOf = (block: string) =>
		`(Originals: call the tool midcompact with {"request":{"action":"recall_read","block":"${block}"}}, or run midcompact recall x ${block})`;
	const summaries = fc.oneof(
		words,
		fc
			.array(fc.constantFrom("\n", "\n\n", "text", recallOf("c0001"), recallOf("c0002"), "[midcompact block c0001]\n"))
			.map((pieces) => pieces.join("")),
	);
	const blocks = fc.integer({ min: 1, max: 123_456 }).map((n) => `c${String(n).padStart(4, "0")}`);

	it("is read back as it was written, whatever stands in it", () => {
		fc.assert(
			fc.property(blocks, words, summaries, fc.option(words), (block, topic, summary, name) => {
				const text = blockText({ block, topic, summary, session: name });
				expect(isBlock(text)).toBe(true);
				const oneLine = topic.replace(/[\s\p{Cc}]+/gu, " ").trim();
				expect(parseBlockText(text)).toEqual({
					block,
					topic: oneLine.replace(HALF, "\ufffd"),
					summary: summary.replace(HALF, "\ufffd"),
				});
			}),
			{ numRuns: 500 },
		);
	});
});

describe("a text that is read", () => {
	it.each([
		["[midcompact block c0001]", { block: "c0001", topic: "", summary: "" }],
		["[midcompact block c0001]\r\nDone.", { block: "c0001", topic: "", summary: "Done." }],
		["[midcompact block c12345: a: b] c]\nDone.", { block: "c12345", topic: "a: b] c", summary: "Done." }],
		[`${blockText(whole)}\n`, { block: "c0012", topic: "Parser [v2]", summary: whole.summary }],
	])("is a block without our last paragraph, too: %j", (text, parts) => {
		expect(isBlock(text)).toBe(true);
		expect(parseBlockText(text)).toEqual(parts);
	});

	it("keeps the recall paragraph of another block as part of the summary", () => {
		const other = blockText({ ...whole, block: "c0099" });
		const text = `[midcompact block c0001]\n${other}`;
		expect(parseBlockText(text)?.summary).toBe(other);
	});

	it.each([
		"",
		"Hello",
		"[midcompact block c1]\nx",
		"[midcompact block c0001",
		" [midcompact block c0001]\nx",
		"[midcompact block c0001] and more",
	])("is no block for the reader nor here: %j", (text) => {
		expect(isBlock(text)).toBe(false);
		expect(parseBlockText(text)).toBeNull();
	});

	it("is told apart by the same line as in the survey", () => {
		const lines = fc
			.array(fc.constantFrom("[midcompact block ", "c0001", "c01", ": ", "]", "\n", "\r", "topic", " "), {
				maxLength: 8,
			})
			.map((pieces) => pieces.join(""));
		fc.assert(
			fc.property(
				fc.oneof(
					lines,
					lines.map((line) => `[midcompact block c0001${line}`),
				),
				(text) => {
					expect(parseBlockText(text) !== null).toBe(isBlock(text));
				},
			),
			{ numRuns: 2000 },
		);
	});
});
