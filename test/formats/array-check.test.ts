/** What the checks of both array formats find: the rules by name, and where. */
import { describe, expect, it } from "vitest";
import { buildAtoms } from "#src/atoms/build.js";
import { anthropicCheck } from "#src/session/formats/anthropic/check.js";
import { anthropicContext } from "#src/session/formats/anthropic/context.js";
import { anthropicReader } from "#src/session/formats/anthropic/read.js";
import type { FormatContext, FormatReader } from "#src/session/formats/format.js";
import { openaiChatCheck } from "#src/session/formats/openai-chat/check.js";
import { openaiChatContext } from "#src/session/formats/openai-chat/context.js";
import { openaiChatReader } from "#src/session/formats/openai-chat/read.js";
import type { JsonObject } from "#src/session/record.js";
import type { ResumeCheck } from "#src/session/resume.js";
import { documentTable, WHOLE } from "./array-table.js";

interface Format {
	reader: FormatReader;
	context: FormatContext;
	check: ResumeCheck;
}

const OPENAI: Format = { reader: openaiChatReader, context: openaiChatContext, check: openaiChatCheck };
const ANTHROPIC: Format = { reader: anthropicReader, context: anthropicContext, check: anthropicCheck };

/** Rule and entry of every finding, those between messages first. */
async function found({ reader, context, check }: Format, messages: readonly JsonObject[]): Promise<string[]> {
	const table = documentTable(reader, messages);
	const branch = await context.branch(table, WHOLE);
	const { messages: list } = await buildAtoms(table, branch);
	const whole = await check.whole({ table, branch: { ...branch, messages: list }, name: "a.json", session: null });
	for (const { severity } of whole) expect(severity).toBe("refused");
	return [
		...whole.map(({ rule, entry }) => `${rule} ${entry ?? "-"}`),
		...messages.flatMap((message, i) => check.record(message).map(({ rule }) => `${rule} #${i}`)),
	];
}

const user = (content: JsonObject["content"] = "a"): JsonObject => ({ role: "user", content });

