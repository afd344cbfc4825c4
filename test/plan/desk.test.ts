import { execFile } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { MidcompactError } from "#src/errors.js";
import { Desk, type DeskParts } from "#src/plan/desk.js";
import { fileLock } from "#src/plan/file-lock.js";
import { FileJournal } from "#src/plan/journal.js";
import type { PlanLock } from "#src/plan/lock.js";
import { type Change, digestOf } from "#src/plan/plan.js";
import type { JournalEntry, PlanStore } from "#src/plan/store.js";
import { scratchFolder } from "../helpers/files.js";
import { AT, addEntry, anchor, lineOf, range, startEntry } from "./plans.js";

const scratch = scratchFolder();
const WRITER = fileURLToPath(new URL("writer.mjs", import.meta.url));
const facts = { mode: "agent", instructions: "Keep the parser.", anchor: anchor() } as const;
const everywhere = async () => true;
const nowhere = async () => false;
const add = (id: string, from: number, to: number): Change => ({ kind: "add", range: range(id, from, to) });

/** A slot with the real journal and lock. */
function slot(started = 0): { folder: string; journal: string; parts(): DeskParts; desk(transaction?: string): Desk } {
	const folder = mkdtempSync(join(scratch.path, "slot-"));
	let ids = started;
	const parts = (): DeskParts => ({
		store: new FileJournal(join(folder, "journal.jsonl")),
		lock: fileLock(folder),
		now: () => new Date(AT),
		newId: () => `t${++ids}`,
		stands: async (path, bytes) => statSync(path, { throwIfNoEntry: false })?.size === bytes,
	});
	return {
		folder,
		journal: join(folder, "journal.jsonl"),
		parts,
		desk: (transaction) => new Desk(parts(), transaction ?? null),
	};
}

/** A slot whose journal holds the entries. */
function slotWith(...entries: unknown[]) {
	const made = slot(10);
	writeFileSync(made.journal, entries.map(lineOf).join(""));
	return made;
}

describe("a transaction", () => {
	it("is started, changed and seen by every other desk", async () => {
		const { desk } = slot();
		const ours = desk();
		expect(await ours.current()).toBeNull();
		expect(await ours.start(facts, everywhere)).toEqual({
			id: "t1",
			startedAt: AT,
			mode: "agent",
			instructions: "Keep the parser.",
			anchor: anchor(),
			plan: { revision: 0, ranges: [], nextRange: "d1" },
			digest: digestOf(anchor(), []),
			holder: null,
			notices: [],
		});
		const changed = await ours.change(() => add("d1", 3, 7));
		expect(changed.plan).toEqual({ revision: 1, ranges: [range("d1", 3, 7)], nextRange: "d2" });
		expect(changed.digest).toBe(digestOf(anchor(), [range("d1", 3, 7)]));
		expect(await desk("t1").current()).toEqual(changed);
	});

	it("is one of several when they lie on different branches, each with a plan of its own", async () => {
		const { desk } = slot();
		const [one, other] = [desk(), desk()];
		await one.start(facts, everywhere);
		await other.start({ ...facts, anchor: anchor({ entry: "e5" }) }, async ({ entry }) => entry !== "e9");
		await one.change(() => add("d1", 0, 1));
		await other.change(() => add("d1", 5, 6));
		await other.change(() => ({ kind: "remove", id: "d1" }));
		expect((await one.current())?.plan).toMatchObject({ revision: 1, ranges: [range("d1", 0, 1)] });
		expect((await other.current())?.plan).toMatchObject({ revision: 2, ranges: [] });
		expect((await desk().ledger()).open.map(({ id, anchor: { entry } }) => [id, entry])).toEqual([
			["t1", "e9"],
			["t2", "e5"],
		]);
	});

	it("is refused on a branch with an open one, which the error names", async () => {
		const { desk, journal } = slot();
		await desk().start(facts, everywhere);
		const before = readFileSync(journal);
		await expect(desk().start(facts, everywhere)).rejects.toMatchObject({
			code: "transaction_active",
			message: `The transaction t1 is open on this branch since ${AT}, with 0 ranges, anchored at e9.`,
		});
		expect(readFileSync(journal)).toEqual(before);
	});

	it("may follow one that was aborted", async () => {
		const { desk } = slot();
		const ours = desk();
		await ours.start(facts, everywhere);
		await ours.change(() => add("d1", 0, 1));
		expect((await ours.abort()).plan.ranges).toHaveLength(1);
		expect(await ours.current()).toBeNull();
		await ours.start(facts, everywhere);
		expect(await ours.current()).toMatchObject({ id: "t2", plan: { revision: 0, ranges: [] } });
	});

	it("names the holder of the planning lock", async () => {
		const { desk } = slot();
		const ours = desk();
		await ours.start(facts, everywhere);
		await ours.lock.acquire("agent");
		expect((await desk("t1").current())?.holder).toMatchObject({ owner: "agent", pid: process.pid });
		expect((await ours.change(() => add("d1", 0, 1))).holder).toMatchObject({ owner: "agent" });
		await expect(desk("t1").change(() => add("d2", 5, 6))).rejects.toMatchObject({ code: "locked" });
		await ours.lock.release();
	});
});

