/** Forks of rollouts: which lines they are made of, read back by this format. What the real Codex makes of them: test/hosts/codex-fork.test.ts. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createEngine, type Session } from "#src/index.js";
import { codexCheck } from "#src/session/formats/codex/check.js";
import { codexWriter } from "#src/session/formats/codex/write.js";
import { isObject, type JsonObject } from "#src/session/record.js";
import { scratchFolder } from "../helpers/files.js";
import { type ForkOptions, forkFile, type TestFork, type TestRange, testBlockText } from "../helpers/fork.js";
import {
	assistant,
	call,
	compacted,
	developer,
	event,
	item,
	line,
	meta,
	output,
	reasoning,
	rollback,
	STAMP,
	turnEnd,
	turnStart,
	user,
	words,
} from "./codex-lines.js";

const scratch = scratchFolder();
const engine = createEngine({ threads: 1 });
afterAll(() => engine.close());
const NO_WORK = { background: { tokens: false, index: false } } as const;

const HEADER = { timestamp: STAMP, cwd: "/w", originator: "codex_exec", cli_version: "0.171.0" };
const THREAD = "01a22f76-ac88-7a22-b7e2-001ef2c7cd2f";

/** A rollout as Codex would name and number it. */
function rollout(lines: readonly (JsonObject | string)[]): string {
	const text = [meta({ id: THREAD, ...HEADER }), ...lines]
		.map((one, ordinal) => (typeof one === "string" ? one : JSON.stringify({ ...one, ordinal })))
		.join("\n");
	return scratch.write(`rollout-2026-01-02T03-04-05-${randomUUID()}.jsonl`, `${text}\n`);
}

async function texts(session: Session): Promise<string[]> {
	const { survey } = session;
	const all = Array.from({ length: survey.atoms.length }, (_, atom) => atom);
	return (await survey.texts(all, { budget: 4000, shape: "content" })).map(({ text }) => text);
}

async function atomsOf(path: string, options: ForkOptions["open"] = {}): Promise<string[]> {
	const session = await engine.open(path, { ...options, ...NO_WORK });
	try {
		return await texts(session);
	} finally {
		await session.close();
	}
}

async function fork(path: string, ranges: readonly TestRange[], options: ForkOptions = {}): Promise<TestFork> {
	return forkFile(path, ranges, { folder: scratch.path, ...options });
}

function linesOf(made: TestFork): JsonObject[] {
	const lines = made.text().split("\n");
	expect(lines.pop()).toBe("");
	return lines.map((text) => JSON.parse(text) as JsonObject);
}

/** One word a line: its kind, and the text or id by which a test knows it. */
function shown(lines: readonly JsonObject[]): string[] {
	return lines.map((record) => {
		const payload = record.payload as JsonObject;
		const at =
			record.type === "response_item" || record.type === "event_msg" ? String(payload.type) : String(record.type);
		return [at, nameOf(payload)].filter((part) => part !== "").join(" ");
	});
}

function nameOf(payload: JsonObject): string {
	if (typeof payload.turn_id === "string" && !isObject(payload.item)) return payload.turn_id;
	if (typeof payload.call_id === "string") return payload.call_id;
	const within = isObject(payload.item) ? payload.item : payload;
	const [first] = Array.isArray(within.content) ? within.content : [];
	return isObject(first) ? String(first.text).split("\n")[0] : "";
}

const BLOCK = "[midcompact block c0001]";
const one = (from: number, to = from): TestRange[] => [{ from, to, summary: "Gist." }];

const worldState = (full: boolean): JsonObject => line("world_state", { full, state: {} });
const context = (turn_id: string): JsonObject => line("turn_context", { turn_id });
const copy = (type: string, text: string): JsonObject =>
	event({
		type: "item_completed",
		thread_id: THREAD,
		turn_id: "t",
		item: { type, id: "i", content: [{ type: "text", text }] },
	});

