/** Files and message lists, sound and not. */
import {
	appendFileSync,
	closeSync,
	existsSync,
	mkdirSync,
	openSync,
	readdirSync,
	truncateSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createEngine, type ErrorCode, MidcompactError, openSession } from "#src/index.js";
import { assistantMessage, jsonLines, piSession, scratchFolder, userMessage } from "../helpers/files.js";

const files = scratchFolder();
const engine = createEngine({ threads: 2 });
afterAll(() => engine.close());

async function failure(opening: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> {
	const thrown = await opening.then(
		() => null,
		(error: unknown) => error,
	);
	expect(thrown).toBeInstanceOf(MidcompactError);
	return thrown as MidcompactError;
}

describe("what cannot be opened", () => {
	mkdirSync(join(files.path, "folder"));
	it.each<[name: string, path: string, code: ErrorCode]>([
		["a missing file", join(files.path, "nowhere.jsonl"), "unreadable"],
		["a path below a file", join(files.write("plain", "x"), "deeper"), "unreadable"],
		["a directory", join(files.path, "folder"), "not_a_session"],
		["a device", "/dev/null", "not_a_session"],
		["an empty file", files.write("empty.jsonl", ""), "not_a_session"],
		[
			"a binary file",
			files.write("binary", Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256))),
			"not_a_session",
		],
		["text without JSON", files.write("text.md", "# Title\n\nSome words.\n"), "not_a_session"],
		["blank lines only", files.write("blank.jsonl", "\n\n  \n"), "not_a_session"],
		["zeros only", files.write("zeros.jsonl", Buffer.alloc(100_000)), "not_a_session"],
		["JSON of no known format", files.write("other.jsonl", '{"level":"info","msg":"x"}\n'), "unknown_format"],
		[
			"a UTF-16 file",
			files.write("utf16.jsonl", Buffer.from(`\ufeff${jsonLines(piSession([userMessage("hi")]))}`, "utf16le")),
			"not_a_session",
		],
		["megabytes of garbage", files.write("garbage.jsonl", "no record here\n".repeat(700_000)), "not_a_session"],
		["an array of numbers", files.write("numbers.json", "[1,2,3]"), "not_a_session"],
		["an empty array", files.write("none.json", "[]"), "not_a_session"],
	])("%s", async (_name, path, code) => {
		const error = await failure(engine.open(path));
		expect(error.code).toBe(code);
		expect(error.message).not.toContain("Unexpected");
	});

	it("names the formats that were looked for", async () => {
		const { message } = await failure(engine.open(files.write("log.jsonl", '{"level":"info"}\n')));
		for (const format of ["pi", "claude-code", "codex", "openai-chat", "anthropic"]) expect(message).toContain(format);
	});

	it("an unknown format, scope or encoding name, and an unknown leaf", async () => {
		const path = files.write("ok.jsonl", jsonLines(piSession([userMessage("hi")])));
		for (const options of [{ format: "word" }, { scope: "all" }, { encoding: "p50k" }]) {
			expect((await failure(engine.open(path, options as never))).code).toBe("invalid_field");
		}
		expect((await failure(engine.open(path, { leaf: "ffffffff" }))).code).toBe("unknown_ref");
	});

	it.each([
		{ threads: 0 },
		{ threads: "2" },
		{ chunkBytes: Number.NaN },
		{ readBytes: 0 },
		{ indexBudget: -1 },
		{ onProgress: "x" },
		{ signal: "x" },
	])("the option %o", async (options) => {
		const path = files.write("fine.jsonl", jsonLines(piSession([userMessage("hi")])));
		expect((await failure(openSession(path, options as never))).code).toBe("invalid_field");
	});

	it("a list that holds no messages", async () => {
		expect((await failure(engine.open([]))).code).toBe("not_a_session");
		expect((await failure(engine.open([1, "a"]))).code).toBe("not_a_session");
		expect((await failure(engine.open([{ role: "user", content: 1n }]))).code).toBe("not_a_session");
		expect((await failure(engine.open({ role: "user" } as never))).code).toBe("not_a_session");
	});

	it("a list whose messages turn into something else in JSON", async () => {
		expect((await failure(engine.open([{ toJSON: () => undefined }]))).code).toBe("not_a_session");
		expect((await failure(engine.open([{ toJSON: () => "text" }]))).code).toBe("not_a_session");
	});

	it.skipIf(!existsSync("/proc/self/task"))("leaves no thread behind when opening fails", async () => {
		const threads = () => readdirSync("/proc/self/task").length;
		await failure(openSession(files.write("bad.jsonl", "nothing\n")));
		const before = threads();
		for (let i = 0; i < 3; i++) await failure(openSession(files.write("bad.jsonl", "nothing\n")));
		expect(threads()).toBe(before);
	});
});