describe("a change", () => {
	it.each<[name: string, work: (desk: Desk) => Promise<unknown>]>([
		["change", (desk) => desk.change(() => add("d1", 0, 1))],
		["undo", (desk) => desk.undo()],
		["abort", (desk) => desk.abort()],
		["commit", (desk) => desk.commit({ digest: "", path: "", bytes: 0, session: null, blocks: [] }, async () => {})],
	])("needs a transaction: %s", async (_name, work) => {
		const { desk } = slotWith(startEntry("t1"), { type: "abort", transaction: "t1", at: AT }, startEntry("t3"));
		for (const transaction of [undefined, "t1", "t2"])
			await expect(work(desk(transaction))).rejects.toMatchObject({ code: "no_transaction" });
	});

	it.each<[name: string, decide: () => Change, code: string]>([
		["that is refused by its maker", () => refuse("protected_atom"), "protected_atom"],
		["that overlaps", () => add("d2", 15, 20), "overlap"],
		["of a range that is not there", () => ({ kind: "update", id: "d7", topic: "t" }), "unknown_range"],
		["that uses an id again", () => add("d1", 50, 51), "invalid_field"],
	])("%s leaves no trace", async (_name, decide, code) => {
		const { desk, journal } = slotWith(startEntry("t1"), addEntry("t1", 1));
		const before = readFileSync(journal);
		const ours = desk("t1");
		await expect(ours.change(decide)).rejects.toMatchObject({ code });
		expect(readFileSync(journal)).toEqual(before);
		expect((await ours.current())?.plan).toMatchObject({ revision: 1, ranges: [range("d1", 10, 15)] });
	});

	it("that cannot be written was not made", async () => {
		const { parts } = slotWith(startEntry("t1"), addEntry("t1", 1));
		const { store, ...others } = parts();
		const full: PlanStore = {
			load: () => store.load(),
			append: async () => {
				throw new MidcompactError("state_unavailable", "The disk is full.");
			},
		};
		const ours = new Desk({ ...others, store: full }, "t1");
		await expect(ours.change(() => add("d2", 50, 51))).rejects.toMatchObject({ code: "state_unavailable" });
		expect((await ours.current())?.plan).toMatchObject({ revision: 1, nextRange: "d2" });
	});

	it("sees the plan as others left it, and none is lost", async () => {
		const { desk } = slotWith(startEntry("t1"));
		const desks = [desk("t1"), desk("t1"), desk("t1")];
		const next = (ours: Desk) =>
			ours.change(({ plan: { ranges, nextRange } }) => add(nextRange, ranges.length, ranges.length));
		const made = await Promise.all(Array.from({ length: 30 }, (_, i) => next(desks[i % 3])));
		expect(made.map(({ plan }) => plan.revision).sort((a, b) => a - b)).toEqual(made.map((_, i) => i + 1));
		expect((await desk("t1").current())?.plan.ranges.map(({ id, start }) => `${id}@${start}`)).toEqual(
			made.map((_, i) => `d${i + 1}@${i}`),
		);
	});

	it("of two processes at once is never lost", async () => {
		const { folder, desk } = slotWith(startEntry("t1"));
		const edit = async () => {
			const { stdout } = await promisify(execFile)(process.execPath, [WRITER, "edit", folder, "t1", "40"]);
			return JSON.parse(stdout) as number[];
		};
		const made = (await Promise.all([edit(), edit()])).flat();
		expect(made.sort((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
		expect(await desk("t1").current()).toMatchObject({ plan: { revision: 80, nextRange: "d81" }, notices: [] });
	});

	it("is taken back by an undo, and that by nothing", async () => {
		const { desk } = slotWith(startEntry("t1"), addEntry("t1", 1), addEntry("t1", 2));
		const ours = desk("t1");
		expect((await ours.undo()).plan).toEqual({ revision: 3, ranges: [range("d1", 10, 15)], nextRange: "d3" });
		expect((await desk("t1").undo()).plan).toMatchObject({ revision: 4, ranges: [] });
		await expect(ours.undo()).rejects.toMatchObject({ code: "empty_plan" });
		expect((await ours.change(({ plan }) => add(plan.nextRange, 0, 1))).plan.ranges).toEqual([range("d3", 0, 1)]);
	});
});

function refuse(code: "protected_atom"): never {
	throw new MidcompactError(code, "Refused.");
}

describe("a commit", () => {
	const blocks = [{ id: "c0001", range: "d1", topic: "", summary: "what happened in d1" }];
	const digest = digestOf(anchor(), [range("d1", 10, 15)]);
	/** A slot with one range, and where its new session goes. */
	function planned() {
		const made = slotWith(startEntry("t1"), addEntry("t1", 1));
		const path = join(made.folder, "new.jsonl");
		return {
			...made,
			path,
			written: { digest, path, bytes: 7, session: "s2", blocks },
			publish: async () => writeFileSync(path, "content"),
		};
	}
	const typesIn = (journal: string) =>
		readFileSync(journal, "utf8")
			.trimEnd()
			.split("\n")
			.map((line) => (JSON.parse(line) as JournalEntry).type);

	it("ends the transaction and is remembered", async () => {
		const { desk, journal, path, written, publish } = planned();
		const ours = desk("t1");
		const committed = { transaction: "t1", at: AT, path, session: "s2", blocks };
		expect(await ours.commit(written, publish)).toEqual(committed);
		expect(typesIn(journal)).toEqual(["start", "change", "commit", "committed"]);
		expect(await ours.current()).toBeNull();
		// Whatever becomes of the file.
		writeFileSync(path, "content and more");
		expect(await desk().ledger()).toEqual({
			open: [],
			committed: [committed],
			transactions: ["t1"],
			notices: [],
		});
	});

	it("is refused for a plan that the user did not see", async () => {
		const { desk, journal, path, written, publish } = planned();
		await desk("t1").change(() => ({ kind: "update", id: "d1", summary: "another" }));
		await expect(desk("t1").commit(written, publish)).rejects.toMatchObject({
			code: "plan_changed",
			message: expect.stringContaining(digest),
		});
		expect(typesIn(journal)).toEqual(["start", "change", "change"]);
		expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
	});

	it("whose file cannot be published is withdrawn, even where a file of that size stands", async () => {
		const { desk, journal, path, written } = planned();
		writeFileSync(path, "foreign");
		const publish = () => Promise.reject(new MidcompactError("output_exists", "It exists."));
		await expect(desk("t1").commit(written, publish)).rejects.toMatchObject({ code: "output_exists" });
		expect(typesIn(journal)).toEqual(["start", "change", "commit", "withdrawn"]);
		expect(await desk("t1").current()).toMatchObject({ id: "t1", plan: { revision: 1 } });
		expect((await desk().ledger()).committed).toEqual([]);
	});

	it("that a crash cut off before the file was there is none", async () => {
		const { desk, journal, written } = planned();
		appendFileSync(journal, lineOf({ type: "commit", transaction: "t1", at: AT, ...written }));
		expect((await desk("t1").current())?.plan.ranges).toHaveLength(1);
		await expect(desk().start(facts, everywhere)).rejects.toMatchObject({ code: "transaction_active" });
		await desk("t1").change(() => ({ kind: "update", id: "d1", topic: "t" }));
		expect(typesIn(journal)).toEqual(["start", "change", "commit", "withdrawn", "change"]);
	});

	it("that a crash cut off behind that is one, and stays one when the new session goes on", async () => {
		const { desk, journal, path, written, publish } = planned();
		appendFileSync(journal, lineOf({ type: "commit", transaction: "t1", at: AT, ...written }));
		await publish();
		expect(await desk("t1").current()).toBeNull();
		expect((await desk().ledger()).committed).toHaveLength(1);
		await desk().start(facts, everywhere);
		expect(typesIn(journal)).toEqual(["start", "change", "commit", "committed", "start"]);
		appendFileSync(path, "more");
		expect(await desk().ledger()).toMatchObject({ open: [{ id: "t11" }], committed: [{ transaction: "t1" }] });
	});

	it("never fails once the new session has its name", async () => {
		const { parts, path, written, publish } = planned();
		const { store, lock, ...others } = parts();
		let published = false;
		const lost: PlanLock = {
			...lock,
			holder: () => lock.holder(),
			exclusively: (work) =>
				lock.exclusively(work).then(() => {
					throw new MidcompactError("locked", "Another one took its turn.");
				}),
		};
		const full: PlanStore = {
			load: () => store.load(),
			append: (entry) =>
				published ? Promise.reject(new MidcompactError("state_unavailable", "Full.")) : store.append(entry),
		};
		const ours = new Desk({ ...others, store: full, lock: lost }, "t1");
		const committed = ours.commit(written, async () => {
			await publish();
			published = true;
		});
		expect(await committed).toMatchObject({ transaction: "t1", path });
		expect(await ours.current()).toBeNull();
	});
});

describe("entries that do not fit", () => {
	const head = { transaction: "t1", at: AT };

	it.each<[name: string, entries: unknown[], notice: RegExp]>([
		[
			"a second change of one revision (a writer that lost its lock)",
			[{ ...addEntry("t1", 3), revision: 1 }],
			/^An entry \("change" of .*\) of the transaction t1 does not fit what stands before and was left out\.$/,
		],
		[
			"a change of a range that is not there",
			[{ ...addEntry("t1", 2), change: { kind: "remove", id: "d8" } }],
			/"change"/,
		],
		["a change that overlaps", [addEntry("t1", 2, { start: 12 })], /"change"/],
		["an undo too many", [undo(2), undo(3)], /"change"/],
		["a second start", [startEntry("t1", { entry: "e1" })], /"start"/],
		["an end of a commit that was not begun", [{ type: "committed", ...head }], /"committed"/],
		[
			"changes of a transaction that never started",
			[addEntry("t7", 1), addEntry("t7", 2)],
			/^2 entries .*t7 do not fit/,
		],
	])("are left out and said: %s", async (_name, entries, notice) => {
		const { desk } = slotWith(startEntry("t1"), addEntry("t1", 1), ...entries);
		const found = await desk("t1").current();
		expect(found?.anchor).toEqual(anchor());
		expect(found?.notices).toEqual([expect.stringMatching(notice)]);
		expect((await desk("t1").change(({ plan }) => add(plan.nextRange, 60, 61))).plan.ranges.at(-1)?.start).toBe(60);
	});

	function undo(revision: number) {
		return { type: "change", ...head, revision, change: { kind: "undo" } };
	}

	it("are all that come behind the end of a transaction", async () => {
		const { desk } = slotWith(startEntry("t1"), { type: "abort", ...head }, addEntry("t1", 1), addEntry("t1", 2));
		const ledger = await desk().ledger();
		expect(ledger).toMatchObject({ open: [], notices: [expect.stringMatching(/^2 entries/)] });
	});

	it("are not those behind a change that cannot be read: they count, and what is missing is said", async () => {
		const { desk, journal } = slotWith(startEntry("t1"), addEntry("t1", 1));
		appendFileSync(journal, `{"type":"change"\n${lineOf(addEntry("t1", 3))}${lineOf(addEntry("t1", 4))}`);
		const found = await desk("t1").current();
		expect(found?.plan).toMatchObject({ revision: 4, nextRange: "d5" });
		expect(found?.plan.ranges.map(({ id }) => id)).toEqual(["d1", "d3", "d4"]);
		expect(found?.notices).toEqual([
			expect.stringMatching(/^The journal holds a line that does not read/),
			"A change of the transaction t1 cannot be read any more: look at the plan before it is committed.",
		]);
	});
});

describe("starting on another branch", () => {
	it("asks about every open transaction and no other", async () => {
		const { desk } = slotWith(
			startEntry("t1", { entry: "e1" }),
			startEntry("t2", { entry: "e2" }),
			{ type: "abort", transaction: "t1", at: AT },
			startEntry("t3", { entry: "e3" }),
		);
		const asked: string[] = [];
		await desk().start(facts, ({ entry }) => {
			asked.push(entry);
			return nowhere();
		});
		expect(asked).toEqual(["e2", "e3"]);
	});
});
