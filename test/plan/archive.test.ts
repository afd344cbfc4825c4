import { type ChildProcess, spawn } from "node:child_process";
import {
	appendFileSync,
	chmodSync,
	closeSync,
	existsSync,
	ftruncateSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	statSync,
	unlinkSync,
	utimesSync,
	writeFileSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { Piscina } from "piscina";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenSurvey } from "#src/engine/survey.js";
import { openSession } from "#src/engine.js";
import { asMidcompactError, type ErrorCode } from "#src/errors.js";
import { type ArchiveHeader, blockId, blockNumber, reserve } from "#src/plan/archive-file.js";
import type { ArchiveList, ArchiveTask, ReadResult, WriteArchive, WrittenArchive } from "#src/plan/archive-tasks.js";
import { FolderArchive, type RunArchive } from "#src/plan/folder-archive.js";
import { type AtomPlaces, atomPlaces, atomRowsOf } from "#src/search/places.js";
import { GIANT_RECORD } from "#src/session/giant.js";
import type { FormatName } from "#src/session/record.js";
import type { RowSource } from "#src/session/rows.js";
import { memorySpec } from "../helpers/bytes.js";
import { assistantMessage, jsonLines, piSession, scratchFolder, userMessage } from "../helpers/files.js";

const scratch = scratchFolder();
let pool: Piscina;
beforeAll(() => {
	pool = new Piscina({
		filename: fileURLToPath(import.meta.resolve("#workers/archive.js")),
		minThreads: 2,
		maxThreads: 2,
	});
});
afterAll(() => pool.destroy());

const run: RunArchive = async (task) => {
	try {
		return await pool.run(task);
	} catch (thrown) {
		throw asMidcompactError(thrown);
	}
};

let folders = 0;
const newFolder = () => join(scratch.path, `archives-${folders++}`, "blocks");
const archiveIn = (folder = newFolder()) => new FolderArchive(folder, run);

const codeOf = (work: Promise<unknown>): Promise<ErrorCode | null> =>
	work.then(
		() => null,
		(thrown) => asMidcompactError(thrown).code,
	);

function headerOf(block: string, format: FormatName, atoms: number, more: Partial<ArchiveHeader> = {}): ArchiveHeader {
	return {
		version: 1,
		block,
		transaction: "t1",
		range: "d1",
		topic: "parser",
		summary: "What was done.\nAnd why.",
		created_at: "2026-01-02T03:04:05.000Z",
		format,
		session: "s-1",
		path: "/somewhere/session.jsonl",
		first_entry: "e1",
		last_entry: "e9",
		atoms,
		chars: 10,
		images: 0,
		...more,
	};
}

interface Range {
	from: RowSource;
	atoms: AtomPlaces;
	format: FormatName;
	/** What `locate_ref` shows of every atom. */
	shown: string[];
}

/** Atoms `first … last` of a file (default: all), and what the session itself shows of them. */
async function rangeOf(path: string, first = 0, last?: number): Promise<Range> {
	const session = await openSession(path, { background: { tokens: false, index: false } });
	try {
		const survey = session.survey as OpenSurvey;
		const end = last ?? survey.atoms.length - 1;
		const atoms = Array.from({ length: end - first + 1 }, (_, i) => first + i);
		const texts = await survey.texts(atoms, { shape: "content", budget: 1_000_000 });
		return {
			from: survey.source,
			atoms: atomPlaces(survey.table, atomRowsOf(survey.atoms, survey.branch.messages), atoms),
			format: survey.format,
			shown: texts.map(({ text }) => text),
		};
	} finally {
		await session.close();
	}
}

const framed = (shown: readonly string[]) =>
	shown.map((text, i) => `=== atom ${i + 1} of ${shown.length} ===\n${text}`).join("\n\n");

const write = (archive: FolderArchive, block: string, range: Range, more: Partial<ArchiveHeader> = {}) =>
	archive.write(headerOf(block, range.format, range.shown.length, more), range);

const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 9, n)).toISOString();

