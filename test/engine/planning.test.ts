import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "#src/engine.js";
import type { JsonObject } from "#src/session/record.js";
import { answer, at, call, result, user } from "../formats/claude-code/lines.js";
import {
	assistant,
	compaction,
	header,
	call as piCall,
	result as piResult,
	user as piUser,
	text,
	withoutIds,
} from "../formats/pi/entries.js";
import { change, newDesk, type Planned, questions, refusal, textOf } from "./planning-bench.js";

const desk = newDesk();
let made = 0;
const newFile = (lines: readonly JsonObject[]) => {
	const folder = `${++made}`;
	mkdirSync(join(desk.folder, folder));
	// Each file is a session of its own.
	return desk.write(`${folder}/session.jsonl`, textOf(lines.map((line) => ({ ...line, sessionId: `s${folder}` }))));
};
const QUESTIONS = questions(4);

describe("a transaction", () => {
	it("freezes the anchor by entry and hash, and outlives the process that started it", async () => {
		const path = newFile(QUESTIONS);
		const first = await desk.open(path);
		const started = await first.planning.start({ mode: "manual", instructions: "keep the last answer" });
		expect(started).toMatchObject({
			mode: "manual",
			instructions: "keep the last answer",
			anchor: { format: "claude-code", scope: "context", entry: "a3", atoms: 12, messages: 16 },
			plan: { revision: 0, ranges: [] },
		});
		expect(started.anchor.hash).toBe(await first.survey.hashOf(0, 11));
		await first.add(1, 2);
		await first.close();
		change(path, (before) => `${before}${textOf(questions(2, 4, "a3"))}`);
		const second = await desk.open(path);
		expect(second.kinds()).toHaveLength(12);
		expect(await second.planning.current()).toMatchObject({ id: started.id, plan: { revision: 1 } });
		expect(await second.planning.abort()).toMatchObject({ id: started.id });
		expect(await second.planning.current()).toBeNull();
		await second.close();
		const third = await desk.open(path);
		expect(third.kinds()).toHaveLength(18);
		await expect(third.planning.abort()).rejects.toEqual(refusal("no_transaction"));
		await third.close();
	});

	it("finds an anchor again whose last call was answered behind its leaf", async () => {
		const path = newFile([
			user("u", null),
			call("a", "u", "t1", { id: "m" }),
			call("a2", "a", "t2", { id: "m" }),
			result("r1", "a2", "t1"),
			result("r2", "a2", "t2"),
			user("side", "r2", "a line of a sub-agent", { isSidechain: true }),
		]);
		const first = await desk.open(path);
		const { id, anchor } = await first.planning.start();
		expect(anchor).toMatchObject({ entry: "r1", atoms: 2, messages: 4 });
		await first.close();
		const second = await desk.open(path);
		await second.add(0, 1);
		expect(await second.planning.current()).toMatchObject({ id, plan: { revision: 1 } });
		await second.close();
	});

	it.each(["undo", "abort", "project", "commit"] as const)("is asked for by %s where none is open", async (deed) => {
		const opened = await desk.open(newFile(QUESTIONS));
		await expect(opened.planning[deed]()).rejects.toEqual(refusal("no_transaction"));
		await expect(opened.add(0, 0)).rejects.toEqual(refusal("no_transaction"));
		expect(opened.planning.lock).toBeNull();
		await opened.close();
	});

	it("is refused for a session without a message", async () => {
		const snapshot = { type: "attachment", uuid: "p", parentUuid: null, sessionId: "none", isSidechain: false };
		const path = newFile([{ ...snapshot, attachment: { type: "prompt_snapshot", systemPrompt: ["be brief"] } }]);
		const opened = await desk.open(path);
		await expect(opened.planning.start()).rejects.toEqual(refusal("not_a_session"));
		await opened.close();
	});
});

