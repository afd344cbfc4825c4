import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { InspectData } from "#src/facade/inspect.js";
import type { RangeData } from "#src/facade/plan-figures.js";
import type { RecallListData } from "#src/facade/recall-list.js";
import type { CommitData, StatusData } from "#src/facade/transaction.js";
import { fileLock } from "#src/plan/file-lock.js";
import { Machine, sha256 } from "../cli/machine.js";
import { called, hasTerminals, onTerminal, piLines, type Said } from "../cli/run-cli.js";
import { answer, user } from "../formats/claude-code/lines.js";

const SAID: Said[] = [
	["user", "Fix the build"],
	...called("read", { path: "src/a.ts" }, "export const a = 1;"),
	["assistant", "It builds now."],
	["user", "Then tidy up"],
	["assistant", "Tidied."],
	["user", "Thanks"],
];

interface Planned {
	machine: Machine;
	session: string;
	digest: string;
}

/** A session with a plan of one range, ready to be committed. */
async function planned(said: readonly Said[] = SAID): Promise<Planned> {
	const machine = new Machine();
	const session = machine.write("session.jsonl", piLines(said));
	await machine.ok(["start", session]);
	const { digest } = await machine.ok<RangeData>(["plan", session, "add", "a0002", "a0003", "--summary", "It builds."]);
	return { machine, session, digest };
}

describe("a commit that is refused changes nothing", () => {
	const refusals: [what: string, make: (p: Planned) => Promise<string[]>, code: string, message: RegExp][] = [
		[
			"an empty plan",
			async ({ machine, session }) => {
				await machine.ok(["plan", session, "remove", "d1"]);
				return ["--plan", await machine.digest(session)];
			},
			"empty_plan",
			/no range/,
		],
		[
			"pending summaries",
			async ({ machine, session }) => {
				for (const ref of ["a0004", "a0005"]) await machine.ok(["plan", session, "add", ref]);
				return ["--plan", await machine.digest(session)];
			},
			"pending_summary",
			/d2 \(a0004\).*d3 \(a0005\)/,
		],
		["a digest that is not the plan's", async () => ["--plan", "0123456789ab"], "plan_changed", /0123456789ab/],
		[
			"a digest that was the plan's",
			async ({ machine, session, digest }) => {
				await machine.ok(["plan", session, "update", "d1", "--topic", "Build"]);
				return ["--plan", digest];
			},
			"plan_changed",
			/no longer the one/,
		],
		[
			"an original that was changed inside a range",
			async ({ session, digest }) => {
				writeFileSync(session, readFileSync(session, "utf8").replace("It builds now.", "It burns now.."));
				return ["--plan", digest];
			},
			"range_changed",
			/d1 \(a0002\.\.a0003\)/,
		],
		[
			"an original that was changed outside the ranges",
			async ({ session, digest }) => {
				writeFileSync(session, readFileSync(session, "utf8").replace("Tidied.", "Not yet"));
				return ["--plan", digest];
			},
			"range_changed",
			/outside the ranges/,
		],
		[
			"an original that was truncated",
			async ({ session, digest }) => {
				truncateSync(session, readFileSync(session).lastIndexOf("\n", readFileSync(session).length - 2) + 1);
				return ["--plan", digest];
			},
			"range_changed",
			/no longer in the session/,
		],
		[
			"an output that exists",
			async ({ machine, digest }) => ["--plan", digest, "--out", machine.write("taken.jsonl", ["taken"])],
			"output_exists",
			/taken\.jsonl exists already/,
		],
		[
			"the session itself as output",
			async ({ session, digest }) => ["--plan", digest, "--out", session],
			"output_exists",
			/session\.jsonl exists already/,
		],
		[
			"an output in a folder that is not there",
			async ({ machine, digest }) => ["--plan", digest, "--out", machine.at("nowhere/new.jsonl")],
			"invalid_output",
			/no folder .*nowhere/,
		],
		[
			"a folder that is not there as output",
			async ({ machine, digest }) => ["--plan", digest, "--out", `${machine.at("nowhere")}/`],
			"invalid_output",
			/nowhere/,
		],
		[
			"an output that is a device",
			async ({ digest }) => ["--plan", digest, "--out", "/dev/full"],
			"output_exists",
			/\/dev\/full/,
		],
	];

	it.each(refusals)("%s", async (_what, make, code, message) => {
		const work = await planned();
		const { machine, session } = work;
		const options = await make(work);
		const before = machine.snapshot();
		const error = await machine.refused(["commit", session, ...options]);
		expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
		expect(machine.snapshot()).toEqual(before);
		expect((await machine.ok<StatusData>(["status", session])).transaction).not.toBeNull();
	});

	it("a session that is gone", async () => {
		const { machine, session, digest } = await planned();
		await machine.bash(`rm "${session}"`);
		const before = machine.snapshot();
		expect(await machine.refused(["commit", session, "--plan", digest])).toMatchObject({ code: "unreadable" });
		expect(machine.snapshot()).toEqual(before);
	});

	it("what was changed can be put back, or the transaction be given up", async () => {
		const { machine, session, digest } = await planned();
		const whole = readFileSync(session);
		truncateSync(session, whole.length - 200);
		for (const args of [
			["plan", session, "add", "a0001"],
			["project", session],
			["commit", session, "--plan", digest],
		])
			expect(await machine.refused(args)).toMatchObject({
				code: "range_changed",
				hint: expect.stringMatching(/abort/),
			});
		writeFileSync(session, whole);
		expect(await machine.digest(session)).toBe(digest);
		truncateSync(session, whole.length - 200);
		await machine.ok(["abort", session]);
		await machine.ok(["start", session]);
	});
});