function claudeLines(): object[] {
	const line = (type: string, n: number, message: object) => ({
		type,
		uuid: `u${n}`,
		parentUuid: n === 1 ? null : `u${n - 1}`,
		isSidechain: false,
		sessionId: "s",
		timestamp: at(n),
		message,
	});
	const call = { type: "tool_use", id: "t1", name: "Bash", input: { command: "npm test" } };
	return [
		line("user", 1, { role: "user", content: "mend the parser" }),
		line("assistant", 2, { id: "m1", role: "assistant", model: "m", content: [{ type: "thinking", thinking: "hm" }] }),
		line("assistant", 3, { id: "m1", role: "assistant", model: "m", content: [call] }),
		line("user", 4, {
			role: "user",
			content: [{ type: "tool_result", tool_use_id: "t1", content: "2 failed — ünï" }],
		}),
		line("assistant", 5, { id: "m2", role: "assistant", model: "m", content: [{ type: "text", text: "done" }] }),
	];
}

function codexLines(): object[] {
	const line = (type: string, payload: object, n: number) => ({ timestamp: at(n), type, payload });
	const words = (role: string, text: string) => ({
		type: "message",
		role,
		content: [{ type: role === "user" ? "input_text" : "output_text", text }],
	});
	return [
		line("session_meta", { id: "0199", timestamp: at(0), cwd: "/w" }, 0),
		line("response_item", words("user", "gone with the compaction"), 1),
		line(
			"compacted",
			{ message: "", replacement_history: [words("user", "first item"), words("assistant", "second item")] },
			2,
		),
		line("response_item", words("user", "go on"), 3),
		line("response_item", { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "c1" }, 4),
		line("response_item", { type: "function_call_output", call_id: "c1", output: "a.ts" }, 5),
	];
}

const chat = [
	{ role: "user", content: "read it" },
	{
		role: "assistant",
		content: null,
		tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a.ts"}' } }],
	},
	{ role: "tool", tool_call_id: "c1", content: "line 1\nline 2" },
	{ role: "assistant", content: "read" },
];

const anthropic = [
	{ role: "user", content: [{ type: "text", text: "read it" }] },
	{ role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: { path: "a.ts" } }] },
	{ role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "text" }] },
];

const pi = () =>
	piSession([userMessage("fix the bug"), assistantMessage("looking"), userMessage("and?"), assistantMessage("done")]);

const FILES: readonly [name: string, content: string][] = [
	["pi.jsonl", jsonLines(pi())],
	["claude.jsonl", jsonLines(claudeLines())],
	["codex.jsonl", jsonLines(codexLines())],
	["chat.json", JSON.stringify(chat, null, "\t")],
	["messages.json", JSON.stringify({ system: "be brief", messages: anthropic }, null, 2)],
];