/** A turn with all that stands around its items: copies of user messages behind them, others before. */
const fullTurn = (n: number): JsonObject[] => [
	turnStart(`t${n}`),
	context(`t${n}`),
	user(`q${n}`),
	copy("UserMessage", `q${n}`),
	copy("AgentMessage", `a${n}`),
	assistant(`a${n}`),
	event({ type: "token_count", info: { last_token_usage: { input_tokens: 9, output_tokens: 9 } } }),
	event({ type: "task_complete", turn_id: `t${n}`, last_agent_message: `a${n}` }),
];

describe("lines of a fork", () => {
	it("in file order, with copies of what is kept, fresh ordinals and no counts", async () => {
		const path = rollout([worldState(true), ...fullTurn(1), ...fullTurn(2), ...fullTurn(3)]);
		const made = await fork(path, one(2, 3));
		const lines = linesOf(made);
		expect(shown(lines)).toEqual([
			"session_meta",
			"world_state",
			"task_started t1",
			"turn_context t1",
			"message q1",
			"item_completed q1",
			"item_completed a1",
			"message a1",
			"task_complete t1",
			"task_started t2",
			"turn_context t2",
			`message ${BLOCK}`,
			`item_completed ${BLOCK}`,
			"task_complete t2",
			"task_started t3",
			"turn_context t3",
			"message q3",
			"item_completed q3",
			"item_completed a3",
			"message a3",
			"task_complete t3",
		]);
		expect(lines.map(({ ordinal }) => ordinal)).toEqual(lines.map((_line, at) => at));
		expect(
			lines.filter(({ type }) => type === "event_msg").map(({ payload }) => (payload as JsonObject).thread_id),
		).not.toContain(THREAD);
		expect(lines[11]).toMatchObject({ midcompact: { block: "c0001", topic: "" } });
		expect((lines[13].payload as JsonObject).last_agent_message).toBeNull();
		expect((lines[20].payload as JsonObject).last_agent_message).toBe("a3");
	});

	it.each<[name: string, from: number, to: number, lines: string[]]>([
		[
			"turns that a range swallows go, but for the last, which holds the block",
			2,
			5,
			["task_started t3", "turn_context t3", `message ${BLOCK}`, `item_completed ${BLOCK}`, "task_complete t3"],
		],
		[
			"a turn of which words are left keeps its marks",
			3,
			4,
			[
				"task_started t2",
				"turn_context t2",
				"message q2",
				"item_completed q2",
				"task_complete t2",
				"task_started t3",
				"turn_context t3",
				`message ${BLOCK}`,
				`item_completed ${BLOCK}`,
				"item_completed a3",
				"message a3",
				"task_complete t3",
			],
		],
	])("%s", async (_name, from, to, expected) => {
		const made = await fork(rollout([...fullTurn(1), ...fullTurn(2), ...fullTurn(3)]), one(from, to));
		expect(shown(linesOf(made)).slice(8)).toEqual(expected);
	});

	it("what a rollback took back is not written, nor the rollback", async () => {
		const path = rollout([
			...fullTurn(1),
			worldState(true),
			...fullTurn(2).slice(0, 2),
			worldState(false),
			...fullTurn(2).slice(2),
			rollback(1),
			...fullTurn(3),
		]);
		const made = await fork(path, one(0));
		const lines = shown(linesOf(made));
		expect(lines.filter((text) => /2|rolled/.test(text))).toEqual([]);
		expect(lines.filter((text) => text === "world_state")).toHaveLength(1);
		expect(await atomsOf(made.path)).toEqual([
			expect.stringContaining("Gist."),
			...["a1", "q3", "a3"].map((t) => expect.stringContaining(t)),
		]);
	});

	it("the surroundings that changed in a swallowed turn stay", async () => {
		const changed = fullTurn(2).toSpliced(2, 0, worldState(false));
		const made = await fork(rollout([worldState(true), ...fullTurn(1), ...changed, ...fullTurn(3)]), one(2, 5));
		const states = linesOf(made).filter(({ type }) => type === "world_state");
		expect(states.map(({ payload }) => (payload as JsonObject).full)).toEqual([true, false]);
	});

	it("a kept item keeps its bytes: numbers, spaces and the order of keys", async () => {
		const odd = `{"timestamp": "${STAMP}",  "type":"response_item","payload":{"role":"user","type":"message","content":[{"text":"odd","type":"input_text"}],"n":1.0e2}}`;
		const made = await fork(rollout([odd, ...fullTurn(1)]), one(1));
		expect(made.text()).toContain(`${odd.slice(0, -1)},"ordinal":1}`);
	});

	it("the header is the session's own, under the new id and with the one it comes from", async () => {
		const now = new Date("2026-03-04T05:06:07.000Z");
		const path = rollout(fullTurn(1));
		const [header] = linesOf(await fork(path, one(0), { now }));
		expect(header).toEqual({
			timestamp: now.toISOString(),
			type: "session_meta",
			payload: { ...HEADER, id: expect.not.stringContaining(THREAD), timestamp: now.toISOString() },
			ordinal: 0,
			midcompact: { parent: { session: null, path } },
		});
	});
});

