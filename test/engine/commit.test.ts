import { copyFileSync, existsSync, readFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, at, call, result, user } from "../formats/claude-code/lines.js";
import { change, type Desk, newDesk, type Planned, questions, refusal, textOf } from "./planning-bench.js";

const ID = "0f0e0d0c-0b0a-4908-8706-050403020100";
const own = (lines: ReturnType<typeof questions>) => textOf(lines.map((line) => ({ ...line, sessionId: ID })));
const NAME = `${ID}.jsonl`;
const TALK = own(questions(4));

/** A session with two ranges: question 0 but for its answer, and question 2. */
async function planned(desk: Desk, text = TALK): Promise<{ path: string; opened: Planned }> {
	const path = desk.write(NAME, text);
	const opened = await desk.open(path);
	await opened.planning.start();
	await opened.add(0, 1);
	await opened.add(6, 8);
	return { path, opened };
}

/** Nothing came of a commit: no file, no originals, and the plan as it was. */
async function expectNothing(desk: Desk, opened: Planned, digest: string | undefined, names: readonly string[]) {
	expect(desk.names()).toEqual(names);
	expect(desk.kept()).toEqual([]);
	expect((await opened.planning.current())?.digest).toBe(digest);
}

describe("a session file that is not what the plan was made on", () => {
	/** `open`: how it is refused by a session that is open. */
	const CHANGES: Record<string, { how: (path: string) => void; words: string; open?: string }> = {
		"was changed in a range": {
			how: (path) => change(path, (text) => text.replace("done t2", "DONE t2")),
			words: "d2 \\(a0007..a0009\\) is no longer",
		},
		"was changed in both ranges": {
			how: (path) => change(path, (text) => text.replace("done t2", "DONE t2").replace("question 0", "QUESTION 0")),
			words: "d1 .*d2 ",
		},
		"was changed outside the ranges": {
			how: (path) => change(path, (text) => text.replace("answer 1", "ANSWER 1")),
			words: "outside the ranges",
		},
		"was cut off in a range": {
			how: (path) => truncateSync(path, TALK.indexOf("done t2")),
			words: "no longer in the session",
			open: "unreadable",
		},
		"was cut off behind the ranges": {
			how: (path) => truncateSync(path, TALK.indexOf("answer 3")),
			words: "no longer in the session",
			open: "unreadable",
		},
		"was replaced by another file under its name": {
			how: (path) => {
				writeFileSync(`${path}.new`, TALK.replace("answer 1", "ANSWER 1"));
				renameSync(`${path}.new`, path);
			},
			words: "outside the ranges",
			open: "unreadable",
		},
	};

	it.each(
		Object.keys(CHANGES).flatMap((what) => [
			[what, "while it is open"],
			[what, "before it is opened again"],
		]),
	)("%s %s: the commit is refused as a whole, and the plan can be given up", async (what, when) => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		const digest = (await opened.planning.current())?.digest;
		const isOpen = when === "while it is open";
		if (!isOpen) await opened.close();
		CHANGES[what].how(path);
		const changed = readFileSync(path);
		const now = isOpen ? opened : await desk.open(path);
		const { words, open } = CHANGES[what];
		const refused = isOpen && open ? refusal(open, "replaced or cut") : refusal("range_changed", words);
		await expect(now.planning.commit()).rejects.toEqual(refused);
		await expectNothing(desk, now, digest, [NAME]);
		expect(readFileSync(path).equals(changed)).toBe(true);
		await now.planning.abort();
		expect(await now.planning.current()).toBeNull();
		await now.close();
	});

	it.each([
		["was appended to", false, (path: string) => change(path, (text) => text + own(questions(1, 4, "a3")))],
		[
			"was replaced by an equal file under its name",
			true,
			(path: string) => {
				copyFileSync(path, `${path}.new`);
				renameSync(`${path}.new`, path);
			},
		],
	])("%s: the commit holds what the anchor holds", async (_what, again, how) => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		how(path);
		const before = readFileSync(path);
		if (again) await opened.close();
		const now = again ? await desk.open(path) : opened;
		const { path: fork, notices } = await now.planning.commit();
		expect(notices).toEqual([]);
		expect(readFileSync(path).equals(before)).toBe(true);
		const made = await desk.open(fork);
		const kinds = "block assistant user tool_exchange assistant block user tool_exchange assistant";
		expect(made.kinds().join(" ")).toBe(kinds);
		expect(await made.text(8)).toContain("answer 3");
		await Promise.all([now.close(), made.close()]);
	});
});

