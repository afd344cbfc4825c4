import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DamageLog } from "#src/session/damage.js";
import type { JsonObject } from "#src/session/record.js";
import { LineReader } from "#src/session/salvage.js";
import { scanLines } from "#src/session/scan.js";
import { readerOver } from "../helpers/bytes.js";

async function read(content: string | Uint8Array) {
	const reader = readerOver(content);
	const damage = new DamageLog();
	const lines = new LineReader(reader, (value) => typeof value.id === "number" && "v" in value, damage);
	const records: { value: JsonObject; start: number; end: number }[] = [];
	for (const line of scanLines(reader, 0, reader.size)) {
		for (const record of await lines.read(line, records.length)) records.push(record);
	}
	return { records, ids: records.map((r) => r.value.id), damage: damage.first.map((d) => [d.kind, d.offset, d.line]) };
}

const rec = (id: number, v: unknown = "x") => JSON.stringify({ id, v });

describe("damaged lines", () => {
	const torn = '{"id":9,"v":"to';
	it.each<[name: string, content: string, ids: number[], damage: [string, number, number][]]>([
		["a sound file", `${rec(1)}\n${rec(2)}\n`, [1, 2], []],
		["a missing last line end", `${rec(1)}\n${rec(2)}`, [1, 2], []],
		["a torn last line (cozempic#147)", `${rec(1)}\n${torn}`, [1], [["torn_tail", 17, 2]]],
		["a torn line in the middle", `${rec(1)}\n${torn}\n${rec(2)}\n`, [1, 2], [["invalid_json", 17, 2]]],
		["two records on one line (copilot-cli#4098)", `${rec(1)}${rec(2)}\n${rec(3)}\n`, [1, 2, 3], [["glued", 16, 1]]],
		[
			"three records on one line",
			`${rec(1)}${rec(2)}${rec(3)}\n`,
			[1, 2, 3],
			[
				["glued", 16, 1],
				["glued", 32, 1],
			],
		],
		["a record behind a torn one (qwen-code#3681)", `${torn}${rec(2)}\n${rec(3)}\n`, [2, 3], [["spliced", 0, 1]]],
		["a torn record behind a whole one", `${rec(1)}${torn}\n${rec(3)}\n`, [1, 3], [["spliced", 16, 1]]],
		["a whole, a torn and a whole record", `${rec(1)}${torn}${rec(2)}\n`, [1, 2], [["spliced", 16, 1]]],
		["garbage behind a record", `${rec(1)} oops\n`, [1], [["spliced", 17, 1]]],
		["a stub line", `{\n${rec(1)}\n`, [1], [["invalid_json", 0, 1]]],
		["text that is no JSON", `hello\n${rec(1)}\n`, [1], [["invalid_json", 0, 1]]],
		[
			"JSON that is no object",
			`[1]\n"a"\n7\nnull\n${rec(1)}\n`,
			[1],
			[
				["not_an_object", 0, 1],
				["not_an_object", 4, 2],
				["not_an_object", 8, 3],
				["not_an_object", 10, 4],
			],
		],
		["an object nested in a torn record", '{"id":1,"v":{"id":7,"w":1},"z":"to\n', [], [["invalid_json", 0, 1]]],
		["blank lines", `\n  \n${rec(1)}\n\t\n`, [1], []],
		["braces inside strings", `${rec(1, '}{"id":5')}${rec(2)}\n`, [1, 2], [["glued", 25, 1]]],
	])("%s", async (_name, content, ids, damage) => {
		const result = await read(content);
		expect(result.ids).toEqual(ids);
		expect(result.damage).toEqual(damage);
	});

	it.each([
		["in the middle of the file", (nul: Buffer) => [rec(1), "\n", nul, "\n", rec(2), "\n"], [1, 2], 17],
		["in front of a record", (nul: Buffer) => [rec(1), "\n", nul, rec(2), "\n"], [1, 2], 17],
		["behind a record without a line end", (nul: Buffer) => [rec(1), nul, "\n", rec(2)], [1, 2], 16],
		["inside a record", (nul: Buffer) => ['{"id":9,"v', nul, '":1}', "\n", rec(2)], [2], 10],
		["at the end", (nul: Buffer) => [rec(1), "\n", nul], [1], 17],
	])("survives 4 KB of zeros %s (claude-code#49876)", async (_name, build, ids, offset) => {
		const content = Buffer.concat(build(Buffer.alloc(4096)).map((p) => (typeof p === "string" ? Buffer.from(p) : p)));
		const result = await read(content);
		expect(result.ids).toEqual(ids);
		expect(result.damage.map((d) => d.slice(0, 2))).toEqual([["nul_run", offset]]);
	});

	it("reads 300,000 glued records behind a NUL without running out of stack", async () => {
		const { ids, damage } = await read(`\0${rec(1).repeat(300_000)}\n`);
		expect(ids.length).toBe(300_000);
		expect(damage[0]).toEqual(["nul_run", 0, 1]);
	});

	it("reads every record of a line on which other bytes stand between them", async () => {
		const { ids, damage } = await read(`${Array.from({ length: 5000 }, (_, i) => rec(i)).join(", ")}\n`);
		expect(ids.length).toBe(5000);
		expect(damage).toEqual([["spliced", 16, 1]]);
	});

	it("gives up on nesting without end after a bounded effort", async () => {
		const { ids, damage } = await read(`x${'{"a":'.repeat(400_000)}\n${rec(2)}\n`);
		expect(ids).toEqual([2]);
		expect(damage).toEqual([["invalid_json", 0, 1]]);
	});

	it("reads 100,000 stretches of a giant line, and reports the rest as one unreadable piece", async () => {
		const piece = `${rec(1)}\0`;
		const times = 100_010;
		const filler = Buffer.alloc(64 * 1024 * 1024);
		const { ids, damage } = await read(Buffer.concat([filler, Buffer.from(piece.repeat(times))]));
		expect(ids.length).toBe(100_000);
		expect(damage).toEqual([
			["nul_run", 0, 1],
			["invalid_json", filler.length + 100_000 * piece.length, 1],
		]);
	});

	it("gives up on a line salted with NULs after a bounded effort, and reads the next", async () => {
		const salted = Buffer.from('{"a":'.repeat(400_000), "utf16le");
		const { ids, damage } = await read(Buffer.concat([salted, Buffer.from(`\n${rec(2)}\n`)]));
		expect(ids).toEqual([2]);
		expect(damage).toEqual([["nul_run", 1, 1]]);
	});

	it("says that a record between NULs is invalid UTF-8", async () => {
		const { ids, damage } = await read(
			Buffer.concat([Buffer.from('\0{"id":1,"v":"'), Buffer.from([0xff]), Buffer.from('"}\n')]),
		);
		expect(ids).toEqual([1]);
		expect(damage.map((d) => d[0])).toEqual(["nul_run", "invalid_utf8"]);
	});

	it("reads a record with invalid UTF-8 and says so", async () => {
		const result = await read(Buffer.concat([Buffer.from('{"id":1,"v":"'), Buffer.from([0xff]), Buffer.from('"}\n')]));
		expect(result.ids).toEqual([1]);
		expect(result.damage).toEqual([["invalid_utf8", 0, 1]]);
	});

	it("gives places that parse to the record", async () => {
		const content = `${rec(1, "é")}${rec(2)}\n${torn}${rec(3)}\n`;
		const bytes = Buffer.from(content);
		for (const { value, start, end } of (await read(content)).records) {
			expect(JSON.parse(bytes.subarray(start, end).toString("utf8"))).toEqual(value);
		}
	});

	it("never loses a record that stands on a line of its own, whatever stands around it", async () => {
		const junk = fc.constantFrom("{", "}", '{"', '"', "\\", torn, "\0\0", "x", "[", rec(77).slice(3), "é");
		await fc.assert(
			fc.asyncProperty(fc.array(fc.oneof(junk, fc.constant("#")), { maxLength: 12 }), async (pieces) => {
				let next = 100;
				const wanted: number[] = [];
				const content = pieces
					.map((p) => {
						if (p !== "#") return `${p}\n`;
						wanted.push(++next);
						return `${rec(next)}\n`;
					})
					.join("");
				const { ids } = await read(content);
				expect(ids.filter((id) => (id as number) > 100)).toEqual(wanted);
			}),
		);
	});
});