describe("compactions", () => {
	const items = ["k1", "k2", "k3"].map((text) => words("user", text));

	it.each<[name: string, from: number, to: number, atoms: string[], inList: string[]]>([
		["a range inside the replacement history", 1, 1, ["k1", BLOCK, "k3", "q1", "a1"], ["k1", BLOCK, "k3"]],
		["at its start", 0, 1, [BLOCK, "k3", "q1", "a1"], [BLOCK, "k3"]],
		["all of it", 0, 2, [BLOCK, "q1", "a1"], [BLOCK]],
		["out of it into the lines behind", 1, 3, ["k1", BLOCK, "a1"], ["k1"]],
		["behind it", 3, 4, ["k1", "k2", "k3", BLOCK], ["k1", "k2", "k3"]],
	])("%s", async (_name, from, to, atoms, inList) => {
		const made = await fork(rollout([...fullTurn(9), compacted(items, "m"), ...fullTurn(1)]), one(from, to));
		const read = await atomsOf(made.path);
		expect(read).toHaveLength(atoms.length);
		for (const [atom, text] of atoms.entries()) expect(read[atom]).toContain(text);
		const lines = linesOf(made);
		expect(shown(lines).filter((text) => text.includes("q9"))).toEqual([]);
		const [history] = lines.flatMap(({ payload }) =>
			isObject(payload) && Array.isArray(payload.replacement_history) ? [payload.replacement_history] : [],
		);
		expect(history.map((entry) => nameOf(entry as JsonObject))).toEqual(inList);
	});

	it("items of the history keep their bytes", async () => {
		const raw = `{"timestamp":"${STAMP}","type":"compacted","payload":{"message":"m","replacement_history":[ {"type":"message","role":"user","content":[{"type":"input_text","text":"k1"}],"x":1.50} , {"type":"message","role":"user","content":[{"type":"input_text","text":"k2"}]}],"n":2.0}}`;
		const made = await fork(rollout([raw, ...fullTurn(1)]), one(1));
		expect(made.text()).toContain(
			'"replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"k1"}],"x":1.50},{',
		);
		expect(made.text()).toContain('"n":2.0},"ordinal":');
	});

	it("without a replacement history: what it kept on lines, its summary as the message that Codex makes of it", async () => {
		const made = await fork(
			rollout([...fullTurn(1), ...fullTurn(2), compacted(null, "The gist so far."), ...fullTurn(3)]),
			one(1),
		);
		const read = await atomsOf(made.path);
		expect(read.map((text) => text.split("\n").at(-1))).toEqual(["q1", "Gist.", "The gist so far.", "q3", "a3"]);
		const session = await engine.open(made.path, NO_WORK);
		expect(session.survey.atoms.kindOf(2)).toBe("summary");
		await session.close();
	});

	it("path scope writes the originals and no compaction", async () => {
		const path = rollout([...fullTurn(1), ...fullTurn(2), compacted(items, "m"), ...fullTurn(3)]);
		const made = await fork(path, one(0, 1), { open: { scope: "path" } });
		expect(shown(linesOf(made)).filter((text) => text.startsWith("compacted"))).toEqual([]);
		const read = await atomsOf(made.path);
		expect(read.map((text) => text.split("\n").at(-1))).toEqual(["Gist.", "q2", "a2", "q3", "a3"]);
	});
});

