/** Which plan belongs to which file: branches, moved and copied files, views, a state folder that cannot be used, a damaged archive. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InspectData } from "#src/facade/inspect.js";
import type { RangeData } from "#src/facade/plan-figures.js";
import type { PlanData } from "#src/facade/plan-show.js";
import type { RecallListData } from "#src/facade/recall-list.js";
import type { RecallReadData } from "#src/facade/recall-read.js";
import type { CommitData, StartData, StatusData } from "#src/facade/transaction.js";
import type { JsonObject } from "#src/session/record.js";
import { Machine, sha256 } from "../cli/machine.js";
import { piLines, type Said } from "../cli/run-cli.js";
import { answer, boundary, summary, user } from "../formats/claude-code/lines.js";

const SAID: Said[] = [
	["user", "Fix the build"],
	["assistant", "It builds now."],
	["user", "Then tidy up"],
	["assistant", "Tidied."],
];

/** Two branches that part behind the second message; the leaves are `left` and `right`, the file ends with `right`. */
function piBranches(): { lines: string[]; left: string; right: string } {
	const [header, ...entries] = piLines([...SAID, ["user", "Left of it"], ["user", "Right of it"]]).map(
		(line): JsonObject => JSON.parse(line),
	);
	const [, fork, , , left, right] = entries;
	left.parentId = fork.id;
	right.parentId = fork.id;
	return {
		lines: [header, ...entries].map((entry) => JSON.stringify(entry)),
		left: String(left.id),
		right: String(right.id),
	};
}

function claudeBranches(): { lines: string[]; left: string; right: string } {
	const lines = [user("u1", null, "Fix it"), answer("b1", "u1"), user("left", "b1"), user("right", "b1")];
	return { lines: lines.map((line) => JSON.stringify(line)), left: "left", right: "right" };
}

describe.each([
	["Pi", piBranches],
	["Claude Code", claudeBranches],
])("two branches of one %s file", (_name, make) => {
	it("have each their own transaction and plan", async () => {
		const machine = new Machine();
		const { lines, left, right } = make();
		const session = machine.write("branches.jsonl", lines);
		const started: string[] = [];
		for (const leaf of [left, right]) {
			const { transaction } = await machine.ok<StartData>(["start", session, "--leaf", leaf]);
			expect(transaction.anchor.entry).toBe(leaf);
			started.push(transaction.id);
			await machine.ok(["plan", session, "add", "a0002", "--summary", `For ${leaf}.`, "--leaf", leaf]);
		}
		for (const [i, leaf] of [left, right].entries()) {
			const error = await machine.refused(["start", session, "--leaf", leaf]);
			expect(error).toMatchObject({ code: "transaction_active", message: expect.stringContaining(started[i]) });
			const plan = await machine.ok<PlanData>(["plan", session, "--leaf", leaf]);
			expect(plan).toMatchObject({ transaction: { id: started[i] }, ranges: [{ summary: `For ${leaf}.` }] });
		}
		const { path } = await machine.ok<CommitData>([
			"commit",
			session,
			"--leaf",
			left,
			"--plan",
			await machine.digest(session, "--leaf", left),
		]);
		expect(readFileSync(path, "utf8")).toContain(`For ${left}.`);
		expect(readFileSync(path, "utf8")).not.toContain("ight");
		const other = await machine.ok<StatusData>(["status", session, "--leaf", right]);
		expect(other.transaction?.id).toBe(started[1]);
	});
});

describe("a session file", () => {
	it("keeps its plan when it is renamed and when it is moved", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const { transaction } = await machine.ok<StartData>(["start", session]);
		mkdirSync(machine.at("other"));
		for (const [from, to] of [
			["session.jsonl", "renamed.jsonl"],
			["renamed.jsonl", "other/session.jsonl"],
		]) {
			renameSync(machine.at(from), machine.at(to));
			const status = await machine.ok<StatusData>(["status", machine.at(to)]);
			expect(status.transaction?.id).toBe(transaction.id);
		}
	});

	it("is not confused with a copy that has the same id, in another folder or beside it", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const { transaction } = await machine.ok<StartData>(["start", session]);
		mkdirSync(machine.at("other"));
		for (const name of ["copy.jsonl", "other/session.jsonl"]) {
			const copy = machine.copy(session, name);
			expect(await machine.ok<StatusData>(["status", copy])).toMatchObject({ transaction: null });
			await machine.ok(["start", copy]);
			await machine.ok(["abort", copy]);
		}
		const status = await machine.ok<StatusData>(["status", session]);
		expect(status.transaction?.id).toBe(transaction.id);
	});

	it("has one plan under all names that lead to it", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const { transaction } = await machine.ok<StartData>(["start", session]);
		await machine.bash('cd "$DIR" && ln -s session.jsonl link.jsonl && ln session.jsonl hard.jsonl', {
			DIR: machine.sessions,
		});
		for (const name of ["link.jsonl", "hard.jsonl"]) {
			const status = await machine.ok<StatusData>(["status", machine.at(name)]);
			expect(status.transaction?.id, name).toBe(transaction.id);
		}
	});
});