describe("where the new session goes", () => {
	it("beside the old one, into a folder, or to a name; the old one stays as it was", async () => {
		const { machine, session, digest } = await planned();
		const hash = sha256(session);
		const beside = await machine.ok<CommitData>(["commit", session, "--plan", digest]);
		expect(dirname(beside.path)).toBe(machine.sessions);
		expect(beside).toMatchObject({ resume: expect.stringContaining(beside.path), blocks_total: 1, notices: [] });
		mkdirSync(machine.at("folder"));
		for (const [out, where] of [
			["folder", machine.at("folder")],
			["folder/named.jsonl", machine.at("folder")],
		]) {
			await machine.ok(["start", session]);
			const add = await machine.ok<RangeData>(["plan", session, "add", "a0002", "a0003", "--summary", "It builds."]);
			const { path } = await machine.ok<CommitData>([
				"commit",
				session,
				"--plan",
				add.digest,
				"--out",
				machine.at(out),
			]);
			expect(dirname(path)).toBe(where);
			if (out.endsWith(".jsonl")) expect(basename(path)).toBe("named.jsonl");
		}
		expect(sha256(session)).toBe(hash);
		const list = await machine.ok<RecallListData>(["recall", session]);
		expect(list.blocks.map(({ id }) => id)).toEqual(["c0001", "c0002", "c0003"]);
	});

	it("a Claude Code session takes no name by which the host would not find it", async () => {
		const machine = new Machine();
		const session = machine.write("old.jsonl", [user("u1", null, "Fix it"), answer("b1", "u1"), user("u2", "b1")]);
		await machine.ok(["start", session]);
		const { digest } = await machine.ok<RangeData>(["plan", session, "add", "a0002", "--summary", "Fixed."]);
		const before = machine.snapshot();
		const commit = ["commit", session, "--plan", digest, "--out"];
		const error = await machine.refused([...commit, machine.at("named.jsonl")]);
		expect(error).toMatchObject({ code: "invalid_output", message: expect.stringContaining("UUID") });
		expect(machine.snapshot()).toEqual(before);
		const id = "0f0e0d0c-0b0a-4908-8706-050403020100";
		expect(await machine.ok<CommitData>([...commit, machine.at(`${id}.jsonl`)])).toMatchObject({ session: id });
	});

	it("--with-later carries what the host appended; without it the new session ends at the anchor", async () => {
		const later: Said[] = [...SAID, ["assistant", "Gladly."], ["user", "One more thing"]];
		for (const [options, messages] of [
			[[], SAID.length - 2],
			[["--with-later"], later.length - 2],
		] as const) {
			const { machine, session, digest } = await planned();
			appendFileSync(session, `${piLines(later).slice(-2).join("\n")}\n`);
			const { path } = await machine.ok<CommitData>(["commit", session, "--plan", digest, ...options]);
			expect((await machine.ok<InspectData>(["inspect", path])).anchor.messages).toBe(messages);
			expect(readFileSync(path, "utf8").includes("One more thing")).toBe(options.length > 0);
		}
	});
});