describe("a commit that is refused", () => {
	it("names everything that stands against the plan", async () => {
		const desk = newDesk();
		const path = desk.write(NAME, TALK);
		const opened = await desk.open(path);
		await opened.planning.start();
		await expect(opened.planning.commit()).rejects.toEqual(refusal("empty_plan"));
		await opened.add(0, 1, "");
		await opened.add(3, 4, "");
		await expect(opened.planning.commit()).rejects.toEqual(refusal("pending_summary", "d1 .*d2 "));
		const digest = (await opened.planning.current())?.digest;
		await expectNothing(desk, opened, digest, [NAME]);
		await opened.close();
	});

	it("is one for a digest that is not the plan's, and none for the one that is", async () => {
		const desk = newDesk();
		const { opened } = await planned(desk);
		const digest = (await opened.planning.current())?.digest ?? "";
		await opened.ask({ action: "plan_update", range_id: "d1", topic: "else" });
		const now = (await opened.planning.current())?.digest ?? "";
		await expect(opened.planning.commit({ digest })).rejects.toEqual(refusal("plan_changed", `${digest}.*${now}`));
		await expectNothing(desk, opened, now, [NAME]);
		await expect(opened.planning.commit({ digest: now })).resolves.toMatchObject({ blocks: [{ topic: "else" }, {}] });
		await opened.close();
	});

	it.each([
		["a file that exists", (folder: string) => join(folder, NAME), "output_exists"],
		["a folder that does not", (folder: string) => join(folder, "no", `${ID}.jsonl`), "invalid_output"],
		["a place below a file", (folder: string) => join(folder, NAME, `${ID}.jsonl`), "invalid_output"],
		["a name that the host does not find", (folder: string) => join(folder, "new.jsonl"), "invalid_output"],
	])("leaves everything as it was where it was to go to %s", async (_name, out, code) => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		const before = readFileSync(path);
		const digest = (await opened.planning.current())?.digest;
		await expect(opened.planning.commit({ out: out(desk.folder) })).rejects.toEqual(refusal(code));
		await expectNothing(desk, opened, digest, [NAME]);
		expect(readFileSync(path).equals(before)).toBe(true);
		await opened.close();
	});

	it("is one while somebody else holds the planning lock", async () => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		const other = await desk.open(path);
		await other.planning.lock?.acquire("ui");
		const digest = (await opened.planning.current())?.digest;
		await expect(opened.planning.commit()).rejects.toEqual(refusal("locked", "the user interface"));
		await other.planning.lock?.release();
		await expectNothing(desk, opened, digest, [NAME]);
		await expect(opened.planning.commit()).resolves.toBeTruthy();
		await Promise.all([opened.close(), other.close()]);
	});

	it("is the second of two at once, and the one of a plan that is changed meanwhile", async () => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		const other = await desk.open(path);
		const ends = await Promise.allSettled([opened.planning.commit(), other.planning.commit()]);
		const done = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
		const failed = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
		expect(done).toHaveLength(1);
		expect(failed).toEqual([refusal("no_transaction")]);
		expect(desk.names()).toEqual([NAME, done[0].path.slice(desk.folder.length + 1)].sort());
		await opened.planning.start();
		await opened.add(0, 1);
		const digest = await late(desk, opened, () => opened.add(3, 4));
		await expect(digest.commit).rejects.toEqual(refusal("plan_changed"));
		expect(desk.names()).toHaveLength(2);
		expect((await opened.planning.current())?.plan.ranges).toHaveLength(2);
		await Promise.all([opened.close(), other.close()]);
	});
});

/** Begins a commit, and does something as soon as its file is there. */
async function late(desk: Desk, { planning }: Planned, work: () => Promise<unknown>) {
	const commit = planning.commit();
	commit.catch(() => {});
	await until(() => desk.names().some((name) => name.endsWith(".tmp")), commit);
	await work();
	return { commit };
}

async function until(holds: () => boolean, end: Promise<unknown>): Promise<void> {
	let ended = false;
	end.then(
		() => (ended = true),
		() => (ended = true),
	);
	while (!holds() && !ended) await new Promise(setImmediate);
}