describe("sessions of other forms", () => {
	it("a native fork and its parent become one file", async () => {
		const [parentId, childId] = [randomUUID(), randomUUID()];
		const written = (id: string, lines: readonly JsonObject[]): string => {
			const text = lines.map((record, ordinal) => `${JSON.stringify({ ...record, ordinal })}\n`).join("");
			scratch.write(`rollout-2026-01-02T03-04-05-${id}.jsonl`, text);
			return text;
		};
		const parent = written(parentId, [meta({ ...HEADER, id: parentId }), ...fullTurn(1), ...fullTurn(2)]);
		const base = { thread_id: parentId, end_ordinal_exclusive: 17, end_byte_offset: Buffer.byteLength(parent) };
		written(childId, [meta({ ...HEADER, id: childId, forked_from_id: parentId, history_base: base }), ...fullTurn(3)]);
		const path = join(scratch.path, `rollout-2026-01-02T03-04-05-${childId}.jsonl`);
		const made = await fork(path, one(3, 4));
		const [header, ...lines] = linesOf(made);
		expect(header.payload).toEqual({ ...HEADER, id: made.id, timestamp: expect.any(String) });
		expect(shown(lines)).not.toContain("session_meta");
		expect((await atomsOf(made.path)).map((text) => text.split("\n").at(-1))).toEqual([
			"q1",
			"a1",
			"q2",
			"Gist.",
			"a3",
		]);
	});

	it("lines without envelope get one, and the header what Codex asks of it", async () => {
		const bare = [user("q1"), assistant("a1"), user("q2"), assistant("a2")].map(({ payload }) => payload);
		const header = { id: "old", timestamp: STAMP, instructions: null, git: {} };
		const text = [header, { record_type: "state" }, ...bare].map((record) => `${JSON.stringify(record)}\n`).join("");
		const made = await fork(scratch.write("old.jsonl", text), one(2));
		const lines = linesOf(made);
		expect(shown(lines)).toEqual([
			"session_meta",
			"message q1",
			"message a1",
			`message ${BLOCK}`,
			`item_completed ${BLOCK}`,
			"message a2",
		]);
		expect(lines[0].payload).toMatchObject({ id: made.id, cwd: "/", originator: "midcompact", cli_version: "0.0.0" });
		expect(lines.every(({ timestamp }) => typeof timestamp === "string")).toBe(true);
	});
});

describe("what is never written", () => {
	it.each<[name: string, lines: JsonObject[], atoms: string[]]>([
		["claude-code#41729: an empty text", [user(""), user("x")], ["x"]],
		[
			"an empty one among others",
			[
				item({
					type: "message",
					role: "user",
					content: [
						{ type: "input_text", text: "" },
						{ type: "input_text", text: "x" },
					],
				}),
			],
			["x"],
		],
		["a message without content", [item({ type: "message", role: "user", content: [] }), user("x")], ["x"]],
		[
			"reasoning of which nothing is left",
			[user("x"), item({ type: "reasoning", summary: [] }), assistant("y")],
			["x", "y"],
		],
	])("%s", async (_name, lines, atoms) => {
		const path = rollout([...fullTurn(1), ...lines]);
		const made = await fork(path, one(0, 1));
		expect(made.cleaned + made.dropped).toBe(1);
		const read = await atomsOf(made.path);
		expect(read.map((text) => text.split("\n").at(-1))).toEqual(["Gist.", ...atoms]);
	});

	it("half a surrogate pair, anywhere in a line", async () => {
		const lone = { ...user("x"), extra: { "k\ud800": "\\ud800 \ud83d" } };
		const made = await fork(rollout([...fullTurn(1), lone]), [{ ...one(0)[0], summary: "half \udc00" }]);
		expect(made.text().includes("\\ud800 ")).toBe(true);
		for (const record of linesOf(made)) expect(codexCheck.record(record)).toEqual([]);
	});
});