describe("an archive gives back what the session showed", () => {
	test.each(FILES)("%s", async (name, content) => {
		const range = await rangeOf(scratch.write(name, content));
		expect(range.shown.length).toBeGreaterThan(1);
		const archive = archiveIn();
		const { file, bytes } = await write(archive, "c0001", range);
		expect(statSync(file).size).toBe(bytes);
		expect(await archive.read("c0001", 100_000)).toEqual({ text: framed(range.shown), omitted: 0 });
	});

	test("a range inside a session has only its own atoms", async () => {
		const range = await rangeOf(scratch.write("inside.jsonl", jsonLines(pi())), 1, 1);
		const archive = archiveIn();
		await write(archive, "c0007", range);
		expect(await archive.read("c0007", 1_000)).toEqual({ text: "[assistant]\nlooking", omitted: 0 });
	});

	test("codex#28866: a record of many items is kept once", async () => {
		const items = Array.from({ length: 400 }, (_, i) => ({
			type: "message",
			role: i % 2 === 0 ? "user" : "assistant",
			content: [{ type: i % 2 === 0 ? "input_text" : "output_text", text: `item ${i} ${"x".repeat(200)}` }],
		}));
		const lines = codexLines();
		(lines[2] as { payload: object }).payload = { message: "", replacement_history: items };
		const path = scratch.write("items.jsonl", jsonLines(lines));
		const range = await rangeOf(path);
		const archive = archiveIn();
		const { file } = await write(archive, "c0001", range);
		const content = gunzipSync(readFileSync(file)).toString("latin1");
		expect(content.split("item 399 ").length).toBe(2);
		expect((await archive.read("c0001", 1_000_000)).text).toBe(framed(range.shown));
	});

	test("bytes that are no UTF-8 are kept as they stand", async () => {
		const [before, after] = jsonLines(pi()).split("looking");
		const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe]), Buffer.from(after)]);
		const range = await rangeOf(scratch.write("bytes.jsonl", bytes));
		const archive = archiveIn();
		const { file } = await write(archive, "c0001", range);
		expect(gunzipSync(readFileSync(file)).includes(Buffer.from([0xff, 0xfe]))).toBe(true);
		expect((await archive.read("c0001", 10_000)).text).toBe(framed(range.shown));
	});

	test("a message list in memory", async () => {
		const content = jsonLines(pi());
		const range = await rangeOf(scratch.write("memory.jsonl", content));
		const archive = archiveIn();
		await write(archive, "c0001", { ...range, from: { ...range.from, sources: [memorySpec(content)] } });
		expect((await archive.read("c0001", 10_000)).text).toBe(framed(range.shown));
	});

	test("pi#5231: a record above 64 MiB goes through in pieces and is shown by its head", async () => {
		const lines = jsonLines(piSession([userMessage("start"), userMessage("HEAD"), userMessage("end")]));
		const [before, after] = lines.split("HEAD");
		const path = join(scratch.path, "giant.jsonl");
		writeFileSync(path, `${before}HEAD `);
		const filler = Buffer.alloc(1 << 20, "lorem ipsum ");
		for (let written = 0; written < GIANT_RECORD + (4 << 20); written += filler.length) appendFileSync(path, filler);
		appendFileSync(path, after);
		const range = await rangeOf(path);
		const archive = archiveIn();
		const { bytes } = await write(archive, "c0001", range);
		expect(bytes).toBeLessThan(2 << 20);
		const { text, omitted } = await archive.read("c0001", 3_000);
		expect(text.length).toBeLessThanOrEqual(3_000);
		expect(text).toMatch(/^=== atom 1 of 3 ===\n\[user\]\nstart\n\n=== atom 2 of 3 ===\n\[user\]\nHEAD lorem ipsum/);
		expect(text).toContain("omitted …]");
		expect(text.endsWith("=== atom 3 of 3 ===\n[user]\nend")).toBe(true);
		expect(omitted).toBeGreaterThan(GIANT_RECORD);
	});
});

describe("within a budget", () => {
	const messages = Array.from({ length: 60 }, (_, i) =>
		i % 2 === 0
			? userMessage(`question ${i}`)
			: assistantMessage(`answer ${i} ${"😀".repeat(i === 31 ? 20_000 : 200)}.`),
	);
	let archive: FolderArchive;
	let chars = 0;
	beforeAll(async () => {
		archive = archiveIn();
		await write(archive, "c0001", await rangeOf(scratch.write("long.jsonl", jsonLines(piSession(messages)))));
		for (const { content } of messages) chars += [...content[0].text].length;
	});

	test.each([0, 1, 5, 30, 60, 300, 1_000, 4_000, 12_000, 40_000])(
		"%i units hold head and tail, well-formed",
		async (budget) => {
			const { text, omitted } = await archive.read("c0001", budget);
			expect(text.length).toBeLessThanOrEqual(budget);
			expect(/\p{Surrogate}/u.test(text)).toBe(false);
			const smileys = text.match(/😀/gu)?.length ?? 0;
			const all = messages.reduce((sum, { content }) => sum + (content[0].text.match(/😀/gu)?.length ?? 0), 0);
			expect(omitted).toBeGreaterThanOrEqual(all - smileys);
			expect(omitted).toBeLessThanOrEqual(chars);
			if (budget >= 1_000) {
				expect(text.startsWith("=== atom 1 of 60 ===\n[user]\nquestion 0\n\n=== atom 2 of 60 ===\n")).toBe(true);
				expect(text.endsWith(".")).toBe(true);
				expect(/\n\n\[… [\d,]+ atoms, [\d,]+ characters omitted …\]\n\n=== atom/.test(text)).toBe(budget <= 4_000);
			}
		},
	);

	test("what fits as a whole is whole, one unit less is not", async () => {
		const whole = await archive.read("c0001", 1_000_000);
		expect(whole.omitted).toBe(0);
		expect(await archive.read("c0001", whole.text.length)).toEqual(whole);
		const less = await archive.read("c0001", whole.text.length - 1);
		expect(less.text.length).toBeLessThan(whole.text.length);
		expect(less.omitted).toBeGreaterThan(0);
		expect(less.text).not.toContain("atoms,");
	});

	test("small atoms stand whole beside a large one", async () => {
		const { text } = await archive.read("c0001", 30_000);
		for (let i = 0; i < 60; i += 2) expect(text).toContain(`[user]\nquestion ${i}\n`);
	});
});

