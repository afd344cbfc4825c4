/** The worker's task, run in this thread: what one part of a source is turned into. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TableChunk } from "#src/session/chunk.js";
import { readerOf } from "#src/session/formats/readers.js";
import scan, { type Detected, type ScanTask } from "#workers/scan.js";
import { memorySpec } from "../helpers/bytes.js";

const run = async (task: ScanTask) => (await scan(task)) as TableChunk;
const findings = (chunk: TableChunk) => chunk.damage.first.map((d) => [d.kind, d.offset, d.line, d.record]);

async function elementsOf(text: string) {
	const source = memorySpec(text);
	const { elements, fields } = (await scan({ op: "detect", source, format: "anthropic" })) as Detected;
	if (!elements || !fields) throw new Error("This is no document.");
	return { source, elements, fields };
}

describe("elements that are no messages", () => {
	it.each([
		['"abc"', "not_an_object"],
		['"a\\"b"', "not_an_object"],
		["7", "not_an_object"],
		["null", "not_an_object"],
		["[1]", "not_an_object"],
		['"a\\x"', "invalid_json"],
		['{"a":}', "invalid_json"],
	])("%s is %s", async (element, kind) => {
		const { source, elements } = await elementsOf(`[{"role":"user","content":"hi"},${element}]`);
		const chunk = await run({ op: "elements", source, format: "anthropic", ...elements, fields: false });
		expect([chunk.rows, chunk.records]).toEqual([1, 1]);
		expect(findings(chunk)[0]).toEqual([kind, elements.start[1], 2, -1]);
	});
});

describe("a record on which a format's reader fails costs that record alone", () => {
	afterEach(() => vi.restoreAllMocks());

	it("on a line: it counts, has no row, and is reported with its number", async () => {
		const reader = readerOf("pi");
		const read = reader.read.bind(reader);
		vi.spyOn(reader, "read").mockImplementation((record) => {
			if (record.id === "bad") throw new TypeError("hostile");
			return read(record);
		});
		const line = (id: string) => JSON.stringify({ type: "message", id, message: { role: "user", content: "hi" } });
		const source = memorySpec(`${line("a")}\n${line("bad")}\n${line("c")}\n`);
		const chunk = await run({ op: "lines", source, format: "pi", from: 0, to: source.size });
		expect([chunk.rows, chunk.records, chunk.lines]).toEqual([2, 3, 3]);
		expect([...chunk.record]).toEqual([0, 2]);
		expect(findings(chunk)).toEqual([["invalid_json", line("a").length + 1, 2, 1]]);
	});

	it("as a field of a document", async () => {
		vi.spyOn(readerOf("anthropic"), "field").mockImplementation((key) => {
			if (key === "tools") throw new TypeError("hostile");
			return null;
		});
		const { source, fields } = await elementsOf('{"tools":[1],"system":"s","messages":[]}');
		const chunk = await run({ op: "elements", source, format: "anthropic", ...fields, fields: true });
		expect([chunk.rows, chunk.records, chunk.lines]).toEqual([0, 0, 0]);
		expect(findings(chunk)).toEqual([["invalid_json", 1, 0, -1]]);
	});

	it("in the items inside a record", async () => {
		vi.spyOn(readerOf("codex"), "items").mockImplementation(() => {
			throw new TypeError("hostile");
		});
		const source = memorySpec('{"type":"compacted"}\n');
		const chunk = await run({ op: "items", source, format: "codex", start: 0, end: 20, record: 4, line: 5 });
		expect(chunk.rows).toBe(0);
		expect(findings(chunk)).toEqual([["invalid_json", 0, 5, 4]]);
	});
});
