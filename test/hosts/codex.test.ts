/**
 * The real Codex against this format's reader: what Codex sends after a resume equals what reader and context make of the rollout file.
 *
 *     npm i --ignore-scripts --prefix SCRATCH @openai/codex@0.171.0
 *     CODEX_BIN=SCRATCH/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex npx vitest run test/hosts/codex.test.ts
 *
 * Where the system allows it, run this inside `unshare -r -n sh -c 'ip link set lo up; …'`: then nothing but loopback exists.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEngine, type Engine } from "#src/index.js";
import { isObject, type JsonObject } from "#src/session/record.js";
import {
	build,
	compacted,
	developer,
	item,
	line,
	rollback,
	SUMMARY_PREFIX,
	turn,
	user,
	words,
} from "../formats/codex-lines.js";
import { CodexHost, type Ran, recordsOf } from "./codex/host.js";
import { CONTEXT_TEXTS, TURN_TEXTS } from "./codex/host-texts.js";
import { compare, predicted, type Sent, wireTexts } from "./codex/prediction.js";
import { run, say, think } from "./codex/server.js";

/** How Codex names the agent that a session belongs to; others stand below it. */
const MAIN_AGENT = "/root";

const bin = process.env.CODEX_BIN;

const uuid7 = (): string => {
	const time = Date.now().toString(16).padStart(12, "0");
	return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
};