describe("an OpenAI chat array", () => {
	const call = (id: string): JsonObject => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
	const calls = (...ids: string[]): JsonObject => ({ role: "assistant", content: null, tool_calls: ids.map(call) });
	const tool = (id: string, content: JsonObject["content"] = "r"): JsonObject => ({
		role: "tool",
		tool_call_id: id,
		content,
	});
	const system: JsonObject = { role: "system", content: "s" };
	const odd = (changed: JsonObject): JsonObject => ({ role: "assistant", tool_calls: [{ ...call("a"), ...changed }] });

	const CASES: [name: string, messages: JsonObject[], findings: string[]][] = [
		["answered in any order", [user(), calls("a", "b"), tool("b"), tool("a"), user()], []],
		["that ends in a result", [user(), calls("a"), tool("a", "")], []],
		[
			"with an id used again in the next turn (qwen-code#8382)",
			[user(), calls("x"), tool("x"), calls("x"), tool("x")],
			[],
		],
		[
			"with a legacy call that nobody answers",
			[user(), { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } }, user()],
			[],
		],
		["with a legacy result", [user(), { role: "function", name: "f", content: null }], []],
		[
			"with a custom call",
			[user(), odd({ type: "custom", function: undefined, custom: { name: "sh", input: "ls" } }), tool("a")],
			[],
		],
		["of a developer's prompt alone", [{ role: "developer", content: "s" }], ["no_messages -"]],
		["with a call without its result", [user(), calls("a", "b"), tool("a"), user()], ["unanswered_call #1"]],
		["that ends in a call", [user(), calls("a")], ["unanswered_call #1"]],
		["with a result without its call (claude-code#14416)", [user(), tool("a")], ["orphan_result #1"]],
		["with a result behind a user", [calls("a"), user(), tool("a")], ["unanswered_call #0", "orphan_result #2"]],
		[
			"with a system message inside an exchange",
			[calls("a"), system, tool("a")],
			["unanswered_call #0", "orphan_result #2"],
		],
		["with a result given twice (agno#5116)", [calls("a"), tool("a"), tool("a")], ["answered_twice #2"]],
		["with two calls of one id (openclaw#93320)", [calls("a", "a"), tool("a")], ["repeated_call_id #0"]],
		["with an unknown role", [user(), { role: "critic", content: "x" }], ["unknown_role #1"]],
		["with no role", [user(), { content: "x" }], ["unknown_role #1"]],
		["with a result of null", [calls("a"), tool("a", null)], ["missing_content #1"]],
		["with a user who says nothing", [user([]), user(null)], ["missing_content #0", "missing_content #1"]],
		["with an assistant who says nothing", [user(), { role: "assistant", content: null }], ["missing_content #1"]],
		["with an assistant who refuses", [user(), { role: "assistant", content: null, refusal: "no" }], []],
		["with an empty list of calls", [user(), { role: "assistant", content: "x", tool_calls: [] }], ["empty_calls #1"]],
		[
			"with arguments that are no text",
			[odd({ function: { name: "f", arguments: {} } }), tool("a")],
			["arguments_no_text #0"],
		],
		["with a call without id", [odd({ id: "" })], ["missing_call_id #0"]],
		["with a call without name", [odd({ function: { arguments: "{}" } }), tool("a")], ["missing_call_name #0"]],
		["with a bare call", [odd({ function: undefined }), tool("a")], ["call_form #0"]],
		["with a result without id", [user(), { role: "tool", content: "r" }], ["missing_tool_call_id #1"]],
		["with a legacy result without name", [user(), { role: "function", content: "r" }], ["missing_function_name #1"]],
		["with half a character (claude-code#56064)", [user("a\ud83d")], ["lone_surrogate #0"]],
	];
	it.each(CASES)("%s", async (_name, messages, findings) => {
		expect(await found(OPENAI, messages)).toEqual(findings);
	});

	it("shows the call that is left open", async () => {
		const table = documentTable(openaiChatReader, [user(), calls("a", "b"), tool("a")]);
		const branch = await openaiChatContext.branch(table, WHOLE);
		const findings = await openaiChatCheck.whole({ table, branch, name: null, session: null });
		expect(findings).toEqual([
			{
				rule: "unanswered_call",
				severity: "refused",
				offset: 100,
				entry: "#1",
				message: 'No tool message directly behind it answers "b".',
			},
		]);
	});

	it("shows half a character in the smallest excerpt", () => {
		const [finding] = openaiChatCheck.record(user(`${"x".repeat(500)}\ud83d${"y".repeat(500)}`));
		expect(finding.message).toBe(`Half a character stands in "${"x".repeat(12)}\\ud83d${"y".repeat(11)}".`);
	});

	it("that cannot be read as a whole is refused", async () => {
		const table = documentTable(openaiChatReader, [user()]);
		table.damage.add("invalid_utf8", 1, 1, 0);
		table.damage.add("torn_tail", 99, 2, -1);
		const branch = await openaiChatContext.branch(table, WHOLE);
		const findings = await openaiChatCheck.whole({ table, branch, name: null, session: null });
		expect(findings.map(({ rule, message }) => [rule, message])).toEqual([
			["damaged", "The file does not read as a whole: torn_tail at byte 99."],
		]);
	});

	it("keeps a bounded number of findings", async () => {
		const table = documentTable(
			openaiChatReader,
			Array.from({ length: 3_000 }, () => tool("z")),
		);
		const branch = await openaiChatContext.branch(table, WHOLE);
		expect(await openaiChatCheck.whole({ table, branch, name: null, session: null })).toHaveLength(1_000);
	});
});