it("a transaction of scope path works on what the host compacted away, and writes it without the compaction", async () => {
	const machine = new Machine();
	const first = [user("u1", null, "Long ago"), answer("b1", "u1"), user("u2", "b1", "And then"), answer("b2", "u2")];
	const then = [
		boundary("k1", { logicalParentUuid: "b2" }),
		summary("s1", "k1"),
		user("u3", "s1", "Now"),
		answer("b3", "u3"),
	];
	const session = machine.write("session.jsonl", [...first, ...then]);
	const { transaction } = await machine.ok<StartData>(["start", session, "--scope", "path"]);
	expect(transaction.anchor).toMatchObject({ scope: "path", messages: 6 });
	const { digest } = await machine.ok<RangeData>(["plan", session, "add", "a0001", "a0002", "--summary", "Long ago."]);
	const { path } = await machine.ok<CommitData>(["commit", session, "--plan", digest]);
	const forked = await machine.ok<InspectData>(["inspect", path]);
	expect(forked.anchor).toMatchObject({ scope: "context", messages: 5 });
	expect(readFileSync(path, "utf8")).toContain("And then");
	expect(readFileSync(path, "utf8")).not.toContain("compact_boundary");
});

describe("a state folder that cannot be used", () => {
	it("keeps nobody from reading, and says why nothing can be planned", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		writeFileSync(machine.state, "a file in its place");
		const before = machine.snapshot();
		expect(await machine.ok<InspectData>(["inspect", session])).toMatchObject({ totals: { atoms: 4 } });
		const error = await machine.refused(["start", session]);
		expect(error).toMatchObject({
			code: "state_unavailable",
			message: expect.stringContaining(machine.state),
			hint: expect.stringContaining("MIDCOMPACT_STATE_DIR"),
		});
		expect(machine.snapshot()).toEqual(before);
	});

	it("a torn end of the journal costs no acknowledged change, and is said", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		await machine.ok(["plan", session, "add", "a0001", "--summary", "Kept."]);
		const [journal] = filesOf(machine.state, "journal.jsonl");
		writeFileSync(journal, `${readFileSync(journal, "utf8")}{"type":"change","transac`);
		const plan = await machine.ok<PlanData>(["plan", session]);
		expect(plan).toMatchObject({ revision: 1, ranges: [{ summary: "Kept." }] });
		expect(plan.transaction.notices.join()).toMatch(/last 25 bytes are no whole entry/);
		await machine.ok(["plan", session, "add", "a0002", "--summary", "Goes on."]);
		expect(await machine.ok<StatusData>(["status", session])).toMatchObject({ revision: 2 });
	});
});

describe("a damaged archive", () => {
	it("is said, never made up, and harms nothing else", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		for (const ref of ["a0001", "a0003"]) await machine.ok(["plan", session, "add", ref, "--summary", `Was ${ref}.`]);
		const { path } = await machine.ok<CommitData>(["commit", session, "--plan", await machine.digest(session)]);
		const hash = sha256(path);
		for (const [what, hint] of [
			["d1", /range of the plan/],
			["a0002", /atom ref/],
			["c1", /such as c0001/],
		] as const) {
			const error = await machine.refused(["recall", path, what]);
			expect(error).toMatchObject({ code: "unknown_block", hint: expect.stringMatching(hint) });
		}
		// One file may have two names here: the new session's folder and the old one's.
		for (const archive of filesOf(machine.state, "c0001.gz")) {
			const bytes = Buffer.from(readFileSync(archive));
			bytes[bytes.length - 20] ^= 0xff;
			rmSync(archive);
			writeFileSync(archive, bytes);
		}
		for (const name of [path, session]) {
			const error = await machine.refused(["recall", name, "c0001"]);
			expect(error).toMatchObject({ code: "archive_damaged", message: expect.stringContaining("c0001") });
			expect((await machine.ok<RecallReadData>(["recall", name, "c0002"])).text).toContain("Then tidy up");
			const list = await machine.ok<RecallListData>(["recall", name]);
			expect(list.blocks.map(({ summary: said }) => said)).toEqual(["Was a0001.", "Was a0003."]);
		}
		rmSync(machine.state, { recursive: true });
		const list = await machine.ok<RecallListData>(["recall", path]);
		expect(list.blocks).toMatchObject([
			{ id: "c0001", archived: false, summary: "Was a0001." },
			{ id: "c0002", archived: false },
		]);
		const error = await machine.refused(["recall", path, "c0002"]);
		expect(error).toMatchObject({ code: "archive_damaged", message: expect.stringContaining("c0002") });
		expect((await machine.refused(["recall", path, "c0009"])).code).toBe("unknown_block");
		expect(await machine.ok<InspectData>(["inspect", path])).toMatchObject({ totals: { protected: 2 } });
		expect(sha256(path)).toBe(hash);
	});
});

function filesOf(folder: string, name: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((path) => path.endsWith(name))
		.map((path) => join(folder, path));
}
