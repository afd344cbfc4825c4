import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanLines } from "#src/session/scan.js";
import type { ByteReader } from "#src/session/source.js";
import { readerOver } from "../helpers/bytes.js";

interface SeenLine {
	text: string;
	start: number;
	end: number;
}

function linesOf(content: string | Uint8Array, from = 0, to = Number.POSITIVE_INFINITY, readSize?: number): SeenLine[] {
	const reader = readerOver(content);
	const seen: SeenLine[] = [];
	for (const line of scanLines(reader, from, Math.min(to, reader.size), readSize)) {
		seen.push({ text: line.bytes?.toString("utf8") ?? "", start: line.start, end: line.end });
	}
	return seen;
}

const texts = (lines: SeenLine[]) => lines.map((l) => l.text);

describe("lines of a byte range", () => {
	it.each([
		["ends with a line end", "a\nb\n", ["a", "b"]],
		["misses the last line end", "a\nb", ["a", "b"]],
		["has CRLF line ends", "a\r\nb\r\n", ["a", "b"]],
		["has blank lines", "a\n\n\nb\n", ["a", "", "", "b"]],
		["starts with a byte order mark", "\ufeffa\nb", ["a", "b"]],
		[
			"holds U+2028 and U+2029 inside a line (paseo#2021, nodejs#62785)",
			"a\u2028b\u2029c\nd",
			["a\u2028b\u2029c", "d"],
		],
		["holds a bare carriage return", "a\rb\nc", ["a\rb", "c"]],
		["is one byte", "a", ["a"]],
		["is one line end", "\n", [""]],
	])("splits a source that %s", (_name, content, expected) => {
		expect(texts(linesOf(content))).toEqual(expected);
	});

	it("gives byte places that read back as the line", () => {
		const content = "\ufeffä€\r\n\r\n😀 b\nc";
		const bytes = Buffer.from(content);
		for (const line of linesOf(content)) expect(bytes.subarray(line.start, line.end).toString("utf8")).toBe(line.text);
	});

	it("gives the same lines for any cut into ranges and any read size", () => {
		const content = fc
			.array(fc.constantFrom("a", "bb", "\n", "\r\n", "é", "\u2028", "😀", "\0"), { maxLength: 60 })
			.map((p) => p.join(""));
		fc.assert(
			fc.property(content, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (text, step, readSize) => {
				const size = Buffer.byteLength(text);
				const parts: SeenLine[] = [];
				for (let from = 0; from < size; from += step)
					parts.push(...linesOf(text, from, Math.min(from + step, size), readSize));
				expect(parts).toEqual(linesOf(text));
			}),
		);
	});

	it("gives a line behind a byte order mark to the range that holds its first byte", () => {
		const content = "\ufeffa\nb";
		for (const step of [1, 2, 3, 4]) {
			const parts: SeenLine[] = [];
			for (let from = 0; from < 6; from += step) parts.push(...linesOf(content, from, Math.min(from + step, 6)));
			expect(parts).toEqual(linesOf(content));
		}
	});

	it("starts a line above 64 MiB behind a byte order mark", () => {
		const bytes = Buffer.alloc(64 * 1024 * 1024 + 10, "x");
		bytes.write("\ufeff");
		const [line] = scanLines(readerOver(bytes), 0, bytes.length);
		expect([line.start, line.end, line.bytes]).toEqual([3, bytes.length, null]);
	});

	it("reads no more than a small range needs", () => {
		const reader = readerOver("x\n".repeat(500_000));
		let asked = 0;
		const counting: ByteReader = {
			size: reader.size,
			read: (target, position) => {
				asked += target.length;
				return reader.read(target, position);
			},
			close() {},
		};
		expect([...scanLines(counting, 1000, 3000)].length).toBe(1000);
		expect(asked).toBeLessThan(200_000);
	});

	it("reads a long line in small steps without losing a byte (claude-code#24118, codesesh PR#191)", () => {
		const long = "x".repeat(20 * 1024 * 1024);
		const lines = linesOf(`${long}\nb`, 0, undefined, 64 * 1024);
		expect(lines.map((l) => l.text.length)).toEqual([long.length, 1]);
		expect(lines[0].text === long).toBe(true);
	});
});
