/** Would Codex resume a rollout? The rows of NOTES.md, section "Resuming", and that sound rollouts are left in peace. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createEngine } from "#src/index.js";
import { codexCheck } from "#src/session/formats/codex/check.js";
import { codexReader } from "#src/session/formats/codex/read.js";
import type { JsonObject } from "#src/session/record.js";
import type { ResumeFinding } from "#src/session/resume.js";
import { scratchFolder } from "../helpers/files.js";
import {
	assistant,
	call,
	compacted,
	item,
	line,
	meta,
	output,
	reasoning,
	STAMP,
	turn,
	user,
	words,
} from "./codex-lines.js";

const scratch = scratchFolder();
const engine = createEngine({ threads: 1 });
afterAll(() => engine.close());
const THREAD = "01a22f76-ac88-7a22-b7e2-001ef2c7cd2f";
const NAME = `rollout-2026-01-02T03-04-05-${THREAD}.jsonl`;
const HEADER = { id: THREAD, timestamp: STAMP, cwd: "/w", originator: "codex_exec", cli_version: "0.171.0" };

const header = (more: JsonObject = {}): JsonObject => meta({ ...HEADER, ...more });
const message = (more: JsonObject): JsonObject => item({ ...words("user", "x"), ...more });
const sound = [header(), ...turn("t", user("q"), reasoning("r"), call("c"), output("c"), assistant("a"))];
const numbered = (lines: readonly JsonObject[]): JsonObject[] =>
	lines.map((record, ordinal) => ({ ordinal, ...record }));
const text = (lines: readonly JsonObject[]): string => lines.map((record) => `${JSON.stringify(record)}\n`).join("");

let made = 0;

/** Findings of a file, as `severity rule`. */
async function found(content: string, name = NAME): Promise<string[]> {
	return (await findings(content, name)).map(({ severity, rule }) => `${severity} ${rule}`);
}

async function findings(content: string, name: string): Promise<ResumeFinding[]> {
	const path = scratch.write(`${++made}.jsonl`, content);
	const session = await engine.open(path, { format: "codex", background: { tokens: false, index: false } });
	try {
		const { table, branch } = session.survey;
		const records = content
			.replace(/^\ufeff/, "")
			.split("\n")
			.filter((one) => one.startsWith("{"))
			.map((one) => JSON.parse(one) as JsonObject);
		const id = records.map((record) => codexReader.session?.(record) ?? null).find((one) => one !== null) ?? null;
		const whole = await codexCheck.whole({ table, branch, name, session: id });
		const inside = records.flatMap((record) => codexCheck.record(record));
		return [...whole, ...inside.map((one) => ({ ...one, offset: null, entry: null }))];
	} finally {
		await session.close();
	}
}

describe("single records", () => {
	it.each<[name: string, record: JsonObject, rules: string[]]>([
		["sound", user("x"), []],
		["an unknown field", { ...message({ more: 1 }), more: 1 }, []],
		["a timestamp that is no date", { ...user("x"), timestamp: "yesterday" }, []],
		["no ordinal", user("x"), []],
		["an item without id", message({}), []],
		["no timestamp", { type: "response_item", payload: words("user", "x") }, ["refused no_timestamp"]],
		["an ordinal that is text", { ...user("x"), ordinal: "12" }, ["refused ordinal"]],
		["half a surrogate pair", user("x \ud800"), ["refused lone_surrogate"]],
		["half a surrogate pair in a key", { ...user("x"), "\udc00": 1 }, ["refused lone_surrogate"]],
		["content that is text", message({ content: "x" }), ["refused content"]],
		["content that is missing", message({ content: null }), ["refused content"]],
		["no content", message({ content: [] }), ["refused empty_text"]],
		["claude-code#41729: an empty text", user(""), ["refused empty_text"]],
		["an id that is none of a message", message({ id: "c0001" }), ["repaired item_id"]],
		["a message's id", message({ id: "msg_1" }), []],
		["reasoning that is not encrypted", item({ type: "reasoning", summary: [] }), ["repaired reasoning_not_encrypted"]],
		[
			"an output that is an object",
			item({ type: "function_call_output", call_id: "c", output: { content: "x" } }),
			["refused output"],
		],
		[
			"an output that is a list",
			item({ type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "x" }] }),
			[],
		],
		["an output of 12,000 characters", output("c", "x".repeat(12_000)), []],
		["an output of 14,000 characters", output("c", "x".repeat(14_000)), ["repaired long_output"]],
		["an item of a composed file", item({ type: "tool_call", name: "x", arguments: {} }), ["refused unknown_item"]],
		[
			"an item inside a replacement history",
			compacted([words("user", "x"), words("user", "")]),
			["refused empty_text"],
		],
		["a long text of a user", user("x".repeat(400_000)), []],
	])("%s", (_name, record, rules) => {
		expect(codexCheck.record(record).map(({ severity, rule }) => `${severity} ${rule}`)).toEqual(rules);
	});

	it("says it with a small excerpt", () => {
		const [found] = codexCheck.record(item({ type: "function_call_output", call_id: "c", output: "y".repeat(14_000) }));
		expect(found.message).toContain("14000 characters");
		expect(found.message.length).toBeLessThan(200);
	});
});

