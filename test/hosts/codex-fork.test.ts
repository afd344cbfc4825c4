/** The real Codex resumes forks: what it sends equals the session with blocks in place of ranges. How to run it: codex.test.ts. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEngine, type Engine } from "#src/index.js";
import { isObject, type JsonObject } from "#src/session/record.js";
import { compacted, item, rollback, turn, user, words } from "../formats/codex-lines.js";
import { type ForkOptions, forkFile, type TestFork, type TestRange } from "../helpers/fork.js";
import { CodexHost, type Ran, recordsOf } from "./codex/host.js";
import { compare, type Sent, wireTexts } from "./codex/prediction.js";
import { projected } from "./codex/projection.js";
import { run, say, think } from "./codex/server.js";

const bin = process.env.CODEX_BIN;

describe.skipIf(!bin)("forks in the real Codex (CODEX_BIN)", () => {
	let host: CodexHost;
	let engine: Engine;
	let id = "";
	let original: JsonObject[] = [];
	const folder = mkdtempSync(join(tmpdir(), "midcompact-forks-"));

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
		await host.resume(id, "fourth question", [
			{ items: [think("hm"), run("call_d", "echo delta")] },
			{ items: [say("fourth done")] },
		]);
		original = recordsOf(host.rollout(id));
	});

	afterAll(async () => {
		expect(host.server.others).toEqual([]);
		await host.stop();
		await engine.close();
		rmSync(folder, { recursive: true, force: true });
	});

	/** A session under a new id, made of the recorded one. */
	function variant(change: (lines: JsonObject[]) => JsonObject[]): string {
		const fresh = randomUUID();
		const lines = JSON.parse(JSON.stringify(original).replaceAll(id, fresh)) as JsonObject[];
		host.place(
			fresh,
			change(lines)
				.map((record, ordinal) => `${JSON.stringify({ ...record, ordinal })}\n`)
				.join(""),
		);
		return fresh;
	}

	async function resume(fork: TestFork, prompt = "next question"): Promise<Ran> {
		host.place(fork.id, fork.text());
		const ran = await host.resume(fork.id, prompt, [{ items: [say("ok")] }]);
		expect(ran.thread).toBe(fork.id);
		return ran;
	}

	/** The items of a request, a block's without the id that the fork gave it. */
	function withoutBlockIds(ran: Ran): Ran {
		return { ...ran, requests: ran.requests.map((request) => ({ ...request, input: request.input.map(blockless) })) };
	}

	async function forkAndResume(
		ranges: readonly TestRange[],
		paths: readonly string[],
		options: ForkOptions = {},
	): Promise<{ fork: TestFork; ran: Ran; sent: Sent[] }> {
		const sent = await projected(engine, ranges, paths, { scope: options.open?.scope, firstBlock: options.firstBlock });
		const fork = await forkFile(paths[paths.length - 1], ranges, { folder, ...options });
		const ran = withoutBlockIds(await resume(fork));
		return { fork, ran, sent };
	}

	/** Atoms of a session, each by its first words. */
	async function atomsOf(path: string, options: { scope?: "context" | "path" } = {}): Promise<string[]> {
		const session = await engine.open(path, { ...options, background: { tokens: false, index: false } });
		const { atoms } = session.survey;
		const texts = await session.survey.texts(
			Array.from({ length: atoms.length }, (_, atom) => atom),
			{ budget: 700, shape: "content" },
		);
		await session.close();
		return texts.map(({ text }) => text);
	}

	async function range(path: string, from: string, to: string, scope?: "context" | "path"): Promise<TestRange> {
		const atoms = await atomsOf(path, { scope });
		const at = (words: string) => {
			const found = atoms.findIndex((text) => text.includes(words));
			if (found < 0) throw new Error(`no atom with ${words}: ${atoms.join(" | ")}`);
			return found;
		};
		return { from: at(from), to: at(to), summary: `What happened from ${from} to ${to}.`, topic: "the middle" };
	}

	const kept = compacted([words("user", "kept one"), words("user", "kept two"), words("user", "kept three")]);
	const forks: [
		name: string,
		change: (lines: JsonObject[]) => JsonObject[],
		ranges: [string, string][],
		context?: number,
	][] = [
		["one turn", (x) => x, [["second question", "beta done"]], 0],
		["two turns", (x) => x, [["second question", "third done"]], 0],
		["the middle of a turn to the middle of another", (x) => x, [["beta1", "third question"]], 0],
		[
			"two ranges",
			(x) => x,
			[
				["I will look", "alpha done"],
				["beta1", "third done"],
			],
			0,
		],
		["the end", (x) => x, [["third question", "fourth done"]], 0],
		["everything that was said", (x) => x, [["first question", "fourth done"]], 0],
		["a reply and its reasoning", (x) => x, [["third done", "third done"]], 0],
		[
			"behind a compaction",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q d"), item(say("r d"))), ...turn("e", user("q e"))],
			[["q d", "r d"]],
		],
		[
			"inside a replacement history",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q d"), item(say("r d")))],
			[["kept two", "kept two"]],
		],
		[
			"out of a replacement history",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q d"), item(say("r d")))],
			[["kept two", "q d"]],
		],
		["with a rolled-back turn behind it", (x) => [...x, rollback(1)], [["second question", "beta done"]], 0],
		[
			"around a rolled-back turn",
			(x) => [...x, rollback(1), ...turn("e", user("q e"), item(say("r e")))],
			[["third question", "q e"]],
			0,
		],
		[
			"a compaction that a rollback undid",
			(x) => [...x, ...turn("c", kept), rollback(1)],
			[["second question", "beta done"]],
		],
		[
			"a rollback behind a compaction",
			(x) => [...x, ...turn("c", kept), ...turn("d", user("q d"), item(say("r d"))), rollback(1)],
			[["kept one", "kept one"]],
		],
		[
			"a compaction without replacement history",
			(x) => [...x, compacted(null, "The gist."), user("q d"), item(say("r d"))],
			[["second question", "second question"]],
		],
	];
	it.each(forks)("%s", async (_name, change, names, context) => {
		const path = host.rollout(variant(change));
		const ranges = [];
		for (const [from, to] of names) ranges.push(await range(path, from, to));
		const { ran, sent } = await forkAndResume(ranges, [path]);
		compare(ran, sent, context);
	});

	it("the same lines, without what the range held and without counts of tokens", async () => {
		const path = host.rollout(id);
		const replaced = { ...(await range(path, "second question", "beta done")), summary: "The gist." };
		const fork = await forkFile(path, [replaced], { folder });
		const lines = fork
			.text()
			.split("\n")
			.filter((line) => line !== "")
			.map((line) => JSON.parse(line) as JsonObject);
		expect(lines.map(({ ordinal }) => ordinal)).toEqual(lines.map((_line, at) => at));
		expect(/beta|token_count|token_usage/.exec(fork.text())?.[0]).toBeUndefined();
		expect(fork.text().replaceAll(path, "").indexOf(id)).toBe(-1);
		expect(lines[0]).toMatchObject({ midcompact: { parent: { path } }, payload: { id: fork.id, session_id: fork.id } });
		const kept = original.filter(({ type }) => type === "response_item").map(({ payload }) => JSON.stringify(payload));
		const items = lines.filter(({ type, midcompact }) => type === "response_item" && midcompact === undefined);
		expect(items.length).toBeGreaterThan(8);
		for (const { payload } of items) expect(kept).toContain(JSON.stringify(payload));
		const shown = lines.flatMap(({ type, payload }) =>
			type === "event_msg" && isObject(payload) && isObject(payload.item) ? [String(payload.item.type)] : [],
		);
		expect(shown.filter((type) => type === "UserMessage")).toHaveLength(4);
		expect(shown.filter((type) => type === "CommandExecution")).toHaveLength(2);
	});

	it("a second resume goes on behind the first", async () => {
		const path = host.rollout(id);
		const { fork, ran, sent } = await forkAndResume([await range(path, "second question", "beta done")], [path]);
		compare(ran, sent, 0);
		const again = withoutBlockIds(await host.resume(fork.id, "and again", [{ items: [say("ok")] }]));
		expect(again.thread).toBe(fork.id);
		const { input } = again.requests[0];
		expect(input.slice(1, sent.length)).toEqual(sent.slice(1).map((s) => s.item));
		expect(input.slice(sent.length).map((i) => wireTexts(i)[0])).toEqual(["next question", "ok", "and again"]);
	});

	it("the fork of a fork", async () => {
		const path = host.rollout(id);
		const first = await forkFile(path, [await range(path, "second question", "beta done")], { folder });
		const { ran, fork, sent } = await forkAndResume(
			[await range(first.path, "fourth question", "fourth done")],
			[first.path],
			{
				firstBlock: 2,
			},
		);
		const blocks = sent.map((s) => ({ ...s, item: blockless(s.item) }));
		expect(sent.filter((s) => s.texts[0].startsWith("[midcompact block "))).toHaveLength(2);
		compare(ran, blocks, 0);
		expect((await atomsOf(fork.path)).filter((text) => text.includes("[midcompact block "))).toHaveLength(2);
	});

	it("a native fork as the parent becomes one flat file that needs no other", async () => {
		const parent = await host.exec("parent question", [{ items: [say("parent answer")] }]);
		await host.resume(parent.thread, "more", [
			{ items: [run("call_m", "echo more"), think("x")] },
			{ items: [say("more done")] },
		]);
		const child = await host.fork(parent.thread, "child question", [{ items: [think("child"), say("child done")] }]);
		const paths = [host.rollout(parent.thread), host.rollout(child.thread)];
		const { ran, sent, fork } = await forkAndResume([await range(paths[1], "more", "more done")], paths);
		expect(sent.map((s) => s.texts[0])).toContain("parent question");
		expect(fork.text()).not.toContain("history_base");
		compare(ran, sent, 0);
	});

	it("from the originals of a session that Codex compacted itself", async () => {
		const small = ["-c", "model_auto_compact_token_limit=3000"];
		const first = await host.exec("early question", [{ items: [say("long")], input_tokens: 4000 }], small);
		await host.resume(
			first.thread,
			"later question",
			[{ items: [say("THE SUMMARY")] }, { items: [say("after")] }],
			small,
		);
		const path = host.rollout(first.thread);
		const ranges = [await range(path, "early question", "long", "path")];
		const { ran, sent, fork } = await forkAndResume(ranges, [path], { open: { scope: "path" } });
		expect(fork.text()).not.toContain("THE SUMMARY");
		compare(ran, sent);
		const context = await forkAndResume([await range(path, "after", "after")], [path]);
		expect(context.sent.some((s) => s.texts[0].endsWith("THE SUMMARY"))).toBe(true);
		compare(context.ran, context.sent, 0);
	});

	it("a change of model inside a range stays known", async () => {
		const other = ["-c", "model=other-model"];
		const first = await host.exec("q one", [{ items: [say("r one")] }]);
		for (const n of ["two", "three", "four"])
			await host.resume(first.thread, `q ${n}`, [{ items: [say(`r ${n}`)] }], other);
		const path = host.rollout(first.thread);
		for (const [from, to] of [
			["q one", "r two"],
			["q two", "r three"],
			["q two", "r four"],
			["r one", "r three"],
		]) {
			const ranges = [await range(path, from, to)];
			const sent = await projected(engine, ranges, [path]);
			const fork = await forkFile(path, ranges, { folder });
			host.place(fork.id, fork.text());
			const ran = withoutBlockIds(await host.resume(fork.id, "next question", [{ items: [say("ok")] }], other));
			expect(ran.requests[0].input.length - sent.length, `${from} to ${to}`).toBe(1);
			const texts = (items: string[]) => items.filter((text) => !text.startsWith("<model_switch>"));
			expect(texts(ran.requests[0].input.slice(1, -1).map((i) => wireTexts(i)[0]))).toEqual(
				texts(sent.slice(1).map((s) => s.texts[0])),
			);
		}
	});

	it("an old rollout without envelopes becomes one that Codex reads", async () => {
		const path = join(folder, "old.jsonl");
		const bare = [
			user("old question"),
			item(words("assistant", "old answer")),
			user("newer question"),
			item(words("assistant", "newer answer")),
		];
		const header = { id: randomUUID(), timestamp: "2025-08-01T10:00:00.000Z", instructions: null, git: {} };
		const lines = [header, { record_type: "state" }, ...bare.map(({ payload }) => payload)];
		writeFileSync(path, lines.map((record) => `${JSON.stringify(record)}\n`).join(""));
		const fork = await forkFile(path, [await range(path, "newer question", "newer question")], { folder });
		const ran = await resume(fork);
		expect(ran.requests[0].input.slice(1, 5).map((i) => wireTexts(i)[0])).toEqual([
			"old question",
			"old answer",
			"[midcompact block c0001: the middle]\nWhat happened from newer question to newer question.",
			"newer answer",
		]);
	});

	it("texts that Codex or the API would not take are mended", async () => {
		const path = host.rollout(
			variant((x) => [
				...x,
				...turn(
					"e",
					user("half \ud83d of a pair"),
					user(""),
					item({ type: "message", role: "assistant", content: "one string" }),
				),
			]),
		);
		const fork = await forkFile(
			path,
			[{ ...(await range(path, "second question", "beta done")), summary: "half \ude00" }],
			{ folder },
		);
		const ran = await resume(fork);
		const texts = ran.requests[0].input.map((i) => wireTexts(i)[0]);
		expect(texts).toContain("one string");
		expect(texts).toContain("[midcompact block c0001: the middle]\nhalf \ufffd");
		expect(texts).not.toContain("");
	});
});

/** A block's item, as a fork keeps it, without the id that it was given. */
function blockless(sent: JsonObject): JsonObject {
	const { id: _own, ...rest } = sent;
	return wireTexts(sent)[0]?.startsWith("[midcompact block ") ? rest : sent;
}