describe("one transaction on a branch", () => {
	const FORKED = [
		...questions(1),
		user("left", "a0", "to the left", { timestamp: at(10) }),
		answer("left2", "left", undefined, { timestamp: at(11) }),
		user("right", "a0", "to the right", { timestamp: at(12) }),
		answer("right2", "right", undefined, { timestamp: at(13) }),
	];

	it("lets the two ends of a forked session each have one, and shows the one that is asked for", async () => {
		const path = newFile(FORKED);
		const left = await desk.open(path, { leaf: "left2" });
		const right = await desk.open(path, { leaf: "right2" });
		const ids = [(await left.planning.start()).id, (await right.planning.start()).id];
		await left.add(1, 2);
		expect((await right.planning.current())?.plan.ranges).toEqual([]);
		await Promise.all([left.close(), right.close()]);
		for (const [i, leaf] of ["left2", "right2"].entries()) {
			const again = await desk.open(path, { leaf });
			expect(await again.planning.current()).toMatchObject({ id: ids[i] });
			await again.close();
		}
		const plain = await desk.open(path);
		expect(await plain.planning.current()).toMatchObject({ id: ids[1] });
		expect(plain.survey.notices.join()).toContain("Another transaction is open on this file, at leaf left2");
		await plain.close();
	});

	it.each([
		["the same end", "left2", "left2", {}],
		["its beginning", "left2", "a0", {}],
		["what goes on from it", "a0", "right2", {}],
		["the same end in the other scope", "left2", "left2", { scope: "path" }],
	] as const)("refuses one on %s", async (_name, open, leaf, options) => {
		const path = newFile(FORKED);
		const first = await desk.open(path, { leaf: open });
		const { id } = await first.planning.start();
		const second = await desk.open(path, { leaf, ...options });
		await expect(second.planning.start()).rejects.toEqual(refusal("transaction_active", id));
		await first.planning.abort();
		await expect(second.planning.start()).resolves.toMatchObject({ plan: { revision: 0 } });
		await Promise.all([first.close(), second.close()]);
	});

	it("says so where the one that is open is of another view, and shows what was asked for", async () => {
		const path = newFile(FORKED);
		const first = await desk.open(path, { leaf: "left2" });
		await first.planning.start();
		const second = await desk.open(path, { leaf: "right2" });
		expect(await second.planning.current()).toBeNull();
		expect(second.survey.notices.join()).toContain("on another view: leaf left2, scope context");
		expect(second.survey.anchor).toBe("right2");
		await Promise.all([first.close(), second.close()]);
	});
});

describe("the digest and the hashes of ranges", () => {
	async function twoPlans(make: (planned: Planned, which: number) => Promise<void>) {
		const path = newFile(QUESTIONS);
		const digests: (string | undefined)[] = [];
		for (const which of [0, 1]) {
			const opened = await desk.open(path);
			await opened.planning.start();
			await make(opened, which);
			digests.push((await opened.planning.current())?.digest);
			await opened.planning.abort();
			await opened.close();
		}
		return digests;
	}

	it("are equal for equal plans, whatever led to them", async () => {
		const [plain, roundabout] = await twoPlans(async ({ planning, add, ask }, which) => {
			const id = await add(1, 2, which === 0 ? "the end" : "a draft");
			if (which === 0) return;
			await ask({ action: "plan_update", range_id: id, summary: "the end" });
			await add(4, 5);
			await planning.undo();
		});
		expect(plain).toMatch(/^[0-9a-f]{12}$/);
		expect(roundabout).toBe(plain);
	});

	it.each([
		["another summary", { summary: "other" }],
		["a topic", { topic: "other" }],
	])("are others for %s", async (_name, fields) => {
		const [one, other] = await twoPlans(async ({ add, ask }, which) => {
			const id = await add(1, 2, "summary");
			if (which === 1) await ask({ action: "plan_update", range_id: id, ...fields });
		});
		expect(other).not.toBe(one);
	});

	it("tell ranges apart by their content", async () => {
		const opened = await desk.open(newFile(QUESTIONS));
		await opened.planning.start();
		await opened.add(0, 2);
		await opened.add(3, 5);
		const ranges = (await opened.planning.current())?.plan.ranges ?? [];
		expect(ranges.map(({ hash }) => hash)).toEqual([
			await opened.survey.hashOf(0, 2),
			await opened.survey.hashOf(3, 5),
		]);
		expect(new Set(ranges.map(({ hash }) => hash)).size).toBe(2);
		await opened.close();
	});

	it("undo takes changes back one by one, down to the start", async () => {
		const opened = await desk.open(newFile(QUESTIONS));
		const start = await opened.planning.start();
		const id = await opened.add(1, 2);
		await opened.ask({ action: "plan_remove", range_id: id });
		expect((await opened.planning.undo()).plan.ranges.map((range) => range.id)).toEqual([id]);
		const undone = await opened.planning.undo();
		expect([undone.plan.ranges, undone.digest, undone.plan.revision]).toEqual([[], start.digest, 4]);
		await expect(opened.planning.undo()).rejects.toEqual(refusal("empty_plan"));
		await opened.close();
	});
});

