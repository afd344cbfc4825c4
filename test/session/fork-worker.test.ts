import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ForkPiece, LINES_BEFORE } from "#src/session/fork.js";
import type { SourceSpec } from "#src/session/source.js";
import fork, { type ForkResult } from "#workers/fork.js";
import { memorySpec } from "../helpers/bytes.js";
import { scratchFolder } from "../helpers/files.js";

const scratch = scratchFolder();
let files = 0;

async function written(
	source: string | Uint8Array | SourceSpec,
	pieces: readonly ForkPiece[],
	{ format = "codex", shape = "lines" }: { format?: "codex" | "anthropic"; shape?: "lines" | "document" } = {},
): Promise<{ text: string; result: ForkResult }> {
	const target = join(scratch.path, `fork-${files++}`);
	writeFileSync(target, "");
	const spec = typeof source === "string" || source instanceof Uint8Array ? memorySpec(source) : source;
	const result = await fork({ from: { sources: [spec], format }, target, shape, at: 0, lines: 0, pieces });
	return { text: readFileSync(target, "utf8"), result };
}

const line = '{"timestamp":"t", "n":1.0,"ordinal":9,"big":12345678901234567890}';
const record = (text: string, edits: Extract<ForkPiece, { kind: "record" }>["edits"] = []): ForkPiece => ({
	kind: "record",
	source: 0,
	start: 0,
	end: Buffer.byteLength(text),
	edits,
});

describe("a record of the session", () => {
	it("is copied byte for byte, numbers and spaces too", async () => {
		expect((await written(line, [record(line)])).text).toBe(`${line}\n`);
	});

	it("has fields changed in place, and knows how many lines stand before it", async () => {
		const ordinal = { path: ["ordinal"], value: LINES_BEFORE };
		const { text } = await written(line, [record(line, [ordinal]), record(line, [ordinal])]);
		expect(text).toBe(`${line.replace("9,", "0,")}\n${line.replace("9,", "1,")}\n`);
	});

	it("that is no UTF-8 is written as it is read", async () => {
		const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')]);
		const piece: ForkPiece = { kind: "record", source: 0, start: 0, end: bytes.length, edits: [] };
		expect((await written(bytes, [piece])).text).toBe('{"a":"\ufffd"}\n');
	});

	it("loses half a character, and is counted (claude-code#56064)", async () => {
		const broken = String.raw`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a\ud83d"}]}}`;
		const { text, result } = await written(broken, [record(broken)]);
		expect(JSON.parse(text).payload.content[0].text).toBe("a\ufffd");
		expect(result).toMatchObject({ cleaned: 1, dropped: 0, lines: 1 });
	});

	it("of which nothing is left is left out with what stands before it", async () => {
		const empty = '{"role":"user","content":[{"type":"text","text":""}]}';
		const kept = '{"role":"user","content":"x"}';
		const source = `${empty}${kept}`;
		const at = (start: number, end: number): ForkPiece => ({
			kind: "record",
			source: 0,
			start,
			end,
			edits: [],
			before: ",",
		});
		const pieces = [at(0, empty.length), at(empty.length, source.length), at(empty.length, source.length)];
		const { text, result } = await written(source, pieces, { format: "anthropic", shape: "document" });
		expect(text).toBe(`${kept},${kept}`);
		expect(result).toMatchObject({ dropped: 1, lines: 2 });
	});
});

describe("a record above 64 MiB", () => {
	it("is copied with its fields changed, in pieces", async () => {
		const payload = "x".repeat(70 << 20);
		const giant = `{"parentId":"old","payload":"${payload}","z":1.0}`;
		const path = scratch.write("giant.jsonl", giant);
		const { ino, dev, size } = statSync(path);
		const spec: SourceSpec = { kind: "file", path, size, device: dev, inode: ino };
		const { text } = await written(spec, [record(giant, [{ path: ["parentId"], value: '"new"' }])]);
		expect(text.length).toBe(giant.length + 1);
		expect(text.startsWith('{"parentId":"new","payload":"xxx')).toBe(true);
		expect(text.endsWith('xxx","z":1.0}\n')).toBe(true);
	});
});

describe("other pieces", () => {
	it("stand as they are: bytes, text, and records made new", async () => {
		const pieces: ForkPiece[] = [
			{ kind: "text", text: "[" },
			{ kind: "new", json: '{"a":1}', before: "," },
			{ kind: "new", json: '{"b":0}', edits: [{ path: ["b"], value: LINES_BEFORE }], before: ",\n " },
			{ kind: "raw", source: 0, start: 1, end: 3 },
		];
		expect((await written("0]\n4", pieces, { format: "anthropic", shape: "document" })).text).toBe(
			'[{"a":1},\n {"b":1}]\n',
		);
	});

	it("write on behind what stands there", async () => {
		const target = scratch.write("half", "[1");
		const result = await fork({
			from: { sources: [memorySpec("x")], format: "anthropic" },
			target,
			shape: "document",
			at: 2,
			lines: 1,
			pieces: [
				{ kind: "new", json: "{}", before: "," },
				{ kind: "text", text: "]" },
			],
		});
		expect(readFileSync(target, "utf8")).toBe("[1,{}]");
		expect(result).toMatchObject({ at: 6, lines: 2 });
	});
});
