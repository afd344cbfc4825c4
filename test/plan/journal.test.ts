import { execFileSync } from "node:child_process";
import {
	appendFileSync,
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileJournal } from "#src/plan/journal.js";
import type { JournalEntry } from "#src/plan/store.js";
import { scratchFolder } from "../helpers/files.js";
import { AT, addEntry, anchor, lineOf, startEntry } from "./plans.js";

const scratch = scratchFolder();
/** Path of a journal in a folder of its own; with content, or none. */
function journalPath(content?: string | Uint8Array): string {
	const path = join(mkdtempSync(join(scratch.path, "slot-")), "journal.jsonl");
	if (content !== undefined) writeFileSync(path, content);
	return path;
}

const WRITER = fileURLToPath(new URL("writer.mjs", import.meta.url));
const start = startEntry("t1");
const changes = Array.from({ length: 6 }, (_, i) => addEntry("t1", i + 1, { summary: `déjà vu ${i} 😀` }));
const entries: JournalEntry[] = [start, ...changes];
const content = entries.map(lineOf).join("");

describe("a journal", () => {
	it("that is not there is empty, and is not made by looking", async () => {
		const path = journalPath();
		expect(await new FileJournal(path).load()).toEqual({ entries: [], notices: [] });
		expect(() => statSync(path)).toThrow("ENOENT");
	});

	it("gives back what was appended, one line an entry, readable by its owner alone", async () => {
		const path = journalPath();
		const journal = new FileJournal(path);
		for (const entry of entries) await journal.append(entry);
		expect(readFileSync(path, "utf8")).toBe(content);
		expect(statSync(path).mode & 0o777).toBe(0o600);
		for (const reader of [journal, new FileJournal(path)])
			expect(await reader.load()).toEqual({ entries, notices: [] });
	});

	it("keeps all kinds of entries", async () => {
		const blocks = [{ id: "c0001", range: "d1", topic: "", summary: "s" }];
		const facts = { digest: "0123456789ab", path: "/x.jsonl", bytes: 12, blocks };
		const head = { transaction: "t1", at: AT };
		const all: JournalEntry[] = [
			start,
			{ type: "change", ...head, revision: 1, change: { kind: "update", id: "d1", topic: "t" } },
			{ type: "change", ...head, revision: 2, change: { kind: "remove", id: "d1" } },
			{ type: "change", ...head, revision: 3, change: { kind: "undo" } },
			{ type: "commit", ...head, ...facts, session: null },
			{ type: "withdrawn", ...head },
			{ type: "commit", ...head, ...facts, session: "s1" },
			{ type: "committed", ...head },
			{ type: "abort", ...head },
		];
		const journal = new FileJournal(journalPath());
		for (const entry of all) await journal.append(entry);
		expect(await journal.load()).toEqual({ entries: all, notices: [] });
	});

	it("sees what somebody else appended", async () => {
		const path = journalPath(content);
		const [one, other] = [new FileJournal(path), new FileJournal(path)];
		await one.load();
		await other.append(addEntry("t1", 7));
		await other.append(addEntry("t1", 8));
		expect((await one.load()).entries).toEqual([...entries, addEntry("t1", 7), addEntry("t1", 8)]);
		await one.append(addEntry("t1", 9));
		expect((await other.load()).entries).toHaveLength(10);
	});

	it("is read and written by many at once in one process", async () => {
		const journal = new FileJournal(journalPath(content));
		const loads = await Promise.all([
			journal.load(),
			journal.append(addEntry("t1", 7)),
			journal.load(),
			journal.append(addEntry("t1", 8)),
			journal.load(),
		]);
		expect(loads.map((loaded) => loaded?.entries.length)).toEqual([7, undefined, 8, undefined, 9]);
	});

	it("reads entries of any length", async () => {
		const long = Array.from({ length: 3 }, (_, i) => addEntry("t1", i + 1, { summary: "ü\n".repeat(800_000 + i) }));
		const path = journalPath();
		const journal = new FileJournal(path);
		for (const entry of [start, ...long]) await journal.append(entry);
		expect((await new FileJournal(path).load()).entries).toEqual([start, ...long]);
	});

	it("is read anew when another file stands in its place", async () => {
		const path = journalPath(content);
		const journal = new FileJournal(path);
		await journal.load();
		const others = [startEntry("t2"), ...Array.from({ length: 20 }, (_, i) => addEntry("t2", i + 1))];
		writeFileSync(path, others.map(lineOf).join(""));
		expect((await journal.load()).entries).toEqual(others);
		writeFileSync(path, lineOf(start));
		expect(await journal.load()).toEqual({ entries: [start], notices: [] });
	});
});