describe("a message list in memory", () => {
	it("is read like the file of the same records", async () => {
		const entries = piSession([userMessage("hello"), assistantMessage("world")]);
		const file = await engine.open(files.write("same.jsonl", jsonLines(entries)));
		const memory = await engine.open(entries);
		await Promise.all([file.ready(), memory.ready()]);
		const ask = { request: { action: "locate_ref", ref: "a0002", detail: "full" } };
		expect(await memory.request(ask)).toEqual(await file.request(ask));
		expect(memory.survey.path).toBeNull();
		await Promise.all([file.close(), memory.close()]);
	});

	it("protects messages without an id where the format has ids", async () => {
		const session = await engine.open([userMessage("hello"), assistantMessage("world")], { format: "pi" });
		expect([0, 1].map((a) => session.survey.atoms.reasonOf(a))).toEqual(["missing_entry", "missing_entry"]);
		await session.close();
	});

	it("says so when a format finds no message in it", async () => {
		const session = await engine.open(piSession([userMessage("hello")]), { format: "claude-code" });
		expect(session.survey.notices.join()).toContain("None of the 2 records is a message");
		await session.close();
	});

	it("takes OpenAI messages by their place", async () => {
		const session = await engine.open([
			{ role: "user", content: "hello" },
			{ role: "assistant", content: "world" },
		]);
		expect(session.survey.format).toBe("openai-chat");
		expect(session.survey.anchor).toBe("#1");
		expect(session.survey.atoms.reasonOf(0)).toBeNull();
		await session.close();
	});
});

describe("one JSON document", () => {
	const messages = [
		{ role: "user", content: "hello" },
		{ role: "assistant", content: [{ type: "text", text: "world" }] },
	];
	it.each([
		["whole on one line", JSON.stringify({ system: "be kind", messages })],
		["pretty-printed", JSON.stringify({ system: "be kind", messages }, null, 2)],
		[
			"an opened list on the first line",
			`{"system":"be kind","messages":[\n${messages.map((m) => JSON.stringify(m)).join(",\n")}\n]}`,
		],
		[
			"messages first",
			`{"messages": [\n${messages.map((m) => JSON.stringify(m, null, 1)).join(",")}], "system": "be kind"}`,
		],
	])("is read with its fields: %s", async (_name, text) => {
		const session = await engine.open(files.write("doc.json", text), {
			format: "anthropic",
			background: { index: false },
		});
		await session.ready();
		expect([session.survey.atoms.length, session.survey.system.chars, session.survey.damage.count]).toEqual([2, 7, 0]);
		await session.close();
	});

	it("takes an element that looks like a field for an element", async () => {
		const session = await engine.open(
			files.write("odd.json", JSON.stringify([...messages, { tools: ["x".repeat(50)] }])),
			{ format: "anthropic" },
		);
		await session.ready();
		const last = session.survey.atoms.length - 1;
		expect([session.survey.atoms.chars.at(last), session.survey.tokens.ofAtom(last)]).toEqual([0, 0]);
		await session.close();
	});

	it("loses no session to one hostile record", async () => {
		const hostile = {
			type: "attachment",
			uuid: "u9",
			parentUuid: null,
			sessionId: "s",
			attachment: { type: { toString: 1 }, hookEvent: { toString: 1 } },
		};
		const line = {
			type: "user",
			uuid: "u1",
			parentUuid: "u9",
			sessionId: "s",
			isSidechain: false,
			message: { role: "user", content: "hi" },
		};
		const session = await engine.open(files.write("hostile.jsonl", jsonLines([hostile, line])), {
			background: { tokens: false, index: false },
		});
		expect(session.survey.atoms.length).toBe(1);
		await session.close();
	});
});