describe.skipIf(!bin)("real Codex (CODEX_BIN)", () => {
	let host: CodexHost;
	let engine: Engine;
	let id = "";
	/** The session that Codex itself wrote: three turns with calls, parallel calls and reasoning. */
	let original: JsonObject[] = [];

	beforeAll(async () => {
		engine = createEngine({ threads: 2 });
		host = await CodexHost.start(bin ?? "");
		const first = await host.exec("first question", [
			{ items: [say("I will look."), run("call_a", "echo alpha")] },
			{ items: [say("alpha done")] },
		]);
		expect(first.code, first.stderr).toBe(0);
		id = first.thread;
		await host.resume(id, "second question", [
			{ items: [think("what is beta"), run("call_b1", "echo beta1"), run("call_b2", "echo beta2")] },
			{ items: [think(""), say("one more"), run("call_b3", "echo beta3")] },
			{ items: [say("beta done")] },
		]);
		await host.resume(id, "third question", [{ items: [think("easy"), say("third done")] }]);
		original = recordsOf(host.rollout(id));
	});

	afterAll(async () => {
		expect(host.server.others).toEqual([]);
		await host.stop();
		await engine.close();
	});

	/** Writes a fork under a new id and lets Codex resume it. */
	async function resumeFork(change: (lines: JsonObject[]) => JsonObject[]): Promise<{ ran: Ran; sent: Sent[] }> {
		const fork = uuid7();
		const lines = JSON.parse(JSON.stringify(original).replaceAll(id, fork)) as JsonObject[];
		const text = change(lines)
			.map(
				(record, ordinal) =>
					`${JSON.stringify({ ...record, ordinal: record.ordinal === "broken" ? "broken" : ordinal })}\n`,
			)
			.join("");
		host.place(fork, text);
		const sent = await predicted(engine, host.rollout(fork));
		const ran = await host.resume(fork, "next question", [{ items: [say("ok")] }]);
		expect(ran.thread).toBe(fork);
		return { ran, sent };
	}

	it("a session that Codex wrote reads back as what Codex sends on", async () => {
		const sent = await predicted(engine, host.rollout(id));
		expect(sent.map((s) => s.item.type).filter((type) => type !== "message")).toEqual([
			"function_call",
			"function_call_output",
			"reasoning",
			"function_call",
			"function_call",
			"function_call_output",
			"function_call_output",
			"reasoning",
			"function_call",
			"function_call_output",
			"reasoning",
		]);
		compare(await host.resume(id, "next question", [{ items: [say("ok")] }]), sent, 0);
	});

	it("its messages are runs: reasoning, words and calls of one reply together", async () => {
		const { branch, table } = await build(original);
		const roles = Array.from({ length: branch.messages.length }, (_, m) => branch.messages.roleOf(m));
		expect(roles.join(" ")).toBe(
			"system system user user assistant tool_result assistant user assistant tool_result tool_result assistant tool_result assistant user assistant",
		);
		expect(table.callRow.length).toBe(4);
		expect(branch.usage?.usage).toMatchObject({ input: 100, output: 10, window: 258400 });
	});

	const context = (text: string): JsonObject => user(`<environment_context>\n${text}\n</environment_context>`);
	const summary = words("user", `${SUMMARY_PREFIX}\nThe gist.`);
	const kept = compacted([words("user", "kept"), summary]);
	const textOf = (record: JsonObject): string => (isObject(record.payload) ? wireTexts(record.payload).join() : "");
	const unstamped = (record: JsonObject): JsonObject => {
		const { timestamp: _gone, ...rest } = record;
		return rest;
	};
	const middleReplaced = (lines: JsonObject[]): JsonObject[] => {
		const from = lines.findIndex((l) => l.type === "response_item" && textOf(l) === "second question");
		const to = lines.findIndex((l) => l.type === "response_item" && textOf(l) === "beta done");
		const block = user("[midcompact block c0001]\nThe second question was answered.");
		return [...lines.slice(0, from), { ...block, midcompact: { block: "c0001" } }, ...lines.slice(to + 1)];
	};

	const forks: [name: string, change: (lines: JsonObject[]) => JsonObject[]][] = [
		["as it is", (x) => x],
		["the middle turn replaced by a block", middleReplaced],
		["a compaction with its replacement history", (x) => [...x, kept]],
		["a compaction, then a turn", (x) => [...x, ...turn("c", kept), ...turn("d", user("q"), item(say("r")))]],
		[
			"a replacement history of many kinds",
			(x) => [
				...x,
				compacted([
					words("developer", "rules"),
					words("user", "u"),
					{ ...think("t"), content: null },
					run("call_k", "ls"),
					{ type: "function_call_output", call_id: "call_k", output: "out" },
					words("assistant", "a"),
					{ type: "compaction", encrypted_content: "E" },
				]),
			],
		],
		[
			"two compactions",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q")), compacted([words("user", "second")])],
		],
		["an empty replacement history, then words", (x) => [...x, compacted([]), user("after")]],
		["a rollback", (x) => [...x, rollback(1)]],
		["two rollbacks", (x) => [...x, rollback(1), rollback(1)]],
		[
			"a rollback of context, too",
			(x) => [
				...x,
				developer("<permissions instructions>p"),
				context("y"),
				...turn("d", user("q"), item(say("r"))),
				rollback(1),
			],
		],
		["a rollback that undoes a compaction", (x) => [...x, ...turn("c", kept), rollback(1)]],
		[
			"a rollback after a compaction",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q"), item(say("r"))), rollback(1)],
		],
		[
			"a rollback over a compaction",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q"), item(say("r"))), rollback(2)],
		],
		[
			"a rollback of a turn with a compaction inside",
			(x) => [...x, ...turn("d", user("q"), kept, item(say("r"))), rollback(1)],
		],
		[
			"the same, with a second prompt behind it",
			(x) => [...x, ...turn("d", user("q"), kept, user("q2"), item(say("r"))), rollback(1)],
		],
		[
			"a compaction newer than a rollback",
			(x) => [...x, rollback(1), ...turn("c", kept), ...turn("d", user("q")), rollback(1), ...turn("e", user("q2"))],
		],
		[
			"other kinds of items",
			(x) => [
				...x,
				item({
					type: "agent_message",
					author: MAIN_AGENT,
					recipient: `${MAIN_AGENT}/a`,
					content: [{ type: "input_text", text: "go" }],
				}),
				item({ type: "compaction", encrypted_content: "E" }),
				item({ type: "custom_tool_call", call_id: "call_p", name: "apply_patch", input: "*** Begin" }),
				item({
					type: "custom_tool_call_output",
					call_id: "call_p",
					output: [
						{ type: "input_text", text: "a" },
						{ type: "input_text", text: "b" },
					],
				}),
			],
		],
		[
			"items that are never sent",
			(x) => [
				...x,
				item({ type: "ghost_snapshot", ghost_commit: { id: "a" } }),
				item(words("system", "s")),
				item({ type: "martian" }),
				item({ type: "compaction_trigger" }),
				item({ type: "configuration_update", reasoning: { effort: "high" } }),
			],
		],
		[
			"lines that Codex drops",
			(x) => [
				...x,
				unstamped(user("lost")),
				{ ...user("lost"), ordinal: "broken" },
				user("lost \ud800"),
				unstamped(kept),
				user("there"),
			],
		],
		[
			"an output before its call, a pair twice, empty texts",
			(x) => {
				const at = (id: string, type: string): number =>
					x.findIndex((l) => isObject(l.payload) && l.payload.call_id === id && l.payload.type === type);
				const asked = at("call_a", "function_call");
				const answered = at("call_a", "function_call_output");
				const swapped = x.with(asked, x[answered]).with(answered, x[asked]);
				const pair = [x[at("call_b3", "function_call")], x[at("call_b3", "function_call_output")]];
				return [...swapped, ...pair, user(""), item({ type: "message", role: "user", content: [] }), item(say(""))];
			},
		],
		[
			"no events and no metadata",
			(x) => x.filter((l) => l.type !== "event_msg").map(({ metadata: _gone, ...rest }) => rest),
		],
	];
	it.each(forks)("a fork: %s", async (_name, change) => {
		const { ran, sent } = await resumeFork(change);
		compare(ran, sent);
	});

	// Codex writes these items anew, without ids: their texts are compared.
	const rewritten: [name: string, change: (lines: JsonObject[]) => JsonObject[], texts: string[]][] = [
		[
			"a compaction without replacement history",
			(x) => [...x, context("y"), developer("rules"), compacted(null, "The gist."), item(say("after"))],
			["first question", "second question", "third question", "The gist.", "after"],
		],
		[
			"the same without a summary",
			(x) => [...x, compacted(null, "")],
			["first question", "second question", "third question", "(no summary available)"],
		],
		[
			"older summaries and agents' messages are not kept by it",
			(x) => [
				...x,
				compacted([words("user", "kept"), summary]),
				item({
					type: "agent_message",
					author: MAIN_AGENT,
					recipient: `${MAIN_AGENT}/a`,
					content: [{ type: "input_text", text: "go" }],
				}),
				compacted(null, "The gist."),
			],
			["kept", "The gist."],
		],
		[
			"nor texts that Codex takes for context",
			(x) => [...x, ...CONTEXT_TEXTS.map(user), ...TURN_TEXTS.map(user), compacted(null, "The gist.")],
			["first question", "second question", "third question", ...TURN_TEXTS, "The gist."],
		],
		[
			"an agent's message on a line of its own kind",
			(x) => [
				...x,
				compacted([words("user", "kept")]),
				line("inter_agent_communication", {
					author: MAIN_AGENT,
					recipient: `${MAIN_AGENT}/a`,
					other_recipients: [],
					content: "go",
					trigger_turn: true,
				}),
			],
			["kept", "go"],
		],
	];
	it.each(rewritten)("a fork, by its texts: %s", async (_name, change, texts) => {
		const { ran, sent } = await resumeFork(change);
		const [, ...history] = sent;
		expect(history.map((s) => s.texts)).toEqual(texts.map((text) => [text]));
		expect(ran.requests[0].input.slice(1, texts.length + 1).map(wireTexts)).toEqual(texts.map((text) => [text]));
	});

	it("a compaction that Codex made itself, and the summary reply it left among the originals", async () => {
		const small = ["-c", "model_auto_compact_token_limit=3000"];
		const first = await host.exec("first question", [{ items: [say("long")], input_tokens: 4000 }], small);
		await host.resume(
			first.thread,
			"second question",
			[{ items: [think("sum up"), say("THE SUMMARY")] }, { items: [say("after")] }],
			small,
		);
		const records = recordsOf(host.rollout(first.thread));
		const sent = await predicted(engine, host.rollout(first.thread));
		const { shown, branch } = await build(records);
		expect(shown.filter((s) => s.startsWith("summary: "))).toEqual([`summary: ${SUMMARY_PREFIX}\nTHE SUMMARY`]);
		expect(branch.usage?.usage).toMatchObject({ input: 100, output: 10 });
		const path = (await build(records, { scope: "path" })).shown.filter(
			(s) => !s.startsWith("system: ") && !s.includes("environment_context"),
		);
		expect(path).toEqual(["user: first question", "assistant: long", "user: second question", "assistant: after"]);
		compare(await host.resume(first.thread, "next question", [{ items: [say("ok")] }]), sent, 0);
	});

	it("Codex's own fork goes on in the parent's file up to the byte that its header names", async () => {
		const forked = await host.fork(id, "fork question", [{ items: [think("child"), say("fork done")] }]);
		expect(forked.code, forked.stderr).toBe(0);
		const sent = await predicted(engine, host.rollout(id), host.rollout(forked.thread));
		expect(sent.filter((s) => s.texts.includes("first question"))).toHaveLength(1);
		expect(sent.at(-1)?.texts).toEqual(["fork done"]);
		compare(await host.resume(forked.thread, "next question", [{ items: [say("ok")] }]), sent, 0);
	});

	it("base instructions other than the stock ones are sent as they are stored", async () => {
		const { ran, sent } = await resumeFork((x) => [
			{ ...x[0], payload: { ...(x[0].payload as JsonObject), base_instructions: { text: "CUSTOM BASE" } } },
			...x.slice(1),
		]);
		expect(wireTexts(ran.requests[0].input[0])).toEqual(["CUSTOM BASE"]);
		compare(ran, sent);
	});
});