describe("a torn end", () => {
	it.each<[name: string, tail: string | Uint8Array]>([
		["half a line", lineOf(addEntry("t1", 7)).slice(0, 40)],
		["a line without its end", lineOf(addEntry("t1", 7)).slice(0, -1)],
		["half a character", Buffer.from(lineOf(addEntry("t1", 7, { summary: "😀" }))).subarray(0, -8)],
		["zeros (claude-code#49876)", Buffer.alloc(4096)],
		["zeros and a line end", Buffer.concat([Buffer.alloc(100), Buffer.from("\n")])],
		["a last line that does not read", '{"type":"chan\n'],
		["several lines that do not read", "{\n}\n{"],
	])("is left out and said: %s", async (_name, tail) => {
		const path = journalPath(content);
		appendFileSync(path, tail);
		const loaded = await new FileJournal(path).load();
		expect(loaded.entries).toEqual(entries);
		expect(loaded.notices).toEqual([
			`The journal's last ${Buffer.byteLength(tail)} bytes are no whole entry and were left out.`,
		]);
	});

	it("is cut off before the next entry, so that no line is glued to it (cozempic#147), and stays said", async () => {
		const path = journalPath(content);
		appendFileSync(path, '{"type":"change","tra');
		const journal = new FileJournal(path);
		await journal.append(addEntry("t1", 7));
		expect(readFileSync(path, "utf8")).toBe(content + lineOf(addEntry("t1", 7)));
		const { notices } = await journal.load();
		expect(notices).toEqual(["At the end of the journal 21 bytes were no whole entry and were cut off."]);
	});

	it("counts when somebody ends the line", async () => {
		const path = journalPath(content);
		const line = lineOf(addEntry("t1", 7));
		const journal = new FileJournal(path);
		appendFileSync(path, line.slice(0, 30));
		expect((await journal.load()).notices).toHaveLength(1);
		appendFileSync(path, line.slice(30));
		expect(await journal.load()).toEqual({ entries: [...entries, addEntry("t1", 7)], notices: [] });
	});

	it("at any byte leaves a prefix of the entries, and the journal goes on from there", async () => {
		const bytes = Buffer.from(content);
		await fc.assert(
			fc.asyncProperty(fc.nat(bytes.length), async (cut) => {
				const path = journalPath(bytes.subarray(0, cut));
				const whole = entries.filter(
					(_, i) => bytes.indexOf(lineOf(entries[i])) + Buffer.byteLength(lineOf(entries[i])) <= cut,
				);
				const loaded = await new FileJournal(path).load();
				expect(loaded.entries).toEqual(whole);
				const kept = Buffer.byteLength(whole.map(lineOf).join(""));
				expect(loaded.notices).toHaveLength(cut > kept ? 1 : 0);
				const next = startEntry("t2");
				await new FileJournal(path).append(next);
				expect(readFileSync(path, "utf8")).toBe([...whole, next].map(lineOf).join(""));
			}),
			{ numRuns: 60 },
		);
	});
});

describe("damage inside", () => {
	const lines = entries.map(lineOf);
	/** The journal with something in place of the line at an index. */
	const with_ = (at: number, line: string | Uint8Array) =>
		Buffer.concat(lines.map((other, i) => Buffer.from(i === at ? line : other)));

	it.each<[name: string, line: string | Uint8Array]>([
		["half a line", `${lines[3].slice(0, 30)}\n`],
		["a line of zeros", Buffer.concat([Buffer.alloc(4096), Buffer.from("\n")])],
		["bytes that are no UTF-8", Buffer.from(lines[3].replace("vu", "\x80\x81"), "latin1")],
		["two lines glued together", lines[3].trimEnd() + lines[3]],
		["an empty line", "\n"],
	])("is left out and said, and what follows still counts: %s", async (_name, line) => {
		const path = journalPath(with_(3, line));
		const journal = new FileJournal(path);
		const expected = entries.filter((_, i) => i !== 3);
		const offset = Buffer.byteLength(lines.slice(0, 3).join(""));
		const notices = [
			`The journal holds a line that does not read, from byte ${offset} on: what stood there was left out.`,
		];
		expect(await journal.load()).toEqual({ entries: expected, notices });
		await journal.append(addEntry("t1", 7));
		expect(await journal.load()).toEqual({ entries: [...expected, addEntry("t1", 7)], notices });
		expect(readFileSync(path).subarray(0, offset + line.length)).toEqual(
			with_(3, line).subarray(0, offset + line.length),
		);
	});

	it("is counted over several looks at the file", async () => {
		const path = journalPath(`${lines[0]}torn\n${lines[1]}`);
		const journal = new FileJournal(path);
		await journal.load();
		appendFileSync(path, `torn\ntorn\n${lines[2]}`);
		const { notices } = await journal.load();
		expect(notices).toEqual([
			`The journal holds 3 lines that do not read, from byte ${lines[0].length} on: what stood there was left out.`,
		]);
	});

	it("by a line of 70 MB is passed over", async () => {
		const path = journalPath(lines[0]);
		appendFileSync(path, Buffer.alloc(70 << 20, "x"));
		appendFileSync(path, `\n${lines[1]}`);
		const loaded = await new FileJournal(path).load();
		expect(loaded.entries).toEqual([start, changes[0]]);
		expect(loaded.notices).toHaveLength(1);
	});
});

