import { describe, expect, it } from "vitest";
import { LINE } from "#src/session/formats/claude-code/kinds.js";
import { claudeCodeReader } from "#src/session/formats/claude-code/read.js";
import { FLAG, type JsonObject, type JsonValue } from "#src/session/record.js";
import { answer, boundary, line, partsOf, progress, result, summary, textsOf, user } from "./claude-code/lines.js";

const PNG = Buffer.concat([
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
	Buffer.from([0, 0, 0, 3, 0, 0, 0, 2]),
	Buffer.alloc(20),
]).toString("base64");
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
const png = (from: string) => ({ type: "image", mime: "image/png", bytes: 44, width: 3, height: 2, from });

const read = (record: JsonObject) => claudeCodeReader.read(record);
const isHost = (record: JsonObject) => ((read(record)?.flags ?? 0) & FLAG.HOST) !== 0;
const attached = (attachment: JsonObject, extra: JsonObject = {}) =>
	line("attachment", "t", "p", { attachment, ...extra });

describe("lines", () => {
	it.each<[string, JsonObject]>([
		["file-history-snapshot", { type: "file-history-snapshot", messageId: "m", snapshot: {} }],
		["queue-operation", { type: "queue-operation", operation: "enqueue", content: "later", sessionId: "s" }],
		["last-prompt", { type: "last-prompt", leafUuid: "l", sessionId: "s" }],
		["api-request", { type: "api-request", sessionId: "s" }],
		["an unknown kind with a uuid", { type: "tool_use", uuid: "t", sessionId: "s", name: "bash", input: {} }],
	])("%s is needed by nothing", (_, record) => {
		expect(read(record)).toBeNull();
	});

	it.each<[string, JsonObject, string | null]>([
		["summary", { type: "summary", summary: "s", leafUuid: "l" }, "l"],
		["custom-title", { type: "custom-title", customTitle: "t", sessionId: "s" }, null],
		["ai-title", { type: "ai-title", aiTitle: "t", sessionId: "s" }, null],
		["agent-name", { type: "agent-name", agentName: "t", sessionId: "s" }, null],
	])("%s is no message and no link, but names the session", (title, record, leaf) => {
		expect(read(record)).toMatchObject({ type: LINE.TITLE, role: null, id: null, meta: { title, leaf } });
	});

	it("takes the link of every chain line", () => {
		const time = "2026-01-02T03:04:05.678Z";
		for (const type of ["user", "assistant", "attachment", "system", "progress"]) {
			const facts = read({ type, uuid: "u", parentUuid: "p", timestamp: time });
			expect(facts).toMatchObject({ id: "u", parent: "p", time: Date.parse(time), role: null, parts: [] });
		}
	});

	it("never looks into data of a progress line or toolUseResult of a result", () => {
		const trap = {
			get data(): JsonValue {
				throw new Error("read");
			},
			get toolUseResult(): JsonValue {
				throw new Error("read");
			},
		};
		const hidden = (record: JsonObject) => Object.defineProperties(record, Object.getOwnPropertyDescriptors(trap));
		expect(read(hidden(line("progress", "p", "a")))).toMatchObject({ id: "p", role: null });
		expect(read(hidden(result("r", "a", "c")))).toMatchObject({ id: "r", role: "tool_result" });
	});

	it("keeps only uuids of a boundary", () => {
		const compactMetadata = {
			trigger: "auto",
			preTokens: 1,
			preCompactDiscoveredTools: ["x"],
			preservedSegment: { headUuid: "h", anchorUuid: "s", tailUuid: "t" },
			preservedMessages: { anchorUuid: "s", uuids: ["h", "t"], allUuids: ["g", "h", "t"] },
		};
		expect(read(boundary("b", { logicalParentUuid: "t", compactMetadata }))?.meta).toEqual({
			logicalParent: "t",
			anchor: "s",
			preserved: ["h", "t"],
			head: "h",
			tail: "t",
		});
	});

	it("drops local commands but keeps their link", () => {
		const facts = read(
			line("system", "l", "p", { subtype: "local_command", content: "<command-name>/model</command-name>" }),
		);
		expect(facts).toMatchObject({ id: "l", parent: "p", role: null, parts: [] });
	});

	it.each<[string, JsonObject, string]>([
		["a user line", user("u", null), "user"],
		["a line with a result", result("r", "a", "c"), "tool_result"],
		["a compaction summary", summary("s", "b"), "summary"],
		["an answer", answer("a", "u"), "assistant"],
		["a queued command", attached({ type: "queued_command", prompt: "and this" }), "user"],
		["a prompt snapshot", attached({ type: "prompt_snapshot", systemPrompt: ["p"] }), "system"],
		["an older line without sidechain mark and parent", { type: "user", message: { content: "x" }, uuid: "u" }, "user"],
	])("gives %s its role", (_, record, role) => {
		expect(read(record)?.role).toBe(role);
	});

	it("groups the lines of an answer by message id", () => {
		expect(read(answer("a", null, "x", { id: "m1" }))?.group).toBe("m1");
		expect(read(user("u", null))?.group).toBeNull();
	});
});

