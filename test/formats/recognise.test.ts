/** Detection: records of one format are no other's, and no field that a writer may leave out is needed. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recogniseFormat } from "#src/session/detect.js";
import { READERS } from "#src/session/formats/readers.js";
import { FORMATS, type FormatName, isObject, type JsonObject, type JsonValue } from "#src/session/record.js";
import { sessionBytes } from "../../bench/generate.mjs";

const FOLDER = "../shared/sessions";
const present = existsSync(FOLDER);

/** Plain messages of the two arrays look alike: the tie is decided in favour of the first (RULINGS 23). */
const ARRAYS: readonly FormatName[] = ["openai-chat", "anthropic"];

function mayShare(a: FormatName, b: FormatName): boolean {
	return ARRAYS.includes(a) && ARRAYS.includes(b);
}

/** The formats that claim any of the records. */
function claiming(records: readonly JsonObject[]): FormatName[] {
	return READERS.filter((reader) => records.some((record) => reader.recognise(record) > 0)).map(({ name }) => name);
}

function recordsOf(text: string): JsonObject[] {
	const parsed = (source: string): JsonValue[] => {
		try {
			return [JSON.parse(source) as JsonValue];
		} catch {
			return [];
		}
	};
	const [whole] = parsed(text);
	const list = isObject(whole) && Array.isArray(whole.messages) ? whole.messages : whole;
	const values = Array.isArray(list) ? list : text.split("\n").flatMap(parsed);
	return values.filter(isObject);
}

function generated(format: FormatName): JsonObject[] {
	const { batches } = sessionBytes({ format, atoms: 300, compact: [0.3] });
	return recordsOf(Buffer.concat([...batches].map((bytes) => Buffer.from(bytes))).toString("utf8"));
}

const files = (present ? readdirSync(FOLDER, { recursive: true }) : [])
	.map(String)
	.filter((name) => /\.jsonl?$/.test(name))
	.map((name) => [name, (name.startsWith("openai") ? "openai-chat" : name.split(/[/\\]/)[0]) as FormatName] as const);

describe.skipIf(!present)("public sessions", () => {
	it.each(files)("%s is %s and nothing else", (name, format) => {
		const records = recordsOf(readFileSync(join(FOLDER, name), "utf8"));
		expect(recogniseFormat(records.slice(0, 64))).toBe(format);
		expect(claiming(records).filter((other) => other !== format && !mayShare(other, format))).toEqual([]);
	});
});

describe("generated sessions", () => {
	it.each(FORMATS)("%s is nothing else", (format) => {
		const records = generated(format);
		expect(recogniseFormat(records.slice(0, 64))).toBe(format);
		expect(claiming(records).filter((other) => other !== format && !mayShare(other, format))).toEqual([]);
	});

	/** Without these a record is no record of its format. */
	const NEEDED = new Set(["type", "payload", "message", "role", "content", "tool_calls", "tool_call_id"]);
	it.each(FORMATS)("%s without any one of its other fields is the same", (format) => {
		const records = generated(format).slice(0, 64);
		const keys = new Set(records.flatMap((record) => Object.keys(record)).filter((key) => !NEEDED.has(key)));
		for (const key of keys) {
			const less = records.map((record) => {
				const { [key]: _, ...rest } = record;
				return rest;
			});
			expect([key, recogniseFormat(less)]).toEqual([key, format]);
		}
	});
});

describe("short sessions with few fields", () => {
	const rows: [name: string, format: FormatName, records: JsonObject[]][] = [
		["a Pi header without a date", "pi", [{ type: "session", version: 3, id: "s", cwd: "/w" }]],
		["a Pi header without an id", "pi", [{ type: "session", version: 3, cwd: "/w" }]],
		["a Pi header of version 1", "pi", [{ type: "session", id: "s", timestamp: "2026-01-02T03:04:05.000Z" }]],
		[
			"Pi entries without dates",
			"pi",
			[{ type: "message", id: "a", parentId: null, message: { role: "user", content: "q" } }],
		],
		["a Pi root without a parent", "pi", [{ type: "message", id: "a", message: { role: "user", content: "q" } }]],
		["Pi entries of version 1 without dates", "pi", [{ type: "message", message: { role: "user", content: "q" } }]],
		["a Pi setting without a date", "pi", [{ type: "model_change", id: "a", parentId: null, modelId: "m" }]],
		[
			"bare Pi messages without dates",
			"pi",
			[
				{ role: "user", content: "q" },
				{ role: "assistant", content: [{ type: "toolCall", id: "c", name: "ls", arguments: {} }] },
				{ role: "toolResult", toolCallId: "c", content: [{ type: "text", text: "out" }] },
			],
		],
		[
			"a bare Pi reply without a date",
			"pi",
			[
				{ role: "user", content: "q" },
				{ role: "assistant", content: [{ type: "text", text: "r" }], stopReason: "stop" },
			],
		],
		["a Claude Code message alone", "claude-code", [{ type: "user", message: { role: "user", content: "q" } }]],
		["Claude Code lines without parent and session", "claude-code", [{ type: "system", uuid: "u", subtype: "x" }]],
		["a Claude Code attachment alone", "claude-code", [{ type: "attachment", attachment: { type: "file" } }]],
		["Claude Code bookkeeping without its field", "claude-code", [{ type: "last-prompt", sessionId: "s" }]],
		["a Codex line without a date", "codex", [{ type: "event_msg", payload: { type: "task_started" } }]],
		["a flat Codex call without an id", "codex", [{ type: "function_call", name: "shell", arguments: "{}" }]],
		["a flat Codex header without instructions", "codex", [{ id: "t", timestamp: "2025-08-01T00:00:00Z", git: {} }]],
		["an OpenAI reply that is a refusal alone", "openai-chat", [{ role: "assistant", refusal: "no" }]],
		["an OpenAI result without a call id", "openai-chat", [{ role: "tool", content: "out" }]],
		["an Anthropic result without a call id", "anthropic", [{ role: "user", content: [{ type: "tool_result" }] }]],
	];
	it.each(rows)("%s", (_, format, records) => {
		expect(recogniseFormat(records)).toBe(format);
		expect(claiming(records).filter((other) => other !== format && !mayShare(other, format))).toEqual(
			records.some((record) => record.role === "user" && format === "pi") ? ARRAYS : [],
		);
	});

	it.each<[string, JsonObject]>([
		["an object of nothing", {}],
		["a type alone", { type: "message" }],
		["a session of something else", { type: "session", id: "s" }],
		["a key of every object", { type: "constructor", role: "__proto__" }],
		["a Claude Code kind with nothing of a line", { type: "user" }],
		["a date", { timestamp: "2026-01-02T03:04:05.000Z" }],
		["a line of a log", { type: "usage", timestamp: "2026-01-02T03:04:05.000Z", id: 7 }],
	])("%s is nobody's", (_, record) => {
		expect(claiming([record])).toEqual([]);
	});
});