describe("lines of another version", () => {
	it.each<[name: string, line: unknown]>([
		["a kind that is not known", { type: "rebase", transaction: "t1", at: AT }],
		["a later version", { ...start, version: 2 }],
		["a change that is not known", { ...addEntry("t1", 1), change: { kind: "split", id: "d1" } }],
		["a transaction without a name", { ...start, transaction: "" }],
		["no anchor", { ...start, anchor: undefined }],
		["an anchor of an unknown format", startEntry("t1", { format: "x" as "pi" })],
		["an anchor without a count", { ...start, anchor: { ...anchor(), atoms: "3" } }],
		["a mode that is not known", { ...start, mode: "both" }],
		["a change without a revision", { ...addEntry("t1", 1), revision: undefined }],
		["a range that starts between atoms", addEntry("t1", 1, { start: 0.5 })],
		["a range that starts before the first atom", addEntry("t1", 1, { start: -1 })],
		["a range without a hash", addEntry("t1", 1, { hash: undefined })],
		["an update with a number for a topic", { ...addEntry("t1", 1), change: { kind: "update", id: "d1", topic: 5 } }],
		["a removal of nothing", { ...addEntry("t1", 1), change: { kind: "remove" } }],
		[
			"a commit without blocks",
			{ type: "commit", transaction: "t1", at: AT, digest: "", path: "", bytes: 1, session: null },
		],
		["no object", 5],
		["null", null],
		["a list", [start]],
	])("are kept in place, passed over and said: %s", async (_name, line) => {
		const path = journalPath(lineOf(start) + lineOf(line) + lineOf(changes[0]));
		const journal = new FileJournal(path);
		const notices = [
			"The journal holds an entry of a kind that this version does not know: left in place and passed over.",
		];
		expect(await journal.load()).toEqual({ entries: [start, changes[0]], notices });
		appendFileSync(path, lineOf(line));
		await journal.append(changes[1]);
		const [one, two, three] = [lineOf(start), lineOf(line), lineOf(changes[0])];
		expect(readFileSync(path, "utf8")).toBe(one + two + three + two + lineOf(changes[1]));
	});
});

describe("where it cannot be kept", () => {
	const root = process.getuid?.() === 0;
	const loopAt = (path: string) => {
		symlinkSync(path, path);
		return path;
	};

	it.each<[name: string, make: () => string, reason: RegExp]>([
		["no folder", () => join(scratch.path, "nowhere", "journal.jsonl"), /the folder it belongs in is not there/],
		["a folder in its place", () => mkdtempSync(join(scratch.path, "folder-")), /a folder stands where/],
		["a circle of links", () => loopAt(join(scratch.path, "loop")), /symbolic links/],
	])("an append says why: %s", async (_name, make, reason) => {
		const path = make();
		await expect(new FileJournal(path).append(start)).rejects.toMatchObject({
			code: "state_unavailable",
			message: expect.stringMatching(reason),
		});
	});

	it("a look says why: a folder in its place", async () => {
		await expect(new FileJournal(scratch.path).load()).rejects.toMatchObject({
			code: "state_unavailable",
			message: expect.stringMatching(/^The journal .* cannot be read: a folder stands/),
		});
	});

	it.skipIf(root)("a file that may not be written is left as it is", async () => {
		const path = journalPath(content);
		chmodSync(path, 0o400);
		const journal = new FileJournal(path);
		await expect(journal.append(addEntry("t1", 7))).rejects.toMatchObject({
			message: expect.stringMatching(/permission/),
		});
		expect(await journal.load()).toEqual({ entries, notices: [] });
	});

	it("goes on after a refusal", async () => {
		const folder = mkdtempSync(join(scratch.path, "late-"));
		const journal = new FileJournal(join(folder, "slot", "journal.jsonl"));
		await expect(journal.append(start)).rejects.toMatchObject({ code: "state_unavailable" });
		mkdirSync(join(folder, "slot"));
		await journal.append(start);
		expect((await journal.load()).entries).toEqual([start]);
	});

	it.skipIf(process.platform === "win32")("an entry that the system takes only in part leaves no trace", () => {
		const path = journalPath(content);
		// A file may not grow beyond 16 blocks of 512 bytes in this process: the first write is a short one, the next one fails.
		const limited = (size: number) =>
			JSON.parse(
				execFileSync(
					"sh",
					["-c", 'ulimit -f 16 && exec "$@"', "sh", process.execPath, WRITER, "append", join(path, ".."), String(size)],
					{
						encoding: "utf8",
					},
				),
			);
		expect(limited(100_000)).toMatchObject({ code: "state_unavailable", cause: "EFBIG" });
		expect(readFileSync(path, "utf8")).toBe(content);
		expect(limited(100)).toBe("appended");
		expect(readFileSync(path, "utf8").startsWith(content)).toBe(true);
	});
});
