import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CUT_HEAD, cutText } from "#src/session/cut-text.js";
import { parseGiantRecord, parseRecordHead } from "#src/session/giant.js";
import type { JsonObject, JsonValue } from "#src/session/record.js";
import { readerOver } from "../helpers/bytes.js";

/** Bytes that are fed at once, as in giant.ts: what stands at their borders is what may go wrong. */
const CHUNK = 64 * 1024;

async function parsed(text: string): Promise<JsonValue> {
	const reader = readerOver(text);
	return parseGiantRecord(reader, 0, reader.size);
}

async function headOf(text: string, maxBytes: number): Promise<JsonObject | null> {
	return parseRecordHead(readerOver(text), 0, maxBytes);
}

describe("a giant record is parsed like any other", () => {
	it("gives what JSON.parse gives, whatever lies across a border of two chunks", async () => {
		const text = fc.oneof(
			fc.constantFrom("😀", "é", "\u2028", "\ud83d", "\ude00x", '"\\'),
			fc.string({ unit: "binary", maxLength: 30 }),
		);
		const { value } = fc.letrec<{ value: unknown }>((tie) => ({
			value: fc.oneof(
				{ depthSize: "small" },
				text,
				fc.double({ noNaN: true, noDefaultInfinity: true }),
				fc.constantFrom(null, true, false, 1e300, -0.5, 0),
				fc.array(tie("value"), { maxLength: 4 }),
				fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "constructor", "0")), tie("value"), { maxKeys: 4 }),
			),
		}));
		await fc.assert(
			fc.asyncProperty(value, fc.nat(120), fc.constantFrom(undefined, 1), async (any, before, indent) => {
				const json = JSON.stringify(any, null, indent);
				expect(await parsed(" ".repeat(CHUNK - before) + json)).toEqual(JSON.parse(json));
			}),
			{ numRuns: 150 },
		);
	});

	it("keeps every field of its own, also one called __proto__", async () => {
		const value = (await parsed('{"__proto__":{"a":1},"b":2,"b":3}')) as JsonObject;
		expect(Object.keys(value)).toEqual(["__proto__", "b"]);
		expect(value.b).toBe(3);
		expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
	});

	it("reads only its own range, and a field of a document as an object", async () => {
		const reader = readerOver('x{"a":1}y"tools" : [1, 2]z');
		expect(await parseGiantRecord(reader, 1, 8)).toEqual({ a: 1 });
		expect(await parseGiantRecord(reader, 9, 25)).toEqual({ tools: [1, 2] });
	});

	it.each(["", "{", '{"a":1', '{"a":"b', "[1,]", "{} {}", '{"a":\u0000}', "nul", "01", '"\\x"', '{"a" 1}'])(
		"a SyntaxError for %j",
		async (text) => {
			await expect(parsed(text)).rejects.toThrow(SyntaxError);
		},
	);

	it("a SyntaxError for nesting without end", async () => {
		await expect(parsed("[".repeat(150_000) + "]".repeat(150_000))).rejects.toThrow(SyntaxError);
		const deep = 50_000;
		let value = await parsed("[".repeat(deep) + "]".repeat(deep));
		let levels = 0;
		for (; Array.isArray(value); levels++) value = value[0] ?? null;
		expect(levels).toBe(deep);
	});
});

describe("texts of a giant record", () => {
	const BORDERS: [name: string, text: string, head: string, units: number, chars: number][] = [
		["as long as the bound: whole", "a".repeat(CUT_HEAD), "a".repeat(CUT_HEAD), 0, 0],
		["one longer", "a".repeat(CUT_HEAD + 1), "a".repeat(CUT_HEAD), 1, 1],
		["a pair on the bound stays whole, behind it", `${"a".repeat(CUT_HEAD - 1)}😀b`, "a".repeat(CUT_HEAD - 1), 3, 2],
		["a pair in front of the bound", `${"a".repeat(CUT_HEAD - 2)}😀b`, `${"a".repeat(CUT_HEAD - 2)}😀`, 1, 1],
		["a lone surrogate on the bound", `${"a".repeat(CUT_HEAD - 1)}\ud83db`, `${"a".repeat(CUT_HEAD - 1)}\ud83d`, 1, 1],
		[
			"two bytes a unit, many pairs behind",
			"語".repeat(CUT_HEAD) + "😀".repeat(70_000),
			"語".repeat(CUT_HEAD),
			140_000,
			70_000,
		],
		["escapes", "\n".repeat(CUT_HEAD + 5), "\n".repeat(CUT_HEAD), 5, 5],
	];
	it.each(BORDERS)("%s", async (_name, text, head, units, chars) => {
		const value = (await parsed(JSON.stringify({ a: text, b: 1 }))) as JsonObject;
		const expected = units === 0 ? head : cutText(head, units, chars);
		expect(value.a === expected).toBe(true);
		expect(value.b).toBe(1);
	});

	it("keys and numbers are bounded too", async () => {
		const value = (await parsed(`{"${"k".repeat(5000)}":1${"0".repeat(5000)},"n":-12.5e1}`)) as JsonObject;
		expect(Object.keys(value).map((key) => key.length)).toEqual([1024, 1]);
		expect(Object.values(value)).toEqual([null, -125]);
	});

	it("become shorter when much is kept, with exact counts of what is missing", async () => {
		const texts = Array.from({ length: 60 }, (_, i) => `${i}`.padEnd(1 << 20, "x"));
		const value = (await parsed(JSON.stringify(texts))) as string[];
		expect(value).toHaveLength(60);
		expect(value[25]).toBe(texts[25]);
		expect(value[45]).toBe(cutText(texts[45].slice(0, 4096), (1 << 20) - 4096, (1 << 20) - 4096));
	});
});