describe("an anchor that the host rewrote", () => {
	const V1 = withoutIds([
		header({ version: 1 }),
		piUser("", null, "first question"),
		assistant("", null, [text("looking"), piCall("c1")]),
		piResult("", null, "c1", [text("the file's text")]),
		assistant("", null, [text("first answer")]),
		{ ...compaction("", ""), firstKeptEntryId: null, firstKeptEntryIndex: 4 },
		piUser("", null, "second question"),
		assistant("", null, [text("second answer")]),
	]).map(({ version: _, firstKeptEntryId: __, ...rest }) => rest);

	/** As Pi opens a file of version 1: random ids in a line, the index of what is kept becomes an id. */
	function migrated(records: readonly JsonObject[]): JsonObject[] {
		const used = new Set<string>();
		const ids = records.map(() => {
			const id = randomUUID().slice(0, 8);
			used.add(id);
			return id;
		});
		expect(used.size).toBe(records.length);
		return records.map((record, i) => {
			if (i === 0) return { ...record, version: 3 };
			const { firstKeptEntryIndex, ...rest } = record;
			const kept = typeof firstKeptEntryIndex === "number" ? { firstKeptEntryId: ids[firstKeptEntryIndex] } : {};
			return { ...rest, id: ids[i], parentId: i === 1 ? null : ids[i - 1], ...kept };
		});
	}

	it.each([
		["as it was", []],
		["and went on", [piUser("later", null, "third question"), assistant("later2", null, [text("third answer")])]],
	])("is found again by its content in a Pi file of version 1 that Pi rewrote with ids, %s", async (_name, later) => {
		const path = desk.write(
			`pi-${++made}.jsonl`,
			textOf(V1.map((line, i) => (i ? line : { ...line, id: `pi${made}` }))),
		);
		const first = await desk.open(path);
		const { anchor } = await first.planning.start();
		expect(anchor).toMatchObject({ entry: "#7", atoms: 4 });
		const id = await first.add(1, 1, "what was answered");
		await first.close();
		change(path, (before) => {
			const rewritten = migrated(
				before
					.trimEnd()
					.split("\n")
					.map((line) => JSON.parse(line) as JsonObject),
			);
			let parentId = rewritten.at(-1)?.id as string;
			const behind = later.map((record) => {
				const linked = { ...record, parentId };
				parentId = record.id as string;
				return linked;
			});
			return textOf([...rewritten, ...behind]);
		});
		const second = await desk.open(path);
		expect(await second.planning.current()).toMatchObject({ anchor, plan: { ranges: [{ id }] } });
		expect(second.kinds()).toHaveLength(4);
		const fork = await second.planning.commit();
		await second.close();
		const forked = await desk.open(fork.path);
		expect(forked.kinds()).toEqual(["summary", "block", "user", "assistant"]);
		expect(await forked.text(1)).toContain("what was answered");
		await forked.close();
	});

	it("is not found in a Pi file whose content is another one now", async () => {
		const path = desk.write(`pi-${++made}.jsonl`, textOf(V1));
		const first = await desk.open(path);
		await first.planning.start();
		await first.close();
		const others = V1.map(
			(line) => JSON.parse(JSON.stringify(line).replace("second answer", "another answer")) as JsonObject,
		);
		writeFileSync(path, textOf(migrated(others)));
		const second = await desk.open(path);
		expect(second.survey.notices.join()).toMatch(/no longer in the session.*can only be aborted/);
		await second.planning.abort();
		await second.close();
	});
});

