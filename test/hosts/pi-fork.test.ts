/** The real Pi goes on with forks: what it sends equals the session with blocks in place of ranges. How to run it: pi.test.ts. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "#src/session/record.js";
import { openAtoms, recordsOf } from "../formats/pi/forks.js";
import { openShared } from "../helpers/engine.js";
import { type ForkOptions, forkFile, type TestRange, testBlockText } from "../helpers/fork.js";
import { type FakeModel, startFakeModel, type WireMessage } from "./pi/fake-model.js";
import { makePiHome, type PiHome } from "./pi/home.js";
import { startPi } from "./pi/rpc.js";

const { PI_NODE, PI_CLI } = process.env;
const EXTENSION = fileURLToPath(new URL("./pi/ext", import.meta.url));
const shared = fileURLToPath(new URL("../../../shared/sessions/pi/", import.meta.url));
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const NEXT = "and what is next?";

describe.skipIf(!PI_NODE || !PI_CLI)("forks in the real Pi (PI_NODE, PI_CLI)", () => {
	let model: FakeModel;
	let home: PiHome;
	let copies = 0;
	/** The session as it was at some moments. */
	const stages: Record<string, string> = {};

	const start = (args: string[] = []) =>
		startPi(PI_NODE ?? "", PI_CLI ?? "", {
			cwd: home.cwd,
			env: { ...home.env, CAPTURE_FILE: join(home.root, "captures.jsonl") },
			args: ["-e", EXTENSION, "--model", "fake/fake-1", ...args],
		});

	beforeAll(async () => {
		model = await startFakeModel();
		home = makePiHome(model.baseUrl);
		writeFileSync(join(home.cwd, "f.txt"), "file-text\n");
		writeFileSync(join(home.cwd, "p.png"), Buffer.from(PNG, "base64"));
		const pi = start();
		const say = async (prompt: string, ...replies: Parameters<FakeModel["say"]>) => {
			model.say(...replies);
			await pi.prompt(prompt);
		};
		const keep = async (stage: string) => {
			stages[stage] = join(home.root, `${stage}.jsonl`);
			copyFileSync((await pi.command("get_state")).data?.sessionFile ?? "", stages[stage]);
		};
		try {
			await say(
				"prompt one",
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
			await say("prompt two with a note", { text: "reply-two" });
			await pi.command("bash", { command: "echo direct" });
			await pi.command("bash", { command: "echo secret", excludeFromContext: true });
			await pi.prompt("/c:message a message of an extension");
			await pi.prompt("/c:edit user one EDITED PROMPT");
			await pi.prompt("/c:edit toolResult file-text EDITED RESULT");
			await pi.prompt("/c:edit assistant reply-two drop");
			await say("prompt three", { text: "reply-three" });
			await pi.command("set_auto_retry", { enabled: false });
			await say("prompt four", { status: 400 });
			await say("prompt five", { text: "reply-five", usage: [19_500, 20] });
			await keep("plain");
			await say(
				"prompt six",
				{ thinking: "again", calls: [{ id: "call-5", name: "bash", arguments: { command: "echo five" } }] },
				{ text: "reply-six" },
			);
			model.say({ text: "COMPACTED" });
			await pi.command("compact");
			await say("prompt seven", { text: "reply-seven" });
			await say("prompt eight", { text: "reply-eight" });
			await keep("compacted");
			model.say({ text: "BRANCH SUMMARISED" });
			await pi.prompt("/c:back assistant reply-seven");
			await say("prompt nine", { text: "reply-nine" });
			await keep("branched");
			expect(await pi.close()).toBe(0);
		} finally {
			pi.kill();
		}
	}, 120_000);

	afterAll(async () => {
		await model?.close();
		home?.remove();
	});

	/** What Pi sends when somebody goes on with a file, and what the file holds then. The file itself stays as it is. */
	async function goOn(
		file: string,
		autoCompaction = false,
	): Promise<{ requests: WireMessage[][]; after: JsonObject[] }> {
		const copy = join(home.root, `copy-${copies++}.jsonl`);
		copyFileSync(file, copy);
		const before = model.requests.length;
		const pi = start(["--session", copy]);
		try {
			await pi.command("set_auto_compaction", { enabled: autoCompaction });
			await pi.prompt(NEXT);
			expect(await pi.close()).toBe(0);
		} finally {
			pi.kill();
		}
		return { requests: model.requests.slice(before), after: recordsOf(copy) };
	}

	async function range(file: string, from: string, to: string, scope?: "context" | "path"): Promise<TestRange> {
		const texts = (await openAtoms(file, scope)).atoms.map(({ text }) => text);
		const at = (words: string) => {
			const found = texts.findIndex((text) => text.includes(words));
			if (found < 0) throw new Error(`no atom with ${words}: ${texts.join(" | ")}`);
			return found;
		};
		return { from: at(from), to: at(to), summary: `What happened from ${from} to ${to}.`, topic: "the middle" };
	}

	/** The request of the session itself, blocks in place of the messages of each range. */
	async function projected(file: string, ranges: readonly TestRange[], firstBlock = 1): Promise<WireMessage[]> {
		const { requests } = await goOn(file);
		expect(requests).toHaveLength(1);
		const [sent] = requests;
		const rest = sent.filter(({ role }) => role !== "system" && role !== "developer");
		const records = recordsOf(file);
		const recordOf = (id: string) =>
			records.find((record, n) => record.id === id || (record.id === undefined && id === `#${n}`)) ?? {};
		const list = sent.slice(0, sent.length - rest.length);
		let at = 0;
		(await openAtoms(file)).entries.forEach((ids, atom) => {
			const images = ids.some((id) => sendsImage(recordOf(id))) ? 1 : 0;
			const count = ids.filter((id) => isSent(recordOf(id))).length + images;
			const found = ranges.findIndex(({ from, to }) => from <= atom && atom <= to);
			if (found < 0) list.push(...rest.slice(at, at + count));
			else if (ranges[found].from === atom) {
				const text = testBlockText(`c000${firstBlock + found}`, ranges[found]);
				list.push({ role: "user", content: [{ type: "text", text }] });
			}
			at += count;
		});
		// All that is left is the new prompt.
		expect(rest.slice(at)).toEqual([{ role: "user", content: [{ type: "text", text: NEXT }] }]);
		return [...list, ...rest.slice(at)];
	}

	async function expectSent(file: string, ranges: readonly TestRange[], options: ForkOptions = {}): Promise<string> {
		const original = readFileSync(file);
		const fork = await forkFile(file, ranges, options);
		expect(readFileSync(file).equals(original)).toBe(true);
		const { requests, after } = await goOn(fork.path);
		expect(requests).toHaveLength(1);
		expect(requests[0]).toEqual(await projected(file, ranges, options.firstBlock));
		// Pi left what was written as it is, and wrote behind it.
		const written = recordsOf(fork.path);
		expect(after.slice(0, written.length)).toEqual(written);
		expect((await openAtoms(fork.path)).report.findings.filter(({ severity }) => severity === "refused")).toEqual([]);
		return fork.path;
	}

	it("of a session with parallel calls, images, shell commands, notes, edits and a failed reply", async () => {
		const file = stages.plain;
		await expectSent(file, [await range(file, "which files?", "which files?")]);
		await expectSent(file, [await range(file, "EDITED PROMPT", "reply-one")]);
		await expectSent(file, [
			await range(file, "echo direct", "echo secret"),
			await range(file, "prompt three", "prompt five"),
		]);
		await expectSent(file, [await range(file, "prompt four", "reply-five")]);
	}, 120_000);

	it("of a compacted session, from what was kept to what came after", async () => {
		const file = stages.compacted;
		const kept = await range(file, "prompt five", "prompt five");
		const later = await range(file, "prompt seven", "prompt seven");
		// The summary leads; what was kept stands between it and the first prompt behind the compaction.
		expect(kept.from).toBeGreaterThan(0);
		expect(later.from).toBeGreaterThan(kept.from);
		await expectSent(file, [await range(file, "prompt five", "prompt seven")]);
		await expectSent(file, [
			await range(file, "prompt three", "reply-three"),
			await range(file, "echo five", "reply-seven"),
		]);
		await expectSent(file, [await range(file, "reply-seven", "prompt eight")]);
	}, 120_000);

	it("of a branched session, around the branch's summary", async () => {
		const file = stages.branched;
		await expectSent(file, [
			await range(file, "reply-seven", "reply-seven"),
			await range(file, "prompt nine", "reply-nine"),
		]);
	}, 60_000);

	it("from the originals, without the compaction", async () => {
		const file = stages.compacted;
		const fork = await forkFile(file, [await range(file, "prompt three", "prompt seven", "path")], {
			open: { scope: "path" },
		});
		const { requests } = await goOn(fork.path);
		expect(requests).toHaveLength(1);
		const sent = JSON.stringify(requests[0]);
		for (const words of ["EDITED PROMPT", "EDITED RESULT", "What happened from", "reply-seven", "reply-eight"])
			expect(sent).toContain(words);
		for (const words of ["COMPACTED", "reply-three", "reply-five", "call-5"]) expect(sent).not.toContain(words);
	}, 60_000);

	it("of a fork", async () => {
		const first = await expectSent(stages.plain, [await range(stages.plain, "EDITED PROMPT", "reply-one")]);
		await expectSent(first, [await range(first, "prompt three", "reply-three")], { firstBlock: 2 });
	}, 60_000);

	it.skipIf(!existsSync(shared))(
		"of real sessions, of version 1 too",
		async () => {
			const folder = join(home.root);
			for (const [name, span] of [
				["v3-small.jsonl", [1, 1]],
				["v1-large-session.jsonl", [20, 200]],
			] as const) {
				const file = join(folder, name);
				// Their working folder is not on this machine.
				const [header, ...rest] = readFileSync(join(shared, name), "utf8").split("\n");
				writeFileSync(file, [JSON.stringify({ ...JSON.parse(header), cwd: home.cwd }), ...rest].join("\n"));
				await expectSent(file, [{ from: span[0], to: span[1], summary: "much" }]);
			}
		},
		120_000,
	);

	it("find the atoms of a version 1 file again that Pi wrote anew with ids of its own", async () => {
		const file = join(home.root, "old.jsonl");
		const lines = recordsOf(stages.compacted)
			.filter(({ type }) => type !== "context_edit")
			.map(({ id, parentId: _parent, version: _version, firstKeptEntryId: _kept, ...rest }) => {
				if (rest.type === "session") return { ...rest, id };
				return rest.type === "compaction" ? { ...rest, firstKeptEntryIndex: 10 } : rest;
			});
		writeFileSync(file, lines.map((record) => `${JSON.stringify(record)}\n`).join(""));
		const before = await hashesOf(file);
		const pi = start(["--session", file]);
		await pi.command("get_state");
		expect(await pi.close()).toBe(0);
		expect(recordsOf(file)[0]).toMatchObject({ version: 3 });
		expect(await hashesOf(file)).toEqual(before);
		expect(new Set(before).size).toBeGreaterThan(5);
	}, 60_000);

	/** The session up to its last reply, which says something else of itself. */
	function ending(name: string, change: (reply: JsonObject) => JsonObject): string {
		const records = recordsOf(stages.plain);
		const last = records.findLastIndex(({ message }) => isObject(message) && message.role === "assistant");
		const file = join(home.root, `${name}.jsonl`);
		const { message } = records[last];
		const lines = [...records.slice(0, last), { ...records[last], message: change(message as JsonObject) }];
		writeFileSync(file, lines.map((record) => `${JSON.stringify(record)}\n`).join(""));
		return file;
	}
	const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: {} };
	const endings: [name: string, change: (reply: JsonObject) => JsonObject][] = [
		["was near the window", (reply) => reply],
		[
			"failed because the context was too large",
			(reply) => ({
				...reply,
				content: [],
				usage: zero,
				stopReason: "error",
				errorMessage: "prompt is too long: 213462 tokens > 200000 maximum",
			}),
		],
	];
	it.each(endings)(
		"are not compacted at once where the last reply %s",
		async (name, change) => {
			const file = ending(name.replaceAll(" ", "-"), change);
			const compactions = (records: readonly JsonObject[]) =>
				records.filter(({ type }) => type === "compaction").length;
			expect(compactions((await goOn(file, true)).after)).toBeGreaterThan(0);
			const fork = await forkFile(file, [await range(file, "EDITED PROMPT", "reply-one")], {});
			const { requests, after } = await goOn(fork.path, true);
			expect(requests).toHaveLength(1);
			expect(compactions(after)).toBe(0);
		},
		60_000,
	);

	it("are not compacted at once where the last reply was cut off at the model's limit", async () => {
		const cutOff = (output: number) =>
			ending(`cut-off-${output}`, (reply) => ({
				...reply,
				stopReason: "length",
				usage: { ...zero, input: 100, output },
			}));
		// Pi takes a reply that is shorter than the limit for one that a full context cut off.
		expect(compactions((await goOn(cutOff(10), true)).after)).toBeGreaterThan(0);
		const file = cutOff(2048);
		const fork = await forkFile(file, [await range(file, "EDITED PROMPT", "reply-one")], {});
		const { requests, after } = await goOn(fork.path, true);
		expect(requests).toHaveLength(1);
		expect(compactions(after)).toBe(0);
	}, 60_000);
});