describe("names", () => {
	it("local time and id", () => {
		const now = new Date(2026, 0, 2, 3, 4, 5);
		expect(codexWriter.fileName(THREAD, now, "")).toBe(`rollout-2026-01-02T03-04-05-${THREAD}.jsonl`);
		expect(codexWriter.idInName(codexWriter.fileName(THREAD, now, ""))).toBe(THREAD);
		expect(codexWriter.resumeCommand(THREAD, "")).toBe(`codex resume ${THREAD}`);
	});

	it.each([
		`${THREAD}.jsonl`,
		`rollout-x-${THREAD}.jsonl`,
		`rollout-2026-13-02T03-04-05-${THREAD}.jsonl`,
		`rollout-2026-01-02T03-04-05-${THREAD}.json`,
		"fork.jsonl",
	])("Codex would not find %s", (name) => {
		expect(() => codexWriter.idInName(name)).toThrow(
			expect.objectContaining({ code: "invalid_output", hint: expect.stringContaining("rollout-") }),
		);
	});
});

/** Rollouts of whole exchanges, with compactions and rollbacks anywhere between turns. */
const arbitraryRollout = (() => {
	const step = fc.constantFrom("say", "think", "call", "parallel", "open", "ask", "rules", "state");
	const play = (kind: string, id: string): JsonObject[] => {
		switch (kind) {
			case "say":
				return [copy("AgentMessage", id), assistant(`says ${id}`)];
			case "think":
				return [reasoning(`thinks ${id}`), assistant(`then says ${id}`)];
			case "call":
				return [reasoning(`before ${id}`), call(id), output(id)];
			case "parallel":
				return [assistant(`both ${id}`), call(`${id}x`), call(`${id}y`), output(`${id}y`), output(`${id}x`)];
			case "open":
				return [call(id)];
			case "ask":
				return [user(`asks ${id}`), copy("UserMessage", id)];
			case "rules":
				return [developer(`rules ${id}`)];
			default:
				return [worldState(false)];
		}
	};
	const turnOf = (steps: string[], t: number): JsonObject[] => [
		turnStart(`t${t}`),
		context(`t${t}`),
		user(`prompt ${t}`),
		copy("UserMessage", `prompt ${t}`),
		...steps.flatMap((kind, s) => play(kind, `i${t}_${s}`)),
		turnEnd(`t${t}`),
	];
	const between = fc.oneof(
		{ weight: 5, arbitrary: fc.constant<JsonObject[]>([]) },
		{ weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((n) => [rollback(n)]) },
		{
			weight: 1,
			arbitrary: fc
				.array(fc.constantFrom("say", "think", "call", "ask", "rules"), { minLength: 1, maxLength: 4 })
				.chain((kinds) =>
					fc.integer({ min: 0, max: 1e9 }).map((n) => kinds.flatMap((kind, k) => play(kind, `h${n}_${k}`))),
				)
				.map((lines) => [
					compacted(
						lines.flatMap(({ type, payload }) => (type === "response_item" ? [payload as JsonObject] : [])),
						"gist",
					),
				]),
		},
		{ weight: 1, arbitrary: fc.constant([compacted(null, "the gist of it")]) },
	);
	return fc
		.array(fc.tuple(fc.array(step, { maxLength: 5 }), between), { minLength: 1, maxLength: 7 })
		.map((turns) => turns.flatMap(([steps, behind], t) => [...turnOf(steps, t), ...behind]));
})();