describe("a file that changes", () => {
	it("is read as long as it was when it was opened; an unfinished last line is then no damage", async () => {
		const path = files.write("growing.jsonl", `${jsonLines(piSession([userMessage("one")]))}{"type":"mess`);
		let grown = false;
		const session = await engine.open(path, {
			onProgress: () => {
				if (!grown) appendFileSync(path, 'age","id":"0000000f"}\n');
				grown = true;
			},
		});
		expect(session.survey.damage.count).toBe(0);
		expect(session.survey.notices.join()).toContain("grew by 22 bytes");
		await session.close();
		const unfinished = files.write("unfinished.jsonl", `${jsonLines(piSession([userMessage("one")]))}{"type":"mess`);
		const other = await engine.open(unfinished);
		expect(other.survey.damage.kinds).toEqual({ torn_tail: 1 });
		await other.close();
	});

	it("fails a request with a clear error when the bytes are gone", async () => {
		const path = files.write("cut.jsonl", jsonLines(piSession([userMessage("one"), assistantMessage("two")])));
		const session = await engine.open(path);
		await session.ready();
		truncateSync(path, 200);
		const reply = await session.request({ request: { action: "locate_ref", ref: "a0002" } });
		expect(reply.ok ? "" : reply.error.code).toBe("unreadable");
		await session.close();
	});
});

describe("a file that is cut while it is read", () => {
	const long = () =>
		jsonLines(piSession(Array.from({ length: 30_000 }, (_, i) => userMessage(`message ${i} ${"x".repeat(300)}`))));

	it("rejects the opening, and nothing else", async () => {
		const path = files.write("cut-early.jsonl", long());
		const opening = engine.open(path, { chunkBytes: 100_000, onProgress: () => truncateSync(path, 1000) });
		expect((await failure(opening)).code).toBe("unreadable");
	});

	it("rejects what waits for tokens and index, and nothing else", async () => {
		for (const background of [
			{ tokens: true, index: false },
			{ tokens: false, index: true },
		]) {
			const path = files.write("cut-late.jsonl", long());
			const session = await engine.open(path, { background });
			truncateSync(path, 1000);
			expect((await failure(session.ready())).code).toBe("unreadable");
			await session.close();
		}
	});
});

describe("what stands before the first record", () => {
	it.each([
		["blank lines", "\n".repeat(2_000_000)],
		["a line of garbage", `${"garbage ".repeat(300_000)}\n`],
		["zeros", "\0".repeat(2_000_000)],
	])("may be megabytes of %s", async (_name, before) => {
		const path = files.write("late.jsonl", before + jsonLines(piSession([userMessage("hi")])));
		const session = await engine.open(path, { background: { tokens: false, index: false } });
		expect([session.survey.format, session.survey.atoms.length]).toEqual(["pi", 1]);
		await session.close();
	});
});

