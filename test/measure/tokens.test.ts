import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENCODINGS, tokenizerOf } from "#src/measure/encodings.js";
import { SegmentMemo } from "#src/measure/memo.js";
import { TokenCounter } from "#src/measure/tokens.js";
import { CUT_HEAD, cutText } from "#src/session/cut-text.js";
import { anyText, hanText, hardText, piecesOf } from "./texts.js";

/** More with FUZZ_RUNS in the environment. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 10_000);
const SESSIONS = fileURLToPath(new URL("../../../shared/sessions", import.meta.url));

describe.each(ENCODINGS)("tokens by %s", (encoding) => {
	const tokenizer = tokenizerOf(encoding);
	const plain = (text: string) => tokenizer.encode_ordinary(text).length;
	const counter = new TokenCounter(encoding);

	test("equal those of the whole text, whatever was counted before", () => {
		fc.assert(
			fc.property(fc.oneof({ weight: 4, arbitrary: hardText }, { weight: 1, arbitrary: anyText }), (text) => {
				expect(counter.count(text)).toEqual({ tokens: plain(text), forced: 0 });
			}),
			{ numRuns: RUNS },
		);
	}, 600_000);

	test("equal the sum over the segments, and so does any run of neighbouring segments", () => {
		fc.assert(
			fc.property(hardText, fc.nat(), fc.nat(), (text, a, b) => {
				const pieces = piecesOf(text, encoding);
				const counts = pieces.map(plain);
				expect(sum(counts)).toBe(plain(text));
				const from = a % (pieces.length + 1);
				const to = from + (b % (pieces.length + 1 - from));
				expect(sum(counts.slice(from, to))).toBe(plain(pieces.slice(from, to).join("")));
			}),
			{ numRuns: RUNS },
		);
	}, 600_000);

	test("equal those of the whole text when it is longer than a window", () => {
		fc.assert(
			fc.property(fc.array(hardText, { minLength: 5, maxLength: 40 }), (texts) => {
				// White space between the texts keeps every segment short.
				const block = texts.map((text) => text.slice(0, 60)).join(" a\n");
				const text = `${block} b\n`.repeat(Math.ceil(80_000 / (block.length + 3)));
				expect(counter.count(text)).toEqual({ tokens: plain(text), forced: 0 });
			}),
			{ numRuns: 12 },
		);
	});

	test("are the same with a memo that is cleared over and over", () => {
		const small = new TokenCounter(encoding, new SegmentMemo(7));
		fc.assert(
			fc.property(hardText, (text) => {
				expect(small.count(text)).toEqual({ tokens: plain(text), forced: 0 });
			}),
			{ numRuns: 1000 },
		);
	});

	test("of the empty text are none", () => {
		expect(counter.count("")).toEqual({ tokens: 0, forced: 0 });
	});

	test("take special tokens for ordinary text", () => {
		const text = "a <|endoftext|> b <|fim_prefix|><|endofprompt|>";
		expect(counter.count(text)).toEqual({ tokens: plain(text), forced: 0 });
		expect(counter.count("<|endoftext|>").tokens).toBeGreaterThan(1);
	});

	test("of 1,023 spaces and a quote are exact", () => {
		const text = `const x = {\n${" ".repeat(1023)}"key": "value"\n}`;
		expect(counter.count(text)).toEqual({ tokens: plain(text), forced: 0 });
	});

	test("of a text that was loaded in part are those of its head, and approximate", () => {
		const head = "some words ".repeat(Math.ceil(CUT_HEAD / 11)).slice(0, CUT_HEAD);
		const whole = counter.count(head);
		expect(whole.forced).toBe(0);
		expect(counter.count(cutText(head, 5_000_000, 5_000_000))).toEqual({ tokens: whole.tokens, forced: 1 });
	});

	describe("tiktoken#195, nodetool PR#3743: runs without a safe cut are bounded", () => {
		const runs: [string, (n: number) => string, number][] = [
			["equal letters", (n) => "a".repeat(n), 100_000],
			["spaces", (n) => " ".repeat(n), 1_000_000],
			["line ends", (n) => "\n".repeat(n), 1_000_000],
			["line ends and spaces", (n) => "\n ".repeat(n / 2), 200_000],
			["Chinese characters", hanText, 300_000],
			["emoji", (n) => "😀".repeat(n / 2), 100_000],
			["lone surrogates", (n) => "\ude00".repeat(n), 100_000],
			["combining marks", (n) => "\u0301".repeat(n), 100_000],
		];
		test.each(runs)(
			"%s",
			(_, make, length) => {
				// What the tokenizer itself can do in reasonable time says how far off a forced cut is: at most one token each.
				const short = 3 * 1024 + 500;
				const shortCount = counter.count(make(short));
				expect(shortCount.forced).toBe(3);
				expect(Math.abs(shortCount.tokens - plain(make(short)))).toBeLessThanOrEqual(shortCount.forced);

				const { tokens, forced } = counter.count(make(length));
				expect(forced).toBeGreaterThanOrEqual(Math.floor(length / 1024) - 1);
				expect(forced).toBeLessThanOrEqual(Math.ceil(length / 1023));
				const expected = (shortCount.tokens * length) / short;
				expect(Math.abs(tokens - expected)).toBeLessThanOrEqual(0.05 * expected + forced);
			},
			120_000,
		);

		test("100,000 digits are cut in threes and stay exact", () => {
			expect(counter.count("7".repeat(100_000))).toEqual({ tokens: Math.ceil(100_000 / 3), forced: 0 });
			expect(plain("7".repeat(3000))).toBe(1000);
		});
	});

	test.skipIf(!existsSync(SESSIONS))(
		"of real texts equal those of the whole texts",
		() => {
			let texts = 0;
			for (const file of readdirSync(SESSIONS, { recursive: true, encoding: "utf8" })) {
				if (!/\.jsonl?$/.test(file)) continue;
				for (const text of stringsIn(readFileSync(`${SESSIONS}/${file}`, "utf8"))) {
					const { tokens, forced } = counter.count(text);
					if (Math.abs(tokens - plain(text)) > forced) expect.fail(`${file}: ${JSON.stringify(text.slice(0, 200))}`);
					texts++;
				}
			}
			expect(texts).toBeGreaterThan(1000);
		},
		120_000,
	);
});

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, n) => total + n, 0);
}

/** Different strings of JSON lines or of one document that are long enough to say something, but not as long as the tokenizer is slow for. */
function stringsIn(file: string): Set<string> {
	const found = new Set<string>();
	const visit = (value: unknown): void => {
		if (typeof value === "string") {
			if (value.length > 12 && value.length < 20_000) found.add(value);
		} else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) visit(inner);
	};
	for (const line of file.split("\n")) {
		try {
			visit(JSON.parse(line));
		} catch {
			found.add(line.slice(0, 20_000));
		}
	}
	return found;
}
