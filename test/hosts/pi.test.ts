/**
 * Our list against the list that a real Pi hands to its model. Needs `PI_NODE` (a Node of version 22.19 or later) and `PI_CLI` (`dist/bundle/cli.js` of
 * `@earendil-works/pi-coding-agent` 1.6.0); skips without them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEngine, type Engine } from "#src/index.js";
import type { JsonObject } from "#src/session/record.js";
import { view } from "../formats/pi/view.js";
import { type Capture, type Compared, readCaptures } from "./pi/captures.js";
import { type FakeModel, startFakeModel } from "./pi/fake-model.js";
import { makePiHome, type PiHome } from "./pi/home.js";
import { type Pi, startPi } from "./pi/rpc.js";

const { PI_NODE, PI_CLI } = process.env;
const EXTENSION = fileURLToPath(new URL("./pi/ext", import.meta.url));
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** What the session went through, and what Pi said of its usage on the way. */
interface Run {
	file: string;
	records: JsonObject[];
	captures: Capture[];
	/** Id of the last entry and tokens that Pi reported, at rest. */
	usage: { leaf: string; tokens: number | null }[];
}

const recordsOf = (file: string) =>
	readFileSync(file, "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as JsonObject);

async function drive(pi: Pi, model: FakeModel, home: PiHome, captures: string): Promise<Run> {
	const usage: Run["usage"] = [];
	const say = async (prompt: string, ...replies: Parameters<FakeModel["say"]>) => {
		model.say(...replies);
		await pi.prompt(prompt);
	};
	const fileOf = async () => (await pi.command("get_state")).data?.sessionFile ?? "";
	const noteUsage = async () => {
		const { data } = await pi.command("get_session_stats");
		const leaf = String(recordsOf(await fileOf()).at(-1)?.id);
		usage.push({ leaf, tokens: data?.contextUsage?.tokens ?? null });
	};

	await say(
		"one",
		{
			thinking: "which files?",
			calls: [
				{ id: "call-1", name: "read", arguments: { path: "f.txt" } },
				{ id: "call-2", name: "bash", arguments: { command: "echo hi; exit 3" } },
				{ id: "call-3", name: "read", arguments: { path: "p.png" } },
				{ id: "call-4", name: "mark", arguments: {} },
			],
		},
		{ text: "reply-one" },
	);
	await say("two with a note", { text: "reply-two", usage: [321, 12] });
	await noteUsage();
	await pi.command("bash", { command: "echo direct" });
	await pi.command("bash", { command: "echo secret", excludeFromContext: true });
	await pi.prompt("/c:message a message of an extension");
	await pi.prompt("/c:entry state");
	await pi.prompt("/c:edit user one EDITED FIRST PROMPT");
	await pi.prompt("/c:edit toolResult file-text EDITED RESULT");
	await pi.prompt("/c:edit assistant reply-two drop");
	await say("three", { text: `reply-three ${"x".repeat(400)}` });
	await say("four", { text: `reply-four ${"y".repeat(400)}` });
	await pi.prompt("/c:edit assistant call-1 EDITED AWAY");
	await say("four and a half", { text: "reply-half" });
	await pi.command("set_auto_retry", { enabled: false });
	await say("five", { status: 400 });
	await say("six", { text: "reply-six" });
	model.say({ text: "COMPACTED" }, { text: "COMPACTED TURN" });
	await pi.command("compact");
	await noteUsage();
	await say("seven", { text: "reply-seven", usage: [234, 5] });
	await noteUsage();
	model.say({ text: "BRANCH SUMMARISED" });
	await pi.prompt("/c:back assistant reply-four");
	await say("eight", { text: "reply-eight" });
	model.say(
		{ calls: [{ id: "call-5", name: "bash", arguments: { command: "sleep 0.3" } }] },
		{ text: "reply-nine" },
		{ text: "reply-ten" },
	);
	const { settled } = await pi.start("nine");
	await pi.command("steer", { message: "steered" });
	await pi.command("follow_up", { message: "followed" });
	await settled;
	model.say({ text: "COMPACTED AGAIN" }, { text: "COMPACTED TURN" });
	await pi.command("compact");
	await say("ten", { text: "reply-last" });

	const file = await fileOf();
	expect(await pi.close()).toBe(0);
	return { file, records: recordsOf(file), captures: readCaptures(join(home.root, captures)), usage };
}

describe.skipIf(!PI_NODE || !PI_CLI)("a session that the real Pi wrote", () => {
	let model: FakeModel;
	let home: PiHome;
	let pi: Pi;
	let engine: Engine;
	let run: Run;

	beforeAll(async () => {
		model = await startFakeModel();
		home = makePiHome(model.baseUrl);
		engine = createEngine({ threads: 1 });
		writeFileSync(join(home.cwd, "f.txt"), "file-text\n");
		writeFileSync(join(home.cwd, "p.png"), Buffer.from(PNG, "base64"));
		pi = startPi(PI_NODE ?? "", PI_CLI ?? "", {
			cwd: home.cwd,
			env: { ...home.env, CAPTURE_FILE: join(home.root, "captures.jsonl") },
			args: ["-e", EXTENSION, "--model", "fake/fake-1"],
		});
		run = await drive(pi, model, home, "captures.jsonl");
	}, 120_000);

	afterAll(async () => {
		pi?.kill();
		await Promise.all([model?.close(), engine?.close()]);
		home?.remove();
	});

	it("holds every kind of entry that changes the context", () => {
		const kinds = new Set(
			run.records.map((r) => [r.type, (r.message as JsonObject | undefined)?.role].filter(Boolean).join(":")),
		);
		expect([...kinds].sort()).toEqual([
			"branch_summary",
			"compaction",
			"context_edit",
			"custom",
			"custom_message",
			"message:assistant",
			"message:bashExecution",
			"message:system",
			"message:toolResult",
			"message:user",
			"model_change",
			"session",
			"thinking_level_change",
		]);
		expect(run.captures.length).toBeGreaterThanOrEqual(14);
	});

	it("gives the list that Pi's context hook saw, at every request", async () => {
		for (const { leaf, list } of run.captures) {
			const ours = (await view(run.records, { leaf })).list.filter((m) => m.role !== "system");
			const plain = ours.map(({ entry: _entry, ...rest }): Compared => rest);
			expect(plain, `at ${leaf}`).toEqual(list);
		}
		const told = run.captures.flatMap(({ list }) => list);
		const texts = told.flatMap((m) => m.texts).join("\n");
		for (const word of [
			"which files?",
			"A NOTE BESIDE THE PROMPT",
			"a message of an extension",
			"COMPACTED",
			"BRANCH SUMMARISED",
			"EDITED FIRST PROMPT",
			"EDITED RESULT",
			"EDITED AWAY",
			"steered",
			"followed",
		]) {
			expect(texts).toContain(word);
		}
		expect(told.some((m) => m.images === 1)).toBe(true);
		expect(new Set(told.filter((m) => !m.sent).map((m) => m.role))).toEqual(new Set(["assistant", "bash"]));
	});

	it("is counted alike through the library", async () => {
		for (const { leaf, list } of run.captures) {
			const session = await engine.open(run.file, { leaf, background: { tokens: false, index: false } });
			const reply = await session.request({ request: { action: "inspect" } });
			await session.close();
			expect(reply).toMatchObject({
				ok: true,
				data: { anchor: { entry: leaf, format: "pi" }, totals: { messages: list.length }, damage: { count: 0 } },
			});
		}
	});

	it("tells the usage that Pi tells while nothing came after the last reply", async () => {
		expect(run.usage.map(({ tokens }) => tokens)).toEqual([333, null, 239]);
		for (const { leaf, tokens } of run.usage) {
			const { usage } = (await view(run.records, { leaf })).branch;
			const sum = usage && usage.usage.input + usage.usage.output + usage.usage.cacheRead + usage.usage.cacheWrite;
			expect(sum).toBe(tokens);
		}
	});
});