describe("two at once", () => {
	it("one of two commits of a plan succeeds, and there is one new session", async () => {
		const { machine, session, digest } = await planned();
		const ended = await Promise.all([0, 1].map(() => machine.run(["commit", session, "--plan", digest, "--json"])));
		expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
		const refused = ended.find(({ code }) => code === 1);
		expect(["no_transaction", "locked"]).toContain(JSON.parse(refused?.out ?? "").error.code);
		expect(readdirSync(machine.sessions)).toHaveLength(2);
		expect((await machine.ok<RecallListData>(["recall", session])).total).toBe(1);
	});

	it("changes of one plan by several processes are all in it", async () => {
		const { machine, session } = await planned();
		const refs = ["a0001", "a0004", "a0005", "a0006"];
		await Promise.all(refs.map((ref) => machine.ok(["plan", session, "add", ref, "--summary", ref])));
		expect(await machine.ok<StatusData>(["status", session])).toMatchObject({ revision: 5, totals: { ranges: 5 } });
	});

	it("what somebody else holds is refused, naming the holder; reading goes on", async () => {
		const { machine, session, digest } = await planned();
		const [slot] = readdirSync(machine.state, { recursive: true, encoding: "utf8" }).filter((path) =>
			path.endsWith("where.json"),
		);
		const lock = fileLock(dirname(join(machine.state, slot)));
		await lock.acquire("ui");
		try {
			for (const args of [
				["plan", session, "add", "a0001"],
				["plan", session, "undo"],
				["commit", session, "--plan", digest],
				["abort", session],
			]) {
				const error = await machine.refused(args);
				expect(error).toMatchObject({
					code: "locked",
					message: expect.stringMatching(`user interface .process ${process.pid} `),
				});
			}
			const { out } = await machine.run(["status", session]);
			expect(out).toContain(`Planning lock: held by ui (process ${process.pid} `);
			expect(readdirSync(machine.sessions)).toEqual(["session.jsonl"]);
		} finally {
			await lock.release();
		}
		await machine.ok(["commit", session, "--plan", digest]);
	});

	it("of several starts one opens the transaction", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const ended = await Promise.all([0, 1, 2].map(() => machine.run(["start", session, "--json"])));
		expect(ended.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
		for (const { code, out } of ended)
			if (code === 1) expect(JSON.parse(out).error.code).toMatch(/transaction_active|locked/);
	});
});

describe.skipIf(!hasTerminals)("on a terminal", () => {
	const question = /Commit this plan/;

	it("shows digest and figures, and commits on yes", async () => {
		const { machine, session, digest } = await planned();
		const { code, out } = await onTerminal(["commit", session], { question, answer: "y", env: machine.env });
		const text = stripVTControlCharacters(out);
		expect(code, text).toBe(0);
		expect(text).toMatch(/d1 a0002\.\.a0003[\s\S]*It builds\.[\s\S]*Before → after: messages 7 → 5/);
		expect(text).toContain(`(digest ${digest})`);
		expect(text).toMatch(/Committed 1 range into a new session/);
		expect(readdirSync(machine.sessions)).toHaveLength(2);
	});

	it.each([
		["no", "n"],
		["the Enter key alone", "\r"],
		["Ctrl-C", "\u0003"],
	])("%s commits nothing", async (_what, answer) => {
		const { machine, session } = await planned();
		const before = machine.snapshot();
		const { code, out } = await onTerminal(["commit", session], { question, answer, env: machine.env });
		expect(code, out).not.toBe(0);
		expect(stripVTControlCharacters(out)).toContain("Not committed.");
		expect(machine.snapshot()).toEqual(before);
	});

	it("a plan that cannot be committed is refused before anything is asked", async () => {
		const { machine, session } = await planned();
		await machine.ok(["plan", session, "add", "a0005"]);
		const { code, out } = await onTerminal(["commit", session], { question, answer: "y", env: machine.env });
		expect(code).toBe(1);
		expect(out).toMatch(/d2 \(a0005\) has no summary yet/);
		expect(out).not.toMatch(question);
	});
});

describe("Ctrl-C", () => {
	it("during a commit leaves no half-written file, and the plan as it was", { timeout: 120_000 }, async () => {
		const long = Array.from({ length: 6_000 }, (_, i): Said => ["user", `${i} ${"some words ".repeat(300)}`]);
		const { machine, session, digest } = await planned(long);
		const before = machine.snapshot();
		const { code, out } = await machine.run(["commit", session, "--plan", digest], {
			started: (child) => {
				const watch = setInterval(() => {
					if (readdirSync(machine.sessions).length === 1) return;
					clearInterval(watch);
					child.kill("SIGINT");
				}, 5);
				child.on("exit", () => clearInterval(watch));
			},
		});
		expect({ code, out }).toEqual({ code: 130, out: "" });
		expect(machine.snapshot()).toEqual(before);
		expect(await machine.digest(session)).toBe(digest);
		const { path } = await machine.ok<CommitData>(["commit", session, "--plan", digest]);
		expect(existsSync(path)).toBe(true);
	});
});