/** Content hash of every atom. */
async function hashesOf(file: string): Promise<string[]> {
	const session = await openShared(file);
	const { atoms } = session.survey;
	const hashes = Array.from({ length: atoms.length }, (_, atom) => session.survey.hashOf(atom, atom));
	return Promise.all(hashes).finally(() => session.close());
}

function compactions(records: readonly JsonObject[]): number {
	return records.filter(({ type }) => type === "compaction").length;
}

/** Whether Pi makes a message of what an entry holds: a failed reply and one that only thinks it leaves out. */
function isSent({ message }: JsonObject): boolean {
	if (!isObject(message)) return true;
	if (message.role === "bashExecution") return message.excludeFromContext !== true;
	if (message.role !== "assistant") return true;
	if (message.stopReason === "error" || message.stopReason === "aborted") return false;
	const parts = Array.isArray(message.content) ? message.content.filter(isObject) : [];
	return parts.some((part) => part.type === "toolCall" || (part.type === "text" && /\S/.test(String(part.text))));
}

/** The images of results are sent in a message behind them. */
function sendsImage({ message }: JsonObject): boolean {
	if (!isObject(message) || message.role !== "toolResult" || !Array.isArray(message.content)) return false;
	return message.content.some((part) => isObject(part) && part.type === "image");
}