describe("a commit that is cancelled", () => {
	it.each([
		["at once", () => true],
		["when its file is there", (desk: Desk) => desk.names().some((name) => name.endsWith(".tmp"))],
		["when the first originals are kept", (desk: Desk) => desk.kept().some((name) => name === "c0001.gz")],
		["when all originals are kept", (desk: Desk) => desk.kept().some((name) => name === "c0002.gz")],
	])("%s leaves nothing, and can be repeated", async (_name, holds) => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		const digest = (await opened.planning.current())?.digest;
		await opened.close();
		const controller = new AbortController();
		const again = await desk.open(path, { signal: controller.signal });
		const commit = again.planning.commit();
		commit.catch(() => {});
		await until(() => holds(desk), commit);
		controller.abort();
		await expect(commit).rejects.toEqual(refusal("cancelled"));
		await expectNothing(desk, again, digest, [NAME]);
		await again.close();
		const last = await desk.open(path);
		await expect(last.planning.commit()).resolves.toMatchObject({ notices: [] });
		await last.close();
	});
});

describe("what a killed commit left under a temporary name", () => {
	it("is swept away by the next one when it is older than a day, and left alone when it is younger", async () => {
		const desk = newDesk();
		const { opened } = await planned(desk);
		const [dead, alive, other] = [
			".x.jsonl.midcompact-0123456789ab.tmp",
			".x.jsonl.midcompact-ba9876543210.tmp",
			".mine.tmp",
		];
		for (const name of [dead, alive, other]) desk.write(name, "half");
		const old = new Date(Date.now() - 25 * 3600 * 1000);
		for (const name of [dead, other]) utimesSync(join(desk.folder, name), old, old);
		await opened.planning.commit();
		expect(desk.names()).not.toContain(dead);
		expect(desk.names()).toEqual(expect.arrayContaining([alive, other]));
		await opened.close();
	});
});

describe("what came after the anchor", () => {
	const LATER = own(questions(2, 4, "a3"));

	it("stays behind, and goes along where that is asked for", async () => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		await opened.close();
		change(path, (text) => text + LATER);
		const again = await desk.open(path);
		expect(again.kinds()).toHaveLength(12);
		const { path: fork, notices, before } = await again.planning.commit({ withLater: true });
		expect([notices, before.messages]).toEqual([[], 24]);
		const made = await desk.open(fork);
		expect(made.kinds()).toHaveLength(15);
		expect(await made.text(14)).toContain("answer 5");
		await Promise.all([again.close(), made.close()]);
	});

	it("goes along too when it came while the session was open", async () => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		change(path, (text) => text + LATER);
		const { path: fork } = await opened.planning.commit({ withLater: true });
		const made = await desk.open(fork);
		expect(made.kinds()).toHaveLength(15);
		await Promise.all([opened.close(), made.close()]);
	});

	it.each([
		["a host compaction", [{ ...compactionLine(), timestamp: at(50) }, summaryLine()]],
		["another branch", [user("b", "a1", "back to question 2", { timestamp: at(50) })]],
	])("is refused where it does not go on from the anchor: %s", async (_name, lines) => {
		const desk = newDesk();
		const { path, opened } = await planned(desk);
		await opened.close();
		change(path, (text) => text + own(lines));
		const again = await desk.open(path);
		const digest = (await again.planning.current())?.digest;
		await expect(again.planning.commit({ withLater: true })).rejects.toEqual(
			refusal("range_changed", "does not simply go on"),
		);
		await expectNothing(desk, again, digest, [NAME]);
		await expect(again.planning.commit()).resolves.toMatchObject({ notices: [] });
		await again.close();
	});

	it("answers a call that was open at the anchor: the commit ends with the call, and refuses to go on from it", async () => {
		const desk = newDesk();
		const open = [
			...questions(2),
			user("u", "a1", "and now?", { timestamp: at(20) }),
			call("c", "u", "t", { timestamp: at(21) }),
		];
		const path = desk.write(NAME, own(open));
		const opened = await desk.open(path);
		await opened.planning.start();
		await opened.add(0, 1);
		await opened.close();
		const later = [result("r", "c", "t", { timestamp: at(22) }), answer("a", "r", undefined, { timestamp: at(23) })];
		change(path, (text) => text + own(later));
		const again = await desk.open(path);
		const refused = refusal("range_changed", "answered an open call");
		await expect(again.planning.commit({ withLater: true })).rejects.toEqual(refused);
		const { path: fork } = await again.planning.commit();
		const made = await desk.open(fork);
		expect(made.kinds().join(" ")).toBe("block assistant user tool_exchange assistant user tool_exchange");
		await Promise.all([again.close(), made.close()]);
	});
});