describe("any rollout, any ranges", () => {
	it("no pair is broken, nothing is refused, and the fork reads back as the kept atoms with the blocks", async () => {
		await fc.assert(
			fc.asyncProperty(
				arbitraryRollout,
				fc.array(fc.nat(), { maxLength: 6 }),
				fc.boolean(),
				async (lines, cuts, isPath) => {
					const open = { scope: isPath ? ("path" as const) : ("context" as const) };
					const path = rollout(lines);
					const before = await engine.open(path, { ...open, ...NO_WORK });
					const { atoms } = before.survey;
					const own = await texts(before);
					const kinds = own.map((_text, atom) => `${atoms.kindOf(atom)} ${atoms.protocolOf(atom)}`);
					const free = own.map((_text, atom) => atoms.reasonOf(atom) === null);
					await before.close();
					const ranges = rangesOf(free, cuts);
					const made = await fork(path, ranges, { open });
					const after = await engine.open(made.path, NO_WORK);
					const read = await texts(after);
					const expected: string[] = [];
					const expectedKinds: string[] = [];
					for (let atom = 0; atom < own.length; atom++) {
						const range = ranges.find(({ from, to }) => from <= atom && atom <= to);
						if (!range) expected.push(own[atom]);
						else if (range.from === atom)
							expected.push(
								`[user]\n${testBlockText(`c${String(ranges.indexOf(range) + 1).padStart(4, "0")}`, range)}`,
							);
						if (!range) expectedKinds.push(kinds[atom]);
						else if (range.from === atom) expectedKinds.push("block none");
					}
					expect(read.map(plain)).toEqual(expected.map(plain));
					expect(
						read.map((_text, atom) => `${after.survey.atoms.kindOf(atom)} ${after.survey.atoms.protocolOf(atom)}`),
					).toEqual(expectedKinds);
					expect(after.survey.damage.count).toBe(0);
					const whole = await codexCheck.whole({
						table: after.survey.table,
						branch: after.survey.branch,
						name: basename(made.path),
						session: made.id,
					});
					expect(
						[...whole, ...linesOf(made).flatMap((record) => codexCheck.record(record))].filter(
							({ severity }) => severity === "refused",
						),
					).toEqual([]);
					expect(linesOf(made).map(({ ordinal }) => ordinal)).toEqual(linesOf(made).map((_line, at) => at));
					await after.close();
				},
			),
			{ numRuns: 30 },
		);
	}, 180_000);
});

const shared = new URL("../../../shared/sessions/codex/", import.meta.url).pathname;
describe.skipIf(!existsSync(shared))("recorded rollouts of many versions", () => {
	const files = existsSync(shared) ? readdirSync(shared).filter((name) => name.endsWith(".jsonl")) : [];
	it.each(files)("%s", async (name) => {
		for (const scope of ["context", "path"] as const) {
			const path = join(shared, name);
			const before = await engine.open(path, { scope, ...NO_WORK });
			const own = await texts(before);
			const atom = own.findIndex((_text, at) => before.survey.atoms.reasonOf(at) === null);
			await before.close();
			const made = await fork(path, atom < 0 ? [] : one(atom), { open: { scope } });
			const read = await atomsOf(made.path);
			const expected = own.map((text, at) => plain(at === atom ? `[user]\n${BLOCK}\nGist.` : text));
			// Replies on both sides of a compaction are one where it is not written.
			expect(read.map(plain).join("\n")).toBe(expected.join("\n"));
			const refused = linesOf(made).flatMap((record) =>
				codexCheck.record(record).filter(({ severity }) => severity === "refused"),
			);
			// The items of composed files have no ids by which a call could be told.
			expect(refused.filter(({ rule }) => rule !== "unknown_item")).toEqual([]);
		}
	});
});

/** The words, without the labels that a rendering puts before them. */
const plain = (text: string): string => text.replace(/^\[(user|summary|block)[^\n]*\]\n/, "");

/** Ranges between cuts, each over atoms that may be replaced. */
function rangesOf(free: readonly boolean[], cuts: readonly number[]): TestRange[] {
	const ranges: TestRange[] = [];
	const at = [...new Set(cuts.map((cut) => cut % Math.max(free.length, 1)))].sort((a, b) => a - b);
	for (let i = 0; i + 1 < at.length; i += 2) {
		const [from, to] = [at[i], at[i + 1] - 1];
		if (free.slice(from, to + 1).every((isFree) => isFree)) ranges.push({ from, to, summary: `Summary ${i}.` });
	}
	return ranges;
}
