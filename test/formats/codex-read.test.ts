/** Codex rollouts, one line at a time. */
import { describe, expect, it } from "vitest";
import { codexReader } from "#src/session/formats/codex/read.js";
import { READERS } from "#src/session/formats/readers.js";
import { FLAG, type JsonObject, type Part } from "#src/session/record.js";
import {
	assistant,
	call,
	compacted,
	event,
	item,
	line,
	meta,
	output,
	STAMP,
	SUMMARY_PREFIX,
	textsOf,
	tokenCount,
	user,
} from "./codex-lines.js";

/** How Codex names the agent that a session belongs to; others stand below it. */
const MAIN_AGENT = "/root";

const partsOf = (record: JsonObject): Part[] => codexReader.read(record)?.parts ?? [];
const roleOf = (record: JsonObject): string | null => codexReader.read(record)?.role ?? null;
const flagged = (record: JsonObject, flag: number): boolean => ((codexReader.read(record)?.flags ?? 0) & flag) !== 0;

/** The head of a 3x2 PNG. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAAElFTkSuQmCC";

describe("recognise", () => {
	const rows: [name: string, record: JsonObject, sure: boolean][] = [
		["a line with its envelope", user("hi"), true],
		["an event", event({ type: "task_started" }), true],
		["session_meta", meta(), true],
		["a flat message", { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }, true],
		["a flat call", { type: "function_call", call_id: "c", name: "shell", arguments: "{}" }, true],
		["a flat header", { id: "x", timestamp: STAMP, instructions: null }, true],
		["a flat state mark", { record_type: "state" }, true],
		["a Claude Code line", { type: "user", uuid: "u", message: { role: "user", content: "hi" } }, false],
		["a Pi v1 message", { type: "message", timestamp: STAMP, message: { role: "user", content: [] } }, false],
		["a chat message", { role: "user", content: "hi" }, false],
		["an unknown type with a payload", { timestamp: STAMP, type: "midcompact", payload: {} }, false],
	];
	it.each(rows)("%s", (_name, record, sure) => {
		expect(codexReader.recognise(record) >= 2).toBe(sure);
	});

	it("is not outdone by another format on its own lines", () => {
		for (const record of [user("hi"), event({ type: "x" }), meta()]) {
			const own = codexReader.recognise(record);
			for (const reader of READERS) if (reader.name !== "codex") expect(reader.recognise(record)).toBeLessThan(own);
		}
	});
});

describe("isWhole", () => {
	it("takes a line, not the payload that was torn out of one", () => {
		expect(codexReader.isWhole(user("hi"))).toBe(true);
		expect(codexReader.isWhole(user("hi").payload as JsonObject)).toBe(false);
		expect(codexReader.isWhole({ type: "response_item", payload: {} })).toBe(false);
	});
});

describe("response items", () => {
	const rows: [kind: string, payload: JsonObject, role: string | null, parts: Part[]][] = [
		[
			"message with an image",
			{
				type: "message",
				role: "user",
				content: [
					{ type: "input_text", text: "look" },
					{ type: "input_image", image_url: `data:image/png;base64,${PNG}` },
				],
			},
			"user",
			[
				{ type: "text", text: "look", from: "own" },
				{ type: "image", mime: "image/png", bytes: 45, width: 3, height: 2, from: "own" },
			],
		],
		[
			"image that is not there",
			{ type: "message", role: "user", content: [{ type: "input_image", image_url: null }] },
			"user",
			[{ type: "image", mime: "unknown", bytes: 0, width: null, height: null, from: "own" }],
		],
		[
			"content that is a string",
			{ type: "message", role: "assistant", content: "plain" },
			"assistant",
			[{ type: "text", text: "plain", from: "own" }],
		],
		[
			"audio",
			{ type: "message", role: "user", content: [{ type: "input_audio", audio_url: "x" }] },
			"user",
			[{ type: "opaque", what: "input_audio" }],
		],
		[
			"developer",
			{ type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] },
			"system",
			[{ type: "text", text: "rules", from: "own" }],
		],
		[
			"reasoning",
			{
				type: "reasoning",
				summary: [{ type: "summary_text", text: "short" }],
				content: [{ type: "reasoning_text", text: "long" }],
				encrypted_content: "ENC",
			},
			"assistant",
			[
				{ type: "thinking", text: "short" },
				{ type: "thinking", text: "long" },
				{ type: "opaque", what: "encrypted reasoning" },
			],
		],
		["bare reasoning", { type: "reasoning", summary: [], content: null, encrypted_content: null }, "assistant", []],
		[
			"function_call",
			{ type: "function_call", call_id: "c1", name: "shell", arguments: '{"a": 1}' },
			"assistant",
			[{ type: "tool_call", id: "c1", name: "shell", arguments: '{"a": 1}', answer: "result" }],
		],
		[
			"function_call without arguments",
			{ type: "function_call", call_id: "c1", name: "shell", arguments: null },
			"assistant",
			[{ type: "tool_call", id: "c1", name: "shell", arguments: null, answer: "result" }],
		],
		[
			"custom_tool_call",
			{ type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin" },
			"assistant",
			[{ type: "tool_call", id: "c2", name: "apply_patch", arguments: "*** Begin", answer: "result" }],
		],
		[
			"local_shell_call",
			{
				type: "local_shell_call",
				call_id: null,
				id: "ls_1",
				status: "completed",
				action: { type: "exec", command: ["ls"] },
			},
			"assistant",
			[
				{
					type: "tool_call",
					id: "ls_1",
					name: "local_shell",
					arguments: '{"type":"exec","command":["ls"]}',
					answer: "result",
				},
			],
		],
		[
			"web_search_call",
			{ type: "web_search_call", id: "ws", action: { type: "search", query: "q" } },
			"assistant",
			[{ type: "tool_call", id: null, name: "web_search", arguments: '{"type":"search","query":"q"}', answer: "none" }],
		],
		[
			"image_generation_call",
			{ type: "image_generation_call", id: "ig", revised_prompt: "a cat", result: PNG },
			"assistant",
			[
				{ type: "tool_call", id: null, name: "image_generation", arguments: "a cat", answer: "none" },
				{ type: "image", mime: "image/png", bytes: 45, width: 3, height: 2, from: "result" },
			],
		],
		[
			"tool_search_call",
			{ type: "tool_search_call", call_id: "c3", execution: "client", arguments: { query: "x" } },
			"assistant",
			[{ type: "tool_call", id: "c3", name: "tool_search", arguments: '{"query":"x"}', answer: "result" }],
		],
		[
			"tool_search_output",
			{ type: "tool_search_output", call_id: "c3", execution: "client", tools: [{ name: "t" }] },
			"tool_result",
			[
				{ type: "tool_result", id: "c3", name: null, byName: false },
				{ type: "text", text: '[{"name":"t"}]', from: "result" },
			],
		],
		[
			"tool_search_call of the server",
			{ type: "tool_search_call", call_id: null, execution: "server", arguments: { query: "x" } },
			"assistant",
			[{ type: "tool_call", id: null, name: "tool_search", arguments: '{"query":"x"}', answer: "none" }],
		],
		[
			"tool_search_output of the server",
			{ type: "tool_search_output", call_id: null, execution: "server", tools: [] },
			"assistant",
			[{ type: "text", text: "[]", from: "result" }],
		],
		[
			"compaction",
			{ type: "compaction", encrypted_content: "ENC" },
			"summary",
			[{ type: "opaque", what: "encrypted compaction" }],
		],
		[
			"compaction_summary",
			{ type: "compaction_summary", encrypted_content: "ENC" },
			"summary",
			[{ type: "opaque", what: "encrypted compaction" }],
		],
		[
			"additional_tools",
			{ type: "additional_tools", tools: [{ name: "t" }] },
			"system",
			[{ type: "text", text: '[{"name":"t"}]', from: "own" }],
		],
		[
			"agent_message",
			{
				type: "agent_message",
				author: MAIN_AGENT,
				recipient: `${MAIN_AGENT}/a`,
				content: [
					{ type: "input_text", text: "hello" },
					{ type: "encrypted_content", encrypted_content: "E" },
				],
			},
			"user",
			[
				{ type: "text", text: "hello", from: "own" },
				{ type: "opaque", what: "encrypted_content" },
			],
		],
	];
	it.each(rows)("%s", (_kind, payload, role, parts) => {
		expect(roleOf(item(payload))).toBe(role);
		expect(partsOf(item(payload))).toEqual(parts);
	});

	it.each(["ghost_snapshot", "compaction_trigger", "configuration_update"])("%s is never sent", (type) => {
		expect(codexReader.read(item({ type }))).toBeNull();
	});

	it("a system message is sent only from a replacement history", () => {
		const system = { type: "message", role: "system", content: [{ type: "input_text", text: "s" }] };
		expect(codexReader.read(item(system))).toBeNull();
		expect(codexReader.items?.(compacted([system]))[0].role).toBe("system");
	});

	it("an agent's message is the host's, not a person's", () => {
		expect(flagged(item({ type: "agent_message", content: [{ type: "input_text", text: "go" }] }), FLAG.HOST)).toBe(
			true,
		);
		expect(roleOf(line("inter_agent_communication", { author: MAIN_AGENT, content: "go" }))).toBe("user");
	});
});

describe("what tools gave back", () => {
	const rows: [form: string, output: JsonObject["output"], texts: string[]][] = [
		["string", "plain", ["plain"]],
		[
			"list",
			[
				{ type: "input_text", text: "a" },
				{ type: "input_text", text: "b" },
			],
			["a", "b"],
		],
		["content item", { type: "input_text", text: "a", image_url: null }, ["a"]],
		["object with content", { content: "failed", success: false }, ["failed"]],
		["object with content items", { content_items: [{ type: "input_text", text: "a" }] }, ["a"]],
		["any other object", { stdout: "x", exitCode: 0 }, ['{"stdout":"x","exitCode":0}']],
		["nothing", null, []],
	];
	it.each(rows)("%s", (_form, value, texts) => {
		const record = item({ type: "function_call_output", call_id: "c", output: value });
		expect(roleOf(record)).toBe("tool_result");
		expect(partsOf(record)[0]).toEqual({ type: "tool_result", id: "c", name: null, byName: false });
		expect(textsOf(codexReader.read(record))).toEqual(texts);
	});

	it("an image in a list is an image, not text", () => {
		const parts = partsOf(
			item({
				type: "custom_tool_call_output",
				call_id: "c",
				output: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }],
			}),
		);
		expect(parts[1]).toEqual({ type: "image", mime: "image/png", bytes: 45, width: 3, height: 2, from: "result" });
	});

	it("composed files pair by name where they have no ids", () => {
		expect(partsOf(item({ type: "tool_call", function: { name: "run" }, arguments: { command: "ls" } }))).toEqual([
			{ type: "tool_call", id: null, name: "run", arguments: '{"command":"ls"}', answer: "by_name" },
		]);
		expect(partsOf(item({ type: "tool_result", name: "run", result: { stdout: "x" } }))).toEqual([
			{ type: "tool_result", id: null, name: "run", byName: true },
			{ type: "text", text: '{"stdout":"x"}', from: "result" },
		]);
	});
});

describe("texts of the host (RULINGS 17)", () => {
	it.each([
		"# AGENTS.md instructions for /tmp\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
		"# AGENTS.md instructions\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>\n",
		"<environment_context>\n  <cwd>/tmp</cwd>\n</environment_context>",
		"<ENVIRONMENT_CONTEXT>cwd=/tmp</ENVIRONMENT_CONTEXT>",
		"<user_instructions>\n\nx\n\n</user_instructions>",
		"<skill>\n<name>x</name>\n</skill>",
		"<turn_aborted>\nx\n</turn_aborted>",
		"<subagent_notification>{}</subagent_notification>",
		'<hook_prompt hook_run_id="h">Retry</hook_prompt>',
		'<codex_internal_context source="user_goal">\nx\n</codex_internal_context>',
		"<external_editor>a</external_editor>",
		"<user_action>\n  <context>User initiated a review task.</context>\n</user_action>\n",
		"Warning: The maximum number of unified exec processes you can keep open is 60 and you have 61",
	])("%s", (text) => {
		expect(roleOf(user(text))).toBe("user");
		expect(flagged(user(text), FLAG.HOST)).toBe(true);
	});

	it.each([
		"<environment_context> is what I want to know about",
		"What is in AGENTS.md?",
		"<div>",
		"# AGENTS.md instructions\n\nplease write them",
	])("%s is a person's", (text) => {
		expect(flagged(user(text), FLAG.HOST)).toBe(false);
	});

	const kinds = (texts: string[], of: string[]): JsonObject =>
		item({
			type: "message",
			role: "user",
			content: texts.map((text) => ({ type: "input_text", text })),
			internal_chat_message_metadata_passthrough: { content_item_kinds: of },
		});

	it("newer files say the kind of each content item", () => {
		expect(flagged(kinds(["a", "b"], ["agents_md.instructions", "environments.environment_context"]), FLAG.HOST)).toBe(
			true,
		);
		expect(flagged(kinds(["a"], ["user.text"]), FLAG.HOST)).toBe(false);
		expect(flagged(kinds(["a"], ["user.heartbeat"]), FLAG.HOST)).toBe(true);
		expect(flagged(kinds(["<environment_context>a</environment_context>"], ["user.text"]), FLAG.HOST)).toBe(false);
		expect(flagged(kinds(["<environment_context>a</environment_context>"], ["unknown"]), FLAG.HOST)).toBe(true);
	});

	it("a message that also holds a person's words is a person's", () => {
		expect(flagged(kinds(["<environment_context>a</environment_context>", "and now?"], []), FLAG.HOST)).toBe(false);
	});

	it("a shell command that the user ran is command and output", () => {
		const record = user(
			"<user_shell_command>\n<command>\nls -l\n</command>\n<result>\nExit code: 0\nOutput:\na.txt\n</result>\n</user_shell_command>",
		);
		expect(roleOf(record)).toBe("bash");
		expect(partsOf(record)).toEqual([
			{ type: "text", text: "ls -l", from: "command" },
			{ type: "text", text: "Exit code: 0\nOutput:\na.txt", from: "output" },
		]);
	});

	it("the summary of a compaction is no user message", () => {
		expect(roleOf(user(`${SUMMARY_PREFIX}\nAll done.`))).toBe("summary");
		expect(
			roleOf(
				user(
					"You were originally given instructions from a user over one or more turns. Here were the user messages:\n\nhi",
				),
			),
		).toBe("summary");
		expect(roleOf(kinds(["a summary in other words"], ["compaction.summary"]))).toBe("summary");
		expect(roleOf(user("Another language model started the fire."))).toBe("user");
	});
});

describe("lines that Codex drops", () => {
	const without = (key: string): JsonObject => {
		const record = { ...user("words") };
		delete record[key];
		return record;
	};
	it.each([
		["timestamp missing", without("timestamp")],
		["timestamp a number", { ...user("words"), timestamp: 5 }],
		["ordinal a string", { ...user("words"), ordinal: "12" }],
		["lone surrogate", user("words \ud800")],
		["lone surrogate in a call", item({ type: "function_call", call_id: "c", name: "x", arguments: '"\udc00"' })],
		[
			"lone surrogate in a replacement history",
			compacted([{ type: "message", role: "user", content: [{ type: "input_text", text: "\ud83d" }] }]),
		],
	])("%s", (_name, record) => {
		expect(roleOf(record)).toBeNull();
		expect(partsOf(record)).toEqual([]);
	});

	it.each([
		["timestamp that is no date", { ...user("words"), timestamp: "yesterday" }],
		["ordinal null", { ...user("words"), ordinal: null }],
		["pair of surrogates", user("words \ud83d\ude00")],
		["unknown fields", { ...user("words"), midcompact: { block: "c0001" } }],
	])("but not: %s", (_name, record) => {
		expect(roleOf(record)).toBe("user");
	});
});

describe("other lines", () => {
	it("session_meta holds the base instructions and the parent of a native fork", () => {
		const facts = codexReader.read(
			meta({
				base_instructions: { text: "BASE" },
				history_base: { thread_id: "p", end_ordinal_exclusive: 5, end_byte_offset: 999 },
			}),
		);
		expect(facts?.role).toBe("system");
		expect(textsOf(facts)).toEqual(["BASE"]);
		expect(facts?.meta).toMatchObject({ id: "thread-1", history_base: { id: "p", end: 999 } });
	});

	it.each<[name: string, record: JsonObject, id: string | null]>([
		["a header", meta(), "thread-1"],
		["a header of an old version", { id: "old", timestamp: STAMP, instructions: null }, "old"],
		["a header without id", line("session_meta", { cwd: "/" }), null],
		["another line", user("x"), null],
		["an item of an old version", { type: "message", id: "msg_1", role: "user", content: [] }, null],
	])("the session's id: %s", (_name, record, id) => {
		expect(codexReader.session?.(record)).toBe(id);
	});

	it("session_meta says what Codex would miss in it", () => {
		const whole = { timestamp: STAMP, cwd: "/w", originator: "codex_exec", cli_version: "0.171.0" };
		expect(codexReader.read(meta(whole))?.meta).toEqual({ id: "thread-1" });
		expect(codexReader.read(meta({ ...whole, cwd: null }))?.meta?.faults).toEqual(["cwd"]);
		expect(codexReader.read(meta({ ...whole, timestamp: "yesterday" }))?.meta?.faults).toEqual(["timestamp"]);
	});

	it("session_meta.instructions is a copy of AGENTS.md and not content", () => {
		expect(textsOf(codexReader.read(meta({ instructions: "copy" })))).toEqual([]);
	});

	it("usage is the last reply's, cached inside input; totals are not usage (openclaw#118772)", () => {
		const last = {
			input_tokens: 100,
			cached_input_tokens: 30,
			output_tokens: 7,
			reasoning_output_tokens: 5,
			total_tokens: 107,
		};
		expect(codexReader.read(tokenCount(last, { model_context_window: 1000 }))?.usage).toEqual({
			input: 70,
			output: 7,
			cacheRead: 30,
			cacheWrite: 0,
			window: 1000,
		});
		expect(codexReader.read(tokenCount(last, { model_context_window: 0 }))?.usage?.window).toBeNull();
		expect(codexReader.read(tokenCount(null))).toBeNull();
		expect(codexReader.read(tokenCount({ input_tokens: 0, output_tokens: 0, total_tokens: 6075 }))).toBeNull();
		expect(codexReader.read(event({ type: "token_count", info: null }))).toBeNull();
	});

	it("compacted carries no texts of its own when it has a replacement history", () => {
		const history = [words("one"), words("two")];
		const facts = codexReader.read(compacted(history, `${SUMMARY_PREFIX}\nsum😀`));
		expect(facts?.role).toBeNull();
		expect(facts?.parts).toEqual([]);
		expect(facts?.meta).toEqual({ items: 2, summary: 4 });
		expect(codexReader.items?.(compacted(history)).map((f) => [f.role, f.id, textsOf(f)])).toEqual([
			["user", null, ["one"]],
			["user", null, ["two"]],
		]);
	});

	it("compacted without a replacement history is the summary", () => {
		expect(roleOf(compacted(null, "sum"))).toBe("summary");
		expect(textsOf(codexReader.read(compacted(null, "sum")))).toEqual(["sum"]);
		expect(textsOf(codexReader.read(compacted(null, "")))).toEqual(["(no summary available)"]);
		expect(codexReader.items?.(compacted(null, "sum"))).toEqual([]);
	});

	it("items keep their places, also those that are nothing", () => {
		const facts = codexReader.items?.(compacted([{ type: "ghost_snapshot" }, words("kept")])) ?? [];
		expect(facts.map((f) => f.role)).toEqual([null, "user"]);
		expect(facts[1].time).toBe(Date.parse(STAMP));
	});

	it("world_state is a row, for forks, and no message", () => {
		expect(codexReader.read(line("world_state", { full: true, state: {} }))).toMatchObject({ role: null, parts: [] });
	});

	it.each(["token_usage_record", "inter_agent_communication_metadata"])("%s says nothing", (type) => {
		expect(codexReader.read(line(type, { full: true }))).toBeNull();
	});

	it("flat lines of old versions read like their items", () => {
		expect(codexReader.read({ id: "old", timestamp: STAMP, instructions: null })?.meta).toMatchObject({ id: "old" });
		expect(codexReader.read({ record_type: "state" })).toBeNull();
		expect(roleOf({ type: "message", id: null, role: "user", content: [{ type: "input_text", text: "hi" }] })).toBe(
			"user",
		);
		expect(codexReader.read({ type: "function_call_output", call_id: "c", output: '{"output":"x"}' })?.role).toBe(
			"tool_result",
		);
	});

	it("entry ids are record numbers: no line and no item has an id of its own", () => {
		for (const record of [user("a"), assistant("b"), call("c"), output("c"), meta()])
			expect(codexReader.read(record)?.id).toBeNull();
	});

	function words(text: string): JsonObject {
		return { type: "message", role: "user", content: [{ type: "input_text", text }] };
	}
});