function compactionLine() {
	return {
		type: "system",
		uuid: "boundary",
		parentUuid: null,
		logicalParentUuid: "a3",
		subtype: "compact_boundary",
		isSidechain: false,
	};
}

function summaryLine() {
	return user("sum", "boundary", "The talk so far.", { isCompactSummary: true, timestamp: at(51) });
}

describe("block numbers", () => {
	const blocksIn = async (desk: Desk, path: string) => {
		const opened = await desk.open(path);
		const { blocks } = await opened.ask({ action: "recall_list" });
		await opened.close();
		return (blocks as { id: string }[]).map(({ id }) => id);
	};

	async function commitOne(desk: Desk, path: string, from: number, to: number) {
		const opened = await desk.open(path);
		await opened.planning.start();
		await opened.add(from, to);
		const { path: fork, blocks } = await opened.planning.commit();
		await opened.close();
		return { fork, id: blocks[0].id };
	}

	it("go on over commits, forks and forks of forks, and every fork gives all its originals back", async () => {
		const desk = newDesk();
		const path = desk.write(NAME, TALK);
		const first = await commitOne(desk, path, 0, 1);
		const second = await commitOne(desk, path, 0, 1);
		const child = await commitOne(desk, first.fork, 2, 3);
		const grandchild = await commitOne(desk, child.fork, 4, 5);
		const other = await commitOne(desk, second.fork, 2, 3);
		expect([first, second, child, grandchild, other].map(({ id }) => id)).toEqual([
			"c0001",
			"c0002",
			"c0002",
			"c0003",
			"c0003",
		]);
		expect(await blocksIn(desk, path)).toEqual(["c0001", "c0002"]);
		expect(await blocksIn(desk, first.fork)).toEqual(["c0001", "c0002"]);
		expect(await blocksIn(desk, child.fork)).toEqual(["c0001", "c0002", "c0003"]);
		expect(await blocksIn(desk, grandchild.fork)).toEqual(["c0001", "c0002", "c0003"]);
		expect(await blocksIn(desk, other.fork)).toEqual(["c0002", "c0003"]);
		const last = await desk.open(grandchild.fork);
		for (const [block, words] of [
			["c0001", "question 0"],
			["c0002", "question 1"],
			["c0003", "question 2"],
		]) {
			const { text } = await last.ask({ action: "recall_read", block });
			expect(text).toContain(words);
		}
		await last.close();
	});

	it("are not used again after an abort or a refusal", async () => {
		const desk = newDesk();
		const { opened, path } = await planned(desk);
		await expect(opened.planning.commit({ out: path })).rejects.toEqual(refusal("output_exists"));
		await opened.planning.abort();
		await opened.close();
		const { id, fork } = await commitOne(desk, path, 0, 1);
		expect(await blocksIn(desk, fork)).toEqual([id]);
	});
});

describe("originals that are not in the archive any more", () => {
	const ways: [string, (path: string) => void][] = [
		["missing", (path) => renameSync(path, `${path}.away`)],
		["cut off", (path) => truncateSync(path, 60)],
		["another content", (path) => writeFileSync(path, Buffer.from(readFileSync(path)).fill(0, 60, 80))],
	];

	it.each(ways)("%s: the next commit says so, and recall says so and invents nothing", async (_name, damage) => {
		const desk = newDesk();
		const { opened } = await planned(desk);
		const first = await opened.planning.commit();
		await opened.close();
		const archive = join(desk.stateDir, "claude-code", first.session ?? "", "archive", "c0001.gz");
		expect(existsSync(archive)).toBe(true);
		damage(archive);
		const fork = await desk.open(first.path);
		await fork.planning.start();
		await fork.add(2, 3);
		const second = await fork.planning.commit();
		expect(second.notices.join()).toMatch(/originals of c0001/);
		await fork.close();
		const last = await desk.open(second.path);
		await expect(last.ask({ action: "recall_read", block: "c0001" })).rejects.toEqual(refusal("archive_damaged"));
		expect(await last.ask({ action: "recall_read", block: "c0002" })).toMatchObject({ truncated: false });
		const { blocks } = await last.ask({ action: "recall_list" });
		expect(blocks).toMatchObject([{ id: "c0001", summary: "summary of 0 to 1" }, { id: "c0002" }, { id: "c0003" }]);
		await last.close();
	});
});