describe("damage is said, never given back", () => {
	const small = async () => {
		const archive = archiveIn();
		const range = await rangeOf(scratch.write("small.jsonl", jsonLines(pi())), 0, 0);
		const { file } = await write(archive, "c0001", range);
		return { archive, file, bytes: readFileSync(file) };
	};

	test("any byte that was changed", async () => {
		const { archive, file, bytes } = await small();
		await archive.read("c0001", 1_000);
		for (let i = 0; i < bytes.length; i++) {
			const changed = Buffer.from(bytes);
			changed[i] ^= 1 << (i % 8);
			writeFileSync(file, changed);
			expect(await codeOf(archive.read("c0001", 1_000)), `byte ${i}`).toBe("archive_damaged");
		}
	});

	test("any length but its own", async () => {
		const { archive, file, bytes } = await small();
		for (let length = 0; length < bytes.length; length += length < 120 ? 1 : 17) {
			writeFileSync(file, bytes.subarray(0, length));
			expect(await codeOf(archive.read("c0001", 1_000)), `${length} bytes`).toBe("archive_damaged");
			const { headers, damaged } = await archive.headers();
			expect([headers, damaged.map(({ block }) => block)]).toEqual([[], ["c0001"]]);
		}
		writeFileSync(file, Buffer.concat([bytes, Buffer.from("\n")]));
		expect(await codeOf(archive.read("c0001", 1_000))).toBe("archive_damaged");
	});

	test("a missing archive, a missing folder, an archive under another name, a folder in its place", async () => {
		const { archive, bytes } = await small();
		expect(await codeOf(archive.read("c0002", 1_000))).toBe("archive_damaged");
		expect(await codeOf(archiveIn().read("c0001", 1_000))).toBe("archive_damaged");
		writeFileSync(join(archive.folder, "c0003.gz"), bytes);
		expect(await codeOf(archive.read("c0003", 1_000))).toBe("archive_damaged");
		mkdirSync(join(archive.folder, "c0004.gz"));
		expect(await codeOf(archive.read("c0004", 1_000))).toBe("archive_damaged");
	});

	test.each(["../c0001", "c1", "c00001", "", "c0000", "c0001/../c0001"])("%j is no block id", async (id) => {
		const { archive } = await small();
		expect(await codeOf(archive.read(id, 1_000))).toBe("unknown_block");
		const task: ArchiveTask = { op: "read", folder: archive.folder, block: id, budget: 10 };
		expect(await codeOf(run<ReadResult>(task))).toBe("unknown_block");
	});
});