describe("content", () => {
	it.each<[string, JsonValue, unknown[]]>([
		["a string", "hello", [{ type: "text", text: "hello", from: "own" }]],
		["an empty string", "", []],
		["text", [{ type: "text", text: "a" }], [{ type: "text", text: "a", from: "own" }]],
		["thinking", [{ type: "thinking", thinking: "t", signature: "S" }], [{ type: "thinking", text: "t" }]],
		["redacted thinking", [{ type: "redacted_thinking", data: "S" }], [{ type: "opaque", what: "redacted_thinking" }]],
		["an unknown block", [{ type: "fallback", from: {} }], [{ type: "opaque", what: "fallback" }]],
		[
			"a call",
			[{ type: "tool_use", id: "c", name: "Bash", input: { a: [1, "\u00e9"] } }],
			[{ type: "tool_call", id: "c", name: "Bash", arguments: '{"a":[1,"\u00e9"]}', answer: "result" }],
		],
		[
			"a call without id and input",
			[{ type: "tool_use", name: "Bash" }],
			[{ type: "tool_call", id: null, name: "Bash", arguments: null, answer: "result" }],
		],
		[
			"a result of text",
			[{ type: "tool_result", tool_use_id: "c", content: "out", text: "copy" }],
			[
				{ type: "tool_result", id: "c", name: null, byName: false },
				{ type: "text", text: "out", from: "result" },
			],
		],
		[
			"a result of blocks",
			[{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "a" }, IMAGE] }],
			[
				{ type: "tool_result", id: "c", name: null, byName: false },
				{ type: "text", text: "a", from: "result" },
				png("result"),
			],
		],
		["an image", [IMAGE], [png("own")]],
		[
			"an image by address",
			[{ type: "image", source: { type: "url", url: "https://example.org/a.png" } }],
			[{ type: "image", mime: "unknown", bytes: 0, width: null, height: null, from: "own" }],
		],
		[
			"a PDF",
			[{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBE" } }],
			[{ type: "opaque", what: "document" }],
		],
		[
			"a text document",
			[{ type: "document", source: { type: "text", media_type: "text/plain", data: "words" } }],
			[{ type: "text", text: "words", from: "own" }],
		],
		[
			"a reminder beside the person's words",
			[
				{ type: "text", text: "fix it" },
				{ type: "text", text: "<system-reminder>\nbe brief\n</system-reminder>" },
			],
			[
				{ type: "text", text: "fix it", from: "own" },
				{ type: "text", text: "<system-reminder>\nbe brief\n</system-reminder>", from: "reminder" },
			],
		],
	])("reads %s", (_, content, parts) => {
		expect(partsOf(user("u", null, content))).toEqual(parts);
	});

	it("claude-code#65098: takes a server tool and its answer as an exchange of the message itself", () => {
		const parts = partsOf(
			answer("a", null, [
				{ type: "server_tool_use", id: "srv", name: "web_search", input: { query: "q" } },
				{
					type: "web_search_tool_result",
					tool_use_id: "srv",
					content: [{ type: "web_search_result", title: "T", url: "https://example.org", encrypted_content: "E" }],
				},
				{ type: "text", text: "found" },
			]),
		);
		expect(parts).toEqual([
			{ type: "tool_call", id: "srv", name: "web_search", arguments: '{"query":"q"}', answer: "none" },
			{ type: "tool_result", id: "srv", name: null, byName: false },
			{ type: "text", text: "T", from: "result" },
			{ type: "text", text: "https://example.org", from: "result" },
			{ type: "opaque", what: "encrypted_content" },
			{ type: "text", text: "found", from: "own" },
		]);
	});

	it("counts base64 inside a text result as the text it is", () => {
		const content = [{ type: "tool_result", tool_use_id: "c", content: `data:image/png;base64,${PNG}` }];
		expect(textsOf(user("u", null, content))).toEqual([`data:image/png;base64,${PNG}`]);
	});

	it("reads arguments nested deeper than the stack", () => {
		let input: JsonValue = "leaf";
		for (let depth = 0; depth < 100_000; depth++) input = [input];
		const [part] = partsOf(answer("a", null, [{ type: "tool_use", id: "c", name: "n", input }]));
		expect(part).toMatchObject({ type: "tool_call", name: "n" });
		expect(part.type === "tool_call" && part.arguments?.length).toBe(200_006);
	});
});