describe("the head of a record", () => {
	const record = JSON.stringify({
		type: "message",
		id: "e1",
		message: { role: "user", content: [{ type: "text", text: "long é".repeat(50_000) }] },
		last: 1,
	});

	it("holds what its first bytes hold, the last text unfinished", async () => {
		expect(await headOf(record, 110)).toEqual({
			type: "message",
			id: "e1",
			message: { role: "user", content: [{ type: "text", text: expect.stringMatching(/^long élong é/) }] },
		});
	});

	it("is the whole record when that is shorter", async () => {
		expect(await headOf('{"a":[1,2]}\n{"b":1}', 1000)).toEqual({ a: [1, 2] });
	});

	it("starts behind a byte order mark", async () => {
		expect(await headOf('\ufeff{"a":1}', 1000)).toEqual({ a: 1 });
	});

	it("grows with the bytes and never throws", async () => {
		const small = JSON.stringify({ a: "é😀", b: { c: [1.5, null, "\n"] }, d: true });
		for (let n = 0; n <= Buffer.byteLength(small) + 2; n++) {
			const head = await headOf(small, n);
			if (n === 0) expect(head).toBeNull();
			else for (const key of Object.keys(head ?? { missing: 1 })) expect(["a", "b", "d"]).toContain(key);
		}
		expect(await headOf(`{"a":1,"b":"${"x".repeat(600)}",%`, 1000)).toMatchObject({ a: 1 });
		for (const text of ["", "[1]", '"x"', "%", "\0{}"]) expect(await headOf(text, 100)).toBeNull();
	});
});

describe("memory", () => {
	let folder: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "midcompact-giant-"));
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	/** Peak growth in bytes of a process that parses the file as one record, and what it says about the value. */
	function parseInChild(path: string, describeValue: string): { grown: number; facts: unknown } {
		const { resolve } = createRequire(import.meta.url);
		const script = `
			import { statSync } from "node:fs";
			import { parseGiantRecord } from ${JSON.stringify(resolve("#src/session/giant.js"))};
			import { openReader } from ${JSON.stringify(resolve("#src/session/source.js"))};
			const { size, dev, ino } = statSync(${JSON.stringify(path)});
			const file = openReader({ kind: "file", path: ${JSON.stringify(path)}, size, device: dev, inode: ino });
			const before = process.memoryUsage.rss();
			let peak = before;
			const measure = () => (peak = Math.max(peak, process.memoryUsage.rss()));
			const reader = { size, read: (target, position) => (measure(), file.read(target, position)), close() {} };
			const value = await parseGiantRecord(reader, 0, size);
			measure();
			console.log(JSON.stringify({ grown: peak - before, facts: (${describeValue})(value) }));`;
		return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
	}

	function writeRepeated(name: string, head: string, middle: string, times: number, tail: string): string {
		const path = join(folder, name);
		const fd = openSync(path, "w");
		writeSync(fd, head);
		for (let i = 0; i < times; i++) writeSync(fd, middle);
		writeSync(fd, tail);
		closeSync(fd);
		return path;
	}

	const MB = 1e6;
	const block = "0123456789abcdef".repeat(65_536);

	it("of one giant text is that of its head", () => {
		const path = writeRepeated("text", '{"id":"e1","content":"', block, 80, '","end":true}');
		const { grown, facts } = parseInChild(path, "(v) => [v.id, v.end, v.content.length, v.content.slice(-70)]");
		const missing = 79 * CUT_HEAD;
		const cut = cutText("", missing, missing);
		expect(facts).toEqual(["e1", true, CUT_HEAD + cut.length, (block + cut).slice(-70)]);
		expect(grown).toBeLessThan(60 * MB);
	});

	it("of millions of small values stays within the budget", () => {
		const path = writeRepeated(
			"values",
			'{"list":[',
			'{"a":1,"b":"some text of a line","c":[null]},'.repeat(20_000),
			20,
			'0],"end":true}',
		);
		const { grown, facts } = parseInChild(path, "(v) => [v.list.length > 50_000, v.list[49_999]]");
		expect(facts).toEqual([true, { a: 1, b: "some text of a line", c: [null] }]);
		expect(grown).toBeLessThan(150 * MB);
	});
});