describe("giant inputs", () => {
	const record = (text: string) => jsonLines(piSession([userMessage(text)]));

	it("opens a sparse file beyond the string limit (pi#5231, qwen-code#4363)", async () => {
		const path = join(files.path, "sparse.jsonl");
		const head = record("before the hole");
		const tail = `\n${JSON.stringify({ type: "message", id: "0000000f", parentId: "00000001", timestamp: "2026-01-01T00:00:00.000Z", message: assistantMessage("behind the hole") })}\n`;
		const fd = openSync(path, "w");
		writeSync(fd, head, 0);
		writeSync(fd, tail, 0x20000000);
		closeSync(fd);
		const session = await engine.open(path, { background: { tokens: false, index: false } });
		expect(session.survey.atoms.length).toBe(2);
		expect(session.survey.damage.kinds).toEqual({ nul_run: 1 });
		expect(session.survey.damage.first[0].offset).toBe(Buffer.byteLength(head));
		await session.close();
	});

	it("keeps the facts of a record above 64 MiB and goes on behind it (copilot-cli#4325)", async () => {
		const path = join(files.path, "giant.jsonl");
		const size = 70 * 1024 * 1024;
		const [header, entry] = record("@").trim().split("\n");
		const [before, after] = entry.split("@");
		const fd = openSync(path, "w");
		writeSync(fd, `${header}\n${before}`);
		const block = "é-word ".repeat(1 << 17);
		let chars = 0;
		for (let bytes = 0; bytes < size; bytes += Buffer.byteLength(block), chars += block.length) writeSync(fd, block);
		writeSync(
			fd,
			`${after}\n${JSON.stringify({ type: "message", id: "0000000f", parentId: "00000001", timestamp: "2026-01-01T00:00:00.000Z", message: assistantMessage("next") })}\n`,
		);
		closeSync(fd);
		const session = await engine.open(path);
		await session.ready();
		expect(session.survey.atoms.length).toBe(2);
		expect(session.survey.atoms.chars.at(0)).toBe(chars);
		expect(session.survey.tokens.approximateAtoms).toBe(1);
		expect(session.survey.unsearchedAtoms).toBe(1);
		expect(session.survey.notices.join()).toContain("larger than 64 MiB");
		const reply = await session.request({ request: { action: "locate_search", pattern: "é-word" } });
		expect(reply.ok && (reply.data as { total: number }).total).toBe(1);
		await session.close();
	});
});

describe("cancelling", () => {
	it("ends an opening that is almost done with `cancelled`", async () => {
		const controller = new AbortController();
		const opening = engine.open(files.write("abort-late.jsonl", record200()), {
			signal: controller.signal,
			onProgress: ({ scan }) => scan === 1 && controller.abort(),
		});
		expect((await failure(opening)).code).toBe("cancelled");
	});

	it("ends what a session is waiting for when its engine closes, at any moment", async () => {
		const path = files.write("close-engine.jsonl", record200());
		for (const wait of [0, 20, 120, 400]) {
			const own = createEngine({ threads: 1 });
			const session = await own.open(path);
			const ready = session.ready().then(
				() => "done",
				(error: MidcompactError) => error.code,
			);
			await new Promise((resolve) => setTimeout(resolve, wait));
			await own.close();
			expect(["done", "cancelled"]).toContain(await ready);
			await session.close();
			await session.close();
		}
	});

	it("an aborted signal ends the opening with `cancelled`", async () => {
		const path = files.write("abort.jsonl", record200());
		expect((await failure(engine.open(path, { signal: AbortSignal.abort() }))).code).toBe("cancelled");
	});

	it("a closed session answers `cancelled`, and its engine serves others", async () => {
		const path = files.write("close.jsonl", record200());
		const session = await engine.open(path);
		await session.close();
		const reply = await session.request({ request: { action: "locate_ref", ref: "a0001" } });
		expect(reply.ok ? "" : reply.error.code).toBe("cancelled");
		const other = await engine.open(path);
		await other.ready();
		await other.close();
	});

	function record200(): string {
		return jsonLines(
			piSession(
				Array.from({ length: 200 }, (_, i) => (i % 2 ? assistantMessage(`reply ${i}`) : userMessage(`ask ${i}`))),
			),
		);
	}
});