describe("attachments", () => {
	it.each<[string, JsonObject, string[]]>([
		["what was rendered", { type: "date", rendered: [{ content: "a" }, { content: "b" }], text: "no" }, ["a", "b"]],
		["nothing when nothing was rendered", { type: "skill_listing", rendered: [], content: "no" }, []],
		["a file", { type: "file", content: { type: "text", file: { content: "body", filePath: "/f" } } }, ["body"]],
		["an edited file", { type: "edited_text_file", filename: "/f", snippet: "s" }, ["s"]],
		["memory", { type: "nested_memory", path: "/m", content: { type: "memory", content: "m" } }, ["m"]],
		["a skill listing", { type: "skill_listing", content: "skills", names: ["x"] }, ["skills"]],
		["invoked skills", { type: "invoked_skills", skills: [{ name: "n", content: "a" }, { content: "b" }] }, ["a", "b"]],
		["hook context", { type: "hook_additional_context", content: ["a", "b"], hookName: "h" }, ["a", "b"]],
		["a start hook", { type: "hook_success", hookEvent: "SessionStart", content: "c", stdout: "o" }, ["c"]],
		["no other hook", { type: "hook_success", hookEvent: "PostToolUse", content: "c", stdout: "o" }, []],
		["added tools", { type: "deferred_tools_delta", addedNames: ["n"], addedLines: ["l", "m"] }, ["l", "m"]],
		["tasks", { type: "task_reminder", content: [{ id: "1", subject: "a", description: "d" }] }, ["a"]],
		["todos", { type: "todo_reminder", content: [{ content: "a", status: "pending" }] }, ["a"]],
		["a reminder with text", { type: "total_tokens_reminder", text: "t" }, ["t"]],
		["nothing of a kind that stores no text", { type: "plan_mode", planFilePath: "/p" }, []],
		["nothing of a kind not known", { type: "brand_new", content: "c", text: "t" }, []],
	])("sends %s", (_, attachment, texts) => {
		const record = attached(attachment);
		expect(textsOf(record)).toEqual(texts);
		expect(partsOf(record).every((part) => part.type === "text" && part.from === "reminder")).toBe(true);
		expect(read(record)).toMatchObject({ role: null });
		expect((read(record)?.flags ?? 0) & FLAG.ATTACHED).toBe(FLAG.ATTACHED);
	});

	it("sends the image of a mentioned file", () => {
		const content = { type: "image", file: { base64: PNG, type: "image/png", originalSize: 44 } };
		expect(partsOf(attached({ type: "file", content }))).toEqual([png("reminder")]);
	});

	it("takes a queued command as the person's words and images", () => {
		const record = attached({ type: "queued_command", prompt: [IMAGE, { type: "text", text: "look" }] });
		expect(partsOf(record)).toEqual([png("own"), { type: "text", text: "look", from: "own" }]);
		expect((read(record)?.flags ?? 0) & (FLAG.ATTACHED | FLAG.HOST)).toBe(0);
	});

	it("takes prompt and tools of a snapshot", () => {
		const tools = [{ name: "Bash", schema: { type: "object" } }];
		expect(textsOf(attached({ type: "prompt_snapshot", cliPrefix: "c", systemPrompt: ["a", "b"], tools }))).toEqual([
			"c",
			"a",
			"b",
			JSON.stringify(tools),
		]);
	});
});

describe("who wrote a user message", () => {
	const named = (args: string) =>
		`<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>${args}</command-args>`;

	it.each<[string, JsonObject]>([
		["meta", user("u", null, "text", { isMeta: true })],
		["a task notification by origin", user("u", null, "done", { origin: { kind: "task-notification" } })],
		["another agent", user("u", null, "hello", { origin: { kind: "peer", from: "x", senderTaskId: "1" } })],
		["a task notification by text", user("u", null, "<task-notification>\n<task-id>1</task-id>")],
		["a command without arguments", user("u", null, named(""))],
		["a command with blank arguments", user("u", null, named(" \n"))],
		["a message first, without arguments", user("u", null, "<command-message>x</command-message>")],
		["output of a local command", user("u", null, "<local-command-stdout>ok</local-command-stdout>")],
		["the caveat", user("u", null, "<local-command-caveat>Caveat: The messages below</local-command-caveat>")],
		[
			"the old caveat",
			user("u", null, "Caveat: The messages below were generated by the user while running local commands. DO NOT"),
		],
		["an interruption", user("u", null, [{ type: "text", text: "[Request interrupted by user for tool use]" }])],
		["a reminder alone", user("u", null, "<system-reminder>x</system-reminder>")],
		["a queued notification", attached({ type: "queued_command", prompt: "x", commandMode: "task-notification" })],
		["a queued meta text", attached({ type: "queued_command", prompt: "x", isMeta: true })],
	])("the host: %s", (_, record) => {
		expect(isHost(record)).toBe(true);
	});

	it.each<[string, JsonObject]>([
		["plain words", user("u", null, "fix the bug")],
		["a command with arguments", user("u", null, named("the last commit"))],
		[
			"words beside an interruption",
			user("u", null, [
				{ type: "text", text: "[Request interrupted by user]" },
				{ type: "text", text: "stop" },
			]),
		],
		[
			"an image beside host text",
			user("u", null, [IMAGE, { type: "text", text: "<system-reminder>x</system-reminder>" }]),
		],
		["words that speak of a tag", user("u", null, "what is <command-name>?")],
		["a shell command", user("u", null, "<bash-input>ls</bash-input>")],
		["human origin", user("u", null, "hello", { origin: { kind: "human" } })],
		["a message only visible in the transcript", user("u", null, "hello", { isVisibleInTranscriptOnly: true })],
		["a queued command", attached({ type: "queued_command", prompt: "x", commandMode: "prompt" })],
		["a result", result("r", "a", "c")],
	])("a person: %s", (_, record) => {
		expect(isHost(record)).toBe(false);
	});
});

