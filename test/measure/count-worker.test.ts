import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asMidcompactError } from "#src/errors.js";
import { ENCODINGS, type Encoding, tokenizerOf } from "#src/measure/encodings.js";
import { piReader } from "#src/session/formats/pi/read.js";
import { contentTexts, type JsonObject } from "#src/session/record.js";
import type { RowPlaces } from "#src/session/rows.js";
import type { SourceSpec } from "#src/session/source.js";
import type { CountResult, CountTask } from "#workers/count.js";

const message = (id: string, content: JsonObject): JsonObject => ({
	type: "message",
	id,
	parentId: null,
	timestamp: "2026-01-01T00:00:00.000Z",
	message: content,
});
const text = (words: string): JsonObject => ({ type: "text", text: words });

const RECORDS: JsonObject[] = [
	message("a", {
		role: "user",
		content: [text("Why doesn't fooBar() work?\n\n  — 它不工作 👩‍💻 \ud83d <|endoftext|>")],
	}),
	message("b", {
		role: "assistant",
		content: [
			{ type: "thinking", thinking: "Let me look." },
			text("Looking…"),
			{ type: "toolCall", id: "c1", name: "read", arguments: { path: "src/a.ts", limit: 12345 } },
		],
	}),
	message("c", {
		role: "toolResult",
		toolCallId: "c1",
		toolName: "read",
		content: [text("x".repeat(3000)), { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }],
		isError: false,
	}),
	message("d", { role: "user", content: [] }),
];

let folder: string;
let pool: Piscina;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "count-"));
	pool = new Piscina({ filename: fileURLToPath(import.meta.resolve("#workers/count.js")), maxThreads: 1 });
});
afterAll(async () => {
	await pool.destroy();
	rmSync(folder, { recursive: true });
});

function write(name: string): { source: SourceSpec; places: RowPlaces; path: string } {
	const path = join(folder, name);
	const lines = RECORDS.map((record) => Buffer.from(`${JSON.stringify(record)}\n`));
	writeFileSync(path, Buffer.concat(lines));
	const { size, dev, ino } = statSync(path);
	const start = new Float64Array(lines.length);
	const end = new Float64Array(lines.length);
	let at = 0;
	lines.forEach((line, i) => {
		start[i] = at;
		at += line.length;
		end[i] = at - 1;
	});
	const places = { source: new Uint8Array(lines.length), start, end, item: new Uint32Array(lines.length) };
	return { path, places, source: { kind: "file", path, size, device: dev, inode: ino } };
}

const run = (source: SourceSpec, places: RowPlaces, encoding: Encoding): Promise<CountResult> => {
	const task: CountTask = { rowSource: { sources: [source], format: "pi" }, places, encoding };
	return pool.run(task);
};

describe("workers/count", () => {
	test.each(ENCODINGS)("answers the tokens of each row's content by %s", async (encoding) => {
		const { source, places } = write(`${encoding}.jsonl`);
		const { tokens, forced } = await run(source, places, encoding);
		const expected = RECORDS.map((record) => {
			const texts = contentTexts(piReader.read(record)?.parts ?? []);
			return texts.reduce((sum, t) => sum + tokenizerOf(encoding).encode_ordinary(t).length, 0);
		});
		expect(expected.slice(0, 3).every((n) => n > 0)).toBe(true);
		expect([...tokens]).toEqual(expected);
		// Equal letters: the forced cuts fall where tokens end, but they are told all the same.
		expect([...forced]).toEqual([0, 0, 2, 0]);
	});

	test("answers for the places asked for, in their order", async () => {
		const { source, places } = write("order.jsonl");
		const all = await run(source, places, "o200k_base");
		const picked = [2, 0, 2];
		const some = await run(
			source,
			{
				source: Uint8Array.from(picked, (i) => places.source[i]),
				start: Float64Array.from(picked, (i) => places.start[i]),
				end: Float64Array.from(picked, (i) => places.end[i]),
				item: Uint32Array.from(picked, (i) => places.item[i]),
			},
			"o200k_base",
		);
		expect([...some.tokens]).toEqual(picked.map((i) => all.tokens[i]));
		expect([...some.forced]).toEqual(picked.map((i) => all.forced[i]));
	});

	test("says that the file changed", async () => {
		const { source, places, path } = write("changed.jsonl");
		truncateSync(path, 100);
		const failure = await run(source, places, "o200k_base").catch(asMidcompactError);
		expect(failure).toMatchObject({ code: "unreadable" });
	});
});