describe("an Anthropic messages array", () => {
	const text = (value: string): JsonObject => ({ type: "text", text: value });
	const use = (id: string): JsonObject => ({ type: "tool_use", id, name: "f", input: {} });
	const server = (id: string): JsonObject => ({ type: "server_tool_use", id, name: "web_search", input: {} });
	const answer = (id: string): JsonObject => ({ type: "web_search_tool_result", tool_use_id: id, content: [] });
	const result = (id: string): JsonObject => ({ type: "tool_result", tool_use_id: id, content: "r" });
	const thinking = (value: string): JsonObject => ({ type: "thinking", thinking: value, signature: "x" });
	const said = (...content: JsonObject[]): JsonObject => ({ role: "assistant", content });
	const system: JsonObject = { role: "system", content: "s" };

	const CASES: [name: string, messages: JsonObject[], findings: string[]][] = [
		["of neighbours of one role", [user(), user(), said(text("b")), said(text("c")), user()], []],
		[
			"with results in two messages of a turn",
			[user(), said(use("a"), use("b")), user([result("b")]), user([result("a"), text("x")])],
			[],
		],
		[
			"with a call and its text in two messages",
			[user(), said(text("x")), said(use("a")), system, user([result("a")])],
			[],
		],
		[
			"with a server's call and its result (claude-code#65098)",
			[user(), said(server("srvtoolu_1"), answer("srvtoolu_1"), text("x"))],
			[],
		],
		[
			"with a server's result in the next message of the turn",
			[user(), said(server("srvtoolu_1")), said(answer("srvtoolu_1"), text("x"))],
			[],
		],
		["that a paused turn ends", [user(), said(server("srvtoolu_1"))], []],
		["with thinking that its turn goes on behind", [user(), said(thinking("a")), said(text("b"))], []],
		[
			"with a server's call that nobody answers (claude-code#65098)",
			[user(), said(server("srvtoolu_1"), text("x")), user()],
			["unanswered_call #1"],
		],
		[
			"with a server's result without its call (claude-code#65098)",
			[user(), said(answer("srvtoolu_1"), text("x"))],
			["orphan_result #1"],
		],
		[
			"with a call that nobody answers",
			[user(), said(use("a"), use("b")), user([result("a")]), said(text("x"))],
			["unanswered_call #1"],
		],
		["that ends in a call", [user(), said(use("a"))], ["unanswered_call #1"]],
		[
			"with a result without its call (claude-code#14416)",
			[user(), said(text("x")), user([result("a")])],
			["orphan_result #2"],
		],
		[
			"with a result one turn late",
			[user(), said(use("a")), user(), said(text("x")), user([result("a")])],
			["unanswered_call #1", "orphan_result #4"],
		],
		["with a result given twice", [user(), said(use("a")), user([result("a"), result("a")])], ["answered_twice #2"]],
		[
			"with an id used in every turn (claude-code#20693)",
			[user(), said(use("a")), user([result("a")]), said(use("a")), user([result("a")])],
			["repeated_call_id #3"],
		],
		[
			"with words before a result (qwen-code#8161)",
			[user(), said(use("a")), user([text("x"), result("a")])],
			["results_not_first #2"],
		],
		[
			"with a user's message before a result",
			[user(), said(use("a")), user(), user([result("a")])],
			["results_not_first #3"],
		],
		[
			"with words between two messages of results",
			[user(), said(use("a"), use("b")), user([result("a"), text("x")]), user([result("b")])],
			["results_not_first #3"],
		],
		["that the assistant begins", [system, said(text("x")), user()], ["first_not_user #1"]],
		["with thinking at the end of a turn", [user(), said(text("x"), thinking("a")), user()], ["ends_in_thinking #1"]],
		["with thinking at its end", [user(), said(thinking("a"))], ["ends_in_thinking #1"]],
		["of a system prompt alone", [system], ["no_messages -"]],
		[
			"with empty text (claude-code#41729)",
			[user([text("")]), user([text("a"), text(" ")])],
			["empty_text #0", "empty_text #1"],
		],
		[
			"with empty text in a result",
			[user(), said(use("a")), user([{ ...result("a"), content: [text("")] }])],
			["empty_text #2"],
		],
		["with no content", [user(""), user([]), user(null)], ["empty_content #0", "empty_content #1", "empty_content #2"]],
		["with hollow thinking (claude-code#63147)", [user(), said(thinking(""), text("x"))], ["hollow_thinking #1"]],
		[
			"with thinking that nobody signed",
			[user(), said({ type: "thinking", thinking: "a" }, text("x"))],
			["unsigned_thinking #1"],
		],
		["with an unknown role", [user(), { role: "tool", content: "x" }], ["unknown_role #1"]],
		["with a call of the user", [user([use("a")])], ["misplaced_block #0"]],
		[
			"with a call without id, name and input",
			[user(), said({ type: "tool_use" })],
			["missing_call_id #1", "missing_call_name #1", "input_no_object #1"],
		],
		["with a result without id", [user(), user([{ type: "tool_result", content: "r" }])], ["missing_tool_use_id #1"]],
		["with blocks that are none", [user(["x", { text: "y" }])], ["block_form #0", "block_form #0"]],
		[
			"with half a character in an argument (claude-code#56064)",
			[user(), said({ ...use("a"), input: { "k\udc00": 1 } }), user([result("a")])],
			["lone_surrogate #1"],
		],
	];
	it.each(CASES)("%s", async (_name, messages, findings) => {
		expect(await found(ANTHROPIC, messages)).toEqual(findings);
	});
});