describe("replies", () => {
	const usage = { input_tokens: 3, cache_creation_input_tokens: 20, cache_read_input_tokens: 100, output_tokens: 7 };

	it("takes the recorded usage", () => {
		expect(read(answer("a", null, "x", { usage }))?.usage).toEqual({
			input: 3,
			output: 7,
			cacheRead: 100,
			cacheWrite: 20,
			window: null,
		});
	});

	it.each<[string, JsonObject, boolean]>([
		["a reply", { usage }, true],
		["one without usage", {}, false],
		["one of zeros", { usage: { input_tokens: 0, output_tokens: 0 } }, false],
		["one that the host made up", { usage, model: "<synthetic>" }, false],
		["one that was cut off", { usage, isAbortedMidStream: true }, false],
		["an API error", { usage, isApiErrorMessage: true }, false],
	])("%s is a valid source of usage: see the last column", (_, extra, valid) => {
		const flags = read(answer("a", null, "x", extra))?.flags ?? 0;
		expect((flags & FLAG.INVALID_USAGE) === 0).toBe(valid);
	});

	it("does not send an API error, and keeps it apart from other lines of its id", () => {
		const facts = read(answer("a", null, "API Error: 529", { isApiErrorMessage: true }));
		expect(facts).toMatchObject({ role: "assistant", group: null });
		expect((facts?.flags ?? 0) & FLAG.UNSENT).toBe(FLAG.UNSENT);
		expect((read(answer("a", null, "x", { isApiErrorMessage: false }))?.flags ?? 0) & FLAG.UNSENT).toBe(0);
	});
});

describe("detection", () => {
	it.each<[string, JsonObject, number]>([
		["a line as the host writes it", user("u", null), 3],
		["an older line without parent", { type: "user", uuid: "u", sessionId: "s", message: { content: "x" } }, 3],
		["bookkeeping", { type: "file-history-snapshot", messageId: "m", snapshot: {} }, 3],
		["a bare line", { type: "user", message: { role: "user", content: "x" } }, 2],
		["a line of a kind to come", { type: "new-kind", uuid: "u", sessionId: "s" }, 1],
		["a Pi header", { type: "session", version: 3, id: "x", cwd: "/" }, 0],
		["a Pi message", { type: "message", id: "x", parentId: null, message: { role: "user", content: "x" } }, 0],
		["a Codex item", { timestamp: "t", type: "response_item", payload: { type: "message" } }, 0],
		["an array element", { role: "user", content: "x" }, 0],
	])("%s", (_, record, sure) => {
		expect(claudeCodeReader.recognise(record)).toBe(sure);
	});

	it("tells a whole line from an object inside a torn one", () => {
		const nested = { type: "assistant", message: { content: [] }, uuid: "n", timestamp: "t", requestId: "r" };
		expect(claudeCodeReader.isWhole(nested)).toBe(false);
		expect(claudeCodeReader.isWhole({ type: "text", text: "x" })).toBe(false);
		expect(claudeCodeReader.isWhole({ type: "tool_use", id: "c", name: "n", input: {} })).toBe(false);
		expect(claudeCodeReader.isWhole(progress("p", null))).toBe(true);
		expect(claudeCodeReader.isWhole({ type: "user", sessionId: "s", uuid: "u", message: { content: "x" } })).toBe(true);
		expect(claudeCodeReader.isWhole({ type: "summary", summary: "s", leafUuid: "l" })).toBe(true);
	});
});