describe("writing", () => {
	test("only the user may read folder and file, and `zcat` shows header, records and hash", async () => {
		const range = await rangeOf(scratch.write("mode.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		const { file } = await write(archive, "c0001", range);
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(statSync(archive.folder).mode & 0o777).toBe(0o700);
		const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split("\n");
		expect(JSON.parse(lines[0])).toEqual(headerOf("c0001", "pi", range.shown.length));
		expect(JSON.parse(lines[3])).toMatchObject({ type: "message", message: { content: [{ text: "fix the bug" }] } });
		expect(JSON.parse(lines[4])).toEqual({ atom: 0, item: 0 });
		expect(Object.keys(JSON.parse(lines.at(-1) ?? ""))).toEqual(["sha256"]);
	});

	test("two writers of one block: one wins, the other is refused, and the archive is whole", async () => {
		const range = await rangeOf(scratch.write("two.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		const codes = await Promise.all([1, 2].map(() => codeOf(write(archive, "c0001", range))));
		expect(codes.sort()).toEqual([null, "output_exists"].sort());
		expect(readdirSync(archive.folder)).toEqual(["c0001.gz"]);
		expect((await archive.read("c0001", 10_000)).omitted).toBe(0);
	});

	test("a session that became shorter meanwhile leaves nothing behind", async () => {
		const path = scratch.write("shorter.jsonl", jsonLines(pi()));
		const range = await rangeOf(path);
		const fd = openSync(path, "r+");
		ftruncateSync(fd, 400);
		closeSync(fd);
		const archive = archiveIn();
		expect(await codeOf(write(archive, "c0001", range))).toBe("unreadable");
		expect(readdirSync(archive.folder)).toEqual([]);
	});

	test("a cancelled task leaves nothing behind", async () => {
		const range = await rangeOf(scratch.write("cancel.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		expect(await codeOf(archive.write(headerOf("c0001", "pi", 4), range, AbortSignal.abort()))).toBe("cancelled");
		expect(readdirSync(archive.folder)).toEqual([]);
		await write(archive, "c0001", range);
		expect(await codeOf(archive.read("c0001", 100, AbortSignal.abort()))).toBe("cancelled");
	});

	test.skipIf(process.getuid?.() === 0)("a folder that cannot be written is told", async () => {
		const range = await rangeOf(scratch.write("closed.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		mkdirSync(archive.folder, { recursive: true });
		chmodSync(archive.folder, 0o500);
		expect(await codeOf(write(archive, "c0001", range))).toBe("state_unavailable");
		expect(await codeOf(archive.reserve())).toBe("state_unavailable");
	});

	test("a file where the folder should be is told", async () => {
		const range = await rangeOf(scratch.write("taken.jsonl", jsonLines(pi())));
		const archive = archiveIn(scratch.write("a-file", ""));
		expect(await codeOf(write(archive, "c0001", range))).toBe("state_unavailable");
		expect(await codeOf(archive.reserve())).toBe("state_unavailable");
		expect(await codeOf(archive.headers())).toBe("state_unavailable");
	});

	test("what a dead writer left is removed, what a living one has is not", async () => {
		const range = await rangeOf(scratch.write("dead.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		await archive.reserve();
		const [dead, living] = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"].map((hex) =>
			join(archive.folder, `.c0001.gz.midcompact-${hex}.tmp`),
		);
		for (const path of [dead, living]) writeFileSync(path, "half");
		const yesterday = Date.now() / 1000 - 25 * 3600;
		utimesSync(dead, yesterday, yesterday);
		await write(archive, "c0001", range);
		expect([existsSync(dead), existsSync(living)]).toEqual([false, true]);
	});
});

describe("listing", () => {
	test("headers by number, damaged ones beside them; nothing where there is no folder", async () => {
		expect(await archiveIn().headers()).toEqual({ headers: [], damaged: [] });
		expect(await archiveIn().list()).toEqual([]);
		const range = await rangeOf(scratch.write("list.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		for (const n of [2, 10_000, 9, 1]) await write(archive, blockId(n), range, { topic: `topic ${n}` });
		writeFileSync(join(archive.folder, "c0003.gz"), "no archive");
		writeFileSync(join(archive.folder, "notes.txt"), "");
		const { headers, damaged } = await archive.headers();
		expect(headers.map(({ block }) => block)).toEqual(["c0001", "c0002", "c0009", "c10000"]);
		expect(headers[1]).toEqual(headerOf("c0002", "pi", range.shown.length, { topic: "topic 2" }));
		expect(damaged.map(({ block }) => block)).toEqual(["c0003"]);
		expect((await archive.list())[0]).toEqual({
			id: "c0001",
			topic: "topic 1",
			summary: "What was done.\nAnd why.",
			atoms: range.shown.length,
			chars: 10,
			images: 0,
			createdAt: "2026-01-02T03:04:05.000Z",
			archived: true,
		});
	});

	test("a summary larger than any piece of the file is listed, a header with a changed byte is not", async () => {
		const range = await rangeOf(scratch.write("summary.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		const summary = "Ünï \ud83d words ".repeat(200_000);
		const { file } = await write(archive, "c0001", range, { summary });
		expect((await archive.list())[0].summary.length).toBe(summary.length);
		const fd = openSync(file, "r+");
		writeSync(fd, Buffer.from([0x55]), 0, 1, 500);
		closeSync(fd);
		const { headers, damaged } = await archive.headers();
		expect([headers.length, damaged[0]?.block]).toEqual([0, "c0001"]);
	});

	test("an archive of a later version is reported", async () => {
		const range = await rangeOf(scratch.write("later.jsonl", jsonLines(pi())));
		const folder = newFolder();
		const header = { ...headerOf("c0001", "pi", 4), version: 2 } as unknown as ArchiveHeader;
		const task: WriteArchive = { op: "write", from: range.from, atoms: range.atoms, header, folder };
		await run<WrittenArchive>(task);
		const { headers, damaged } = await run<ArchiveList>({ op: "list", folder });
		expect([headers, damaged.length]).toEqual([[], 1]);
	});
});

describe("copying", () => {
	test("a block becomes readable from the other folder, and stays so when the first is gone", async () => {
		const range = await rangeOf(scratch.write("copy.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		const { file } = await write(archive, "c0003", range);
		const other = archiveIn();
		const copied = await archive.copyTo(other.folder, "c0003");
		expect(copied.linked).toBe(statSync(file).ino === statSync(copied.file).ino);
		unlinkSync(file);
		expect((await other.read("c0003", 10_000)).text).toBe(framed(range.shown));
		expect(await other.reserve()).toBe("c0004");
	});

	test("again is no harm, another block of that id is never overwritten, a missing one is told", async () => {
		const range = await rangeOf(scratch.write("copies.jsonl", jsonLines(pi())));
		const archive = archiveIn();
		await write(archive, "c0001", range);
		const other = archiveIn();
		await archive.copyTo(other.folder, "c0001");
		await archive.copyTo(other.folder, "c0001");
		const twin = archiveIn();
		await write(twin, "c0001", range);
		await archive.copyTo(twin.folder, "c0001");
		const third = archiveIn();
		const { file } = await write(third, "c0001", range, { topic: "another" });
		const before = readFileSync(file);
		expect(await codeOf(archive.copyTo(third.folder, "c0001"))).toBe("output_exists");
		expect(readFileSync(file)).toEqual(before);
		expect(await codeOf(archive.copyTo(third.folder, "c0002"))).toBe("archive_damaged");
	});
});

describe("block ids", () => {
	test.each([
		[1, "c0001"],
		[9_999, "c9999"],
		[10_000, "c10000"],
	])("%i is %s", (number, id) => {
		expect(blockId(number)).toBe(id);
		expect(blockNumber(id)).toBe(number);
	});

	test("the next one is above all that were archived, claimed or asked for", async () => {
		const folder = newFolder();
		expect(await reserve(folder, 1)).toBe("c0001");
		expect(await reserve(folder, 1)).toBe("c0002");
		expect(await reserve(folder, 12)).toBe("c0012");
		writeFileSync(join(folder, "c0020.gz"), "");
		expect(await reserve(folder, 3)).toBe("c0021");
	});

	test("processes that reserve at once never get the same one", async () => {
		const folder = newFolder();
		const module = import.meta.resolve("#src/plan/archive-file.js");
		const script = `
			import { reserve } from ${JSON.stringify(module)};
			const ids = [];
			for (let i = 0; i < 40; i++) ids.push(await reserve(${JSON.stringify(folder)}, 1));
			process.stdout.write(JSON.stringify(ids));`;
		const outputs = await Promise.all(
			Array.from({ length: 3 }, () =>
				outputOf(
					spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] }),
				),
			),
		);
		const ids = outputs.flatMap((output) => JSON.parse(output) as string[]);
		expect(new Set(ids).size).toBe(120);
		expect(ids.toSorted()).toEqual(Array.from({ length: 120 }, (_, i) => blockId(i + 1)));
	});
});

async function outputOf(child: ChildProcess): Promise<string> {
	let output = "";
	for await (const chunk of child.stdout ?? []) output += String(chunk);
	return output;
}