describe("the file", () => {
	it.each<[name: string, content: string, rules: string[], name?: string]>([
		["sound", text(numbered(sound)), []],
		["ordinals all equal", text(sound.map((record) => ({ ...record, ordinal: 5 }))), []],
		["no ordinals, no history mode", text(sound), []],
		["no ordinals, legacy", text([header({ history_mode: "legacy" }), ...sound.slice(1)]), []],
		["paginated", text(numbered([header({ history_mode: "paginated" }), ...sound.slice(1)])), []],
		[
			"paginated without ordinals",
			text([header({ history_mode: "paginated" }), ...sound.slice(1)]),
			["refused last_ordinal"],
		],
		["a byte order mark", `\ufeff${text(sound)}`, ["refused byte_order_mark"]],
		["the header not first", text([...sound.slice(1), sound[0]]), ["refused header_not_first"]],
		["no header", text(sound.slice(1)), ["refused header"]],
		["a header of another kind", text([header({ cli_version: null, cwd: 5 }), ...sound.slice(1)]), ["refused header"]],
		[
			"a header's timestamp that is no date",
			text([header({ timestamp: "yesterday" }), ...sound.slice(1)]),
			["refused header"],
		],
		["another id in the name", text(sound), ["refused other_id"], NAME.replace("cd2f", "cd20")],
		["a name without date", text(sound), ["refused file_name"], `rollout-x-${THREAD}.jsonl`],
		["a name without id", text(sound), ["refused file_name"], "rollout-2026-01-02T03-04-05.jsonl"],
		[
			"a parent that cannot be followed",
			text([header({ history_base: { thread_id: 5 } }), ...sound.slice(1)]),
			["refused missing_parent"],
		],
		[
			"a line without timestamp",
			text([...sound, { type: "response_item", payload: words("user", "x") }]),
			["refused dropped_line", "refused no_timestamp"],
		],
		["an item of an unknown kind", text([...sound, item({ type: "martian" })]), ["refused unknown_item"]],
		[
			"lines without envelope",
			text([
				{ id: THREAD, timestamp: STAMP, instructions: null, cwd: "/", originator: "x", cli_version: "0" },
				words("user", "x"),
			]),
			["refused no_envelope", "refused no_envelope"],
		],
		["an unknown kind of line", text([...sound, line("martian", {})]), []],
	])("%s", async (_name, content, rules, name) => {
		expect(await found(content, name)).toEqual(rules);
	});

	it("a list in memory is not judged by a name", async () => {
		const session = await engine.open(sound, { format: "codex", background: { tokens: false, index: false } });
		const { table, branch } = session.survey;
		expect(await codexCheck.whole({ table, branch, name: null, session: THREAD })).toEqual([]);
		await session.close();
	});

	it("says where it is", async () => {
		const [first] = await findings(text([...sound, item({ type: "martian" })]), NAME);
		expect(first).toMatchObject({ entry: `#${sound.length}`, offset: Buffer.byteLength(text(sound)) });
	});
});

const shared = new URL("../../../shared/sessions/codex/", import.meta.url).pathname;
describe.skipIf(!existsSync(shared))("recorded rollouts", () => {
	/** Rules that recorded files of old versions and other tools break. */
	const known: Readonly<Record<string, string[]>> = {
		"compaction.jsonl": ["header"],
		"composed-large.jsonl": ["unknown_item"],
		"record-kinds.jsonl": ["output"],
		"with-tool-call.jsonl": ["header"],
	};
	const files = existsSync(shared) ? readdirSync(shared).filter((name) => name.endsWith(".jsonl")) : [];
	it.each(files)("%s", async (name) => {
		const content = readFileSync(join(shared, name), "utf8");
		const refused = (await findings(content, NAME)).filter(
			({ severity, rule }) => severity === "refused" && rule !== "other_id",
		);
		expect([...new Set(refused.map(({ rule }) => rule))].sort()).toEqual(known[name] ?? []);
	});
});