describe("a transaction whose anchor is gone", () => {
	async function lost(): Promise<{ path: string; opened: Planned; id: string }> {
		const path = newFile(QUESTIONS);
		const before = await desk.open(path);
		const { id } = await before.planning.start();
		await before.add(1, 2);
		await before.close();
		change(path, (text) => text.split("\n").slice(0, 8).join("\n").concat("\n"));
		return { path, opened: await desk.open(path), id };
	}

	it("is said, can only be aborted, and leaves the session readable as it is now", async () => {
		const { opened, id } = await lost();
		expect(opened.kinds()).toHaveLength(6);
		expect(opened.survey.notices.join()).toMatch(/up to the entry a3\) is no longer .* can only be aborted/);
		expect(await opened.planning.current()).toMatchObject({ id });
		const gone = refusal("range_changed", "no longer in the session");
		await expect(opened.planning.commit()).rejects.toEqual(gone);
		await expect(opened.planning.project()).rejects.toEqual(gone);
		await expect(opened.planning.undo()).rejects.toEqual(gone);
		await expect(opened.add(4, 4)).rejects.toEqual(gone);
		await expect(opened.ask({ action: "plan_remove", range_id: "d1" })).rejects.toEqual(gone);
		await expect(opened.planning.start()).rejects.toEqual(refusal("transaction_active", id));
		expect(await opened.planning.abort()).toMatchObject({ id });
		await opened.close();
	});

	it("makes room for a new one once it is aborted", async () => {
		const { opened } = await lost();
		await opened.planning.abort();
		await opened.planning.start();
		await opened.add(0, 1);
		expect(await opened.planning.commit()).toMatchObject({ blocks: [{ id: "c0001" }] });
		await opened.close();
	});
});

describe("where no plan can be kept", () => {
	it("a message list in memory has no planning, and plan actions say that no transaction is open", async () => {
		const session = await openSession(QUESTIONS, { format: "claude-code", threads: 1 });
		expect(session.planning).toBeNull();
		expect(await session.request({ request: { action: "plan_show" } })).toMatchObject({
			ok: false,
			error: { code: "no_transaction" },
		});
		expect(await session.request({ request: { action: "recall_list" } })).toMatchObject({ data: { total: 0 } });
		await session.close();
	});

	it("a session that is opened without a state folder has no planning", async () => {
		const session = await openSession(newFile(QUESTIONS), { stateDir: false, threads: 1 });
		expect(session.planning).toBeNull();
		expect(await session.request({ request: { action: "inspect" } })).toMatchObject({ ok: true });
		await session.close();
	});

	it.each([
		["the journal is a folder", "journal.jsonl", "The journal .* cannot be read"],
		["the record of the file's place is a folder", "where.json", "No plan can be kept or found: .*cannot be read"],
	])("the session is read all the same, with a notice, where %s", async (_name, broken, notice) => {
		const path = newFile(QUESTIONS);
		const before = await desk.open(path);
		await before.planning.start();
		await before.close();
		const slot = join(desk.stateDir, "claude-code", `s${made}`, "1");
		rmSync(join(slot, broken));
		mkdirSync(join(slot, broken));
		const refused = refusal("state_unavailable");
		const session = await openSession(path, { stateDir: desk.stateDir, threads: 1 });
		expect(session.survey.notices.join("\n")).toMatch(new RegExp(notice));
		const reply = await session.request({ request: { action: "inspect" } });
		expect(reply).toMatchObject({ ok: true, data: { totals: { atoms: 12 }, transaction: null } });
		expect(await session.request({ request: { action: "locate_search", pattern: "question 1" } })).toMatchObject({
			data: { total: 1 },
		});
		expect(session.planning === null).toBe(broken === "where.json");
		await expect(session.planning?.start() ?? Promise.reject(refused)).rejects.toEqual(refused);
		await expect(session.planning?.abort() ?? Promise.reject(refused)).rejects.toEqual(refused);
		await session.close();
	});

	it("a file in the place of the state folder refuses the start and leaves no trace", async () => {
		const path = newFile(QUESTIONS);
		const file = desk.write(`file-${made}`, "a file");
		const opened = await desk.open(path, { stateDir: file });
		expect(opened.kinds()).toHaveLength(12);
		await expect(opened.planning.start()).rejects.toEqual(refusal("state_unavailable", "a file stands"));
		await opened.close();
	});

	it("a renamed session keeps its plan, a copy has none", async () => {
		const path = newFile(QUESTIONS);
		const first = await desk.open(path);
		const { id } = await first.planning.start();
		await first.close();
		const copy = `${path}.copy.jsonl`;
		writeFileSync(copy, textOf(QUESTIONS.map((line) => ({ ...line, sessionId: `s${made}` }))));
		renameSync(path, `${path}.moved.jsonl`);
		const moved = await desk.open(`${path}.moved.jsonl`);
		expect(await moved.planning.current()).toMatchObject({ id });
		const other = await desk.open(copy);
		expect(await other.planning.current()).toBeNull();
		expect(readdirSync(join(desk.stateDir, "claude-code", `s${made}`)).filter((name) => /^\d+$/.test(name))).toEqual([
			"1",
		]);
		await Promise.all([moved.close(), other.close()]);
	});
});
