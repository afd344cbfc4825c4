import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RangeData } from "#src/facade/plan-figures.js";
import type { RangeReadData } from "#src/facade/plan-read.js";
import type { PlanData } from "#src/facade/plan-show.js";
import type { AbortData, ProjectData, StartData, StatusData } from "#src/facade/transaction.js";
import { Machine } from "../cli/machine.js";
import { called, piLines, type Said } from "../cli/run-cli.js";

/** Atoms a0001 … a0008; a0006 and a0007 share a call id, so both are protected. */
const SAID: Said[] = [
	["user", "Fix the build"],
	...called("read", { path: "src/a.ts" }, "ENOENT: no such file, waited 250 ms"),
	["assistant", "It is gone."],
	["user", "Then restore it"],
	["assistant", "Done"],
	...called("bash", { command: "npm test" }, "ok", "same"),
	...called("bash", { command: "npm test" }, "ok again", "same"),
	["user", "Thanks"],
];

describe("without a transaction", () => {
	const machine = new Machine();
	let session = "";
	beforeAll(() => {
		session = machine.write("session.jsonl", piLines(SAID));
	});

	it.each([
		["plan SESSION"],
		["plan SESSION show --losses"],
		["plan SESSION read d1"],
		["plan SESSION add a0001 a0002 --summary x"],
		["plan SESSION update d1 --topic x"],
		["plan SESSION remove d1"],
		["plan SESSION undo"],
		["project SESSION"],
		["commit SESSION --plan 0123456789ab"],
		["abort SESSION"],
	])("%s says how one is started, and leaves no trace", async (line) => {
		const before = machine.snapshot();
		const args = line.split(" ").map((word) => (word === "SESSION" ? session : word));
		const error = await machine.refused(args);
		expect(error).toMatchObject({
			code: "no_transaction",
			hint: expect.stringContaining("`midcompact start SESSION`"),
		});
		expect(machine.snapshot()).toEqual(before);
		expect(existsSync(machine.state)).toBe(false);
	});

	it("status says so and is no failure", async () => {
		const { code, out, err } = await machine.run(["status", session]);
		expect({ code, err }).toEqual({ code: 0, err: "" });
		expect(out).toBe("No transaction is open. Start one with `midcompact start SESSION`.\n");
		const none = { transaction: null, revision: null, digest: null, totals: null };
		expect(await machine.ok<StatusData>(["status", session])).toEqual(none);
	});
});

describe("a request that does not fit the plan", () => {
	const machine = new Machine();
	let session = "";
	let planned: PlanData;
	beforeAll(async () => {
		session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		await machine.ok(["plan", session, "add", "a0002", "a0003", "--summary", "It was gone."]);
		planned = await machine.ok<PlanData>(["plan", session]);
	});

	it.each<[what: string, args: string[], code: string, message: RegExp, hint: RegExp]>([
		[
			"an overlap",
			["add", "a0003", "a0004"],
			"overlap",
			/a0003\.\.a0004 overlaps .*d1 \(a0002\.\.a0003\)/,
			/Remove d1/,
		],
		["a reversed range", ["add", "a0005..a0004"], "reversed", /a0005.* after .*a0004/, /earlier atom as start/],
		[
			"a ref from nowhere",
			["add", "a0004", "a0099"],
			"unknown_ref",
			/end "a0099".*a0001 to a0008/,
			/refs such as a0001/,
		],
		[
			"a label as start",
			["add", "g0001", "a0002"],
			"label_not_ref",
			/start is the group label "g0001"/,
			/display only/,
		],
		[
			"a part's label as end",
			["add", "a0001", "g0001.2"],
			"label_not_ref",
			/end is .*"g0001\.2"/,
			/start and end refs/,
		],
		["a range id as ref", ["add", "d1", "d1"], "unknown_ref", /"d1"/, /refs such as a0001/],
		[
			"protected atoms",
			["add", "a0005", "a0008"],
			"protected_atom",
			/a0006 inside .*ambiguous.*1 more/,
			/a0005 and a0008/,
		],
		["nothing but protected atoms", ["add", "a0006", "a0007"], "protected_atom", /a0006/, /No atom of it/],
		["another start", [], "transaction_active", /open on this branch since/, /Commit or abort/],
		["a range that is not there", ["read", "d7"], "unknown_range", /d7/, /plan/],
		["a change of one", ["update", "d7", "--topic", "x"], "unknown_range", /d7/, /plan/],
		["a removal of one", ["remove", "d7"], "unknown_range", /d7/, /plan/],
		["an atom as range", ["remove", "a0002"], "unknown_range", /a0002/, /plan/],
		["a topic too long", ["update", "d1", "--topic", "x".repeat(201)], "invalid_field", /topic.*201/, /Shorten/],
		[
			"a file that is not there",
			["update", "d1", "--summary-file", "/nowhere/x"],
			"unreadable",
			/\/nowhere\/x/,
			/stdin/,
		],
	])("%s is refused, and nothing is changed", async (_what, args, code, message, hint) => {
		const before = machine.snapshot();
		const error = await machine.refused(args.length === 0 ? ["start", session] : ["plan", session, ...args]);
		expect(error).toMatchObject({
			code,
			message: expect.stringMatching(message),
			hint: expect.stringMatching(hint),
		});
		expect(machine.snapshot()).toEqual(before);
	});

	it("a person reads the error on stderr, in the words of the command line", async () => {
		const { code, out, err } = await machine.run(["plan", session, "add", "a0005", "a0008"]);
		expect({ code, out }).toEqual({ code: 1, out: "" });
		expect(err).toMatch(/^error: a0006 .+\.\nhint: Around what is protected: a0005 and a0008\.\n$/);
	});

	it("the plan still is what it was", async () => {
		expect(await machine.ok<PlanData>(["plan", session])).toEqual(planned);
	});
});

describe("wrong usage of the planning commands", () => {
	it.each([
		[["plan"], /session/],
		[["plan", "SESSION", "delete", "d1"], /no verb 'delete'.*remove/],
		[["plan", "show", "SESSION"], /session comes first: plan SESSION show/],
		[["plan", "SESSION", "add"], /plan SESSION add START END/],
		[["plan", "SESSION", "add", "a0001", "a0002", "a0003"], /plan SESSION add START END/],
		[["plan", "SESSION", "read"], /plan SESSION read RANGE/],
		[["plan", "SESSION", "remove", "d1", "d2"], /plan SESSION remove RANGE/],
		[["plan", "SESSION", "undo", "d1"], /plan SESSION undo/],
		[["plan", "SESSION", "update", "d1"], /--summary.*--topic/],
		[["plan", "SESSION", "show", "--summary", "x"], /show takes no summary/],
		[
			["plan", "SESSION", "add", "a0001", "a0001", "--summary", "x", "--summary-file", "y"],
			/--summary-file.*--summary/,
		],
		[["commit", "SESSION"], /--plan DIGEST.*midcompact status/],
		[["commit", "SESSION", "--yes"], /no --yes.*--plan DIGEST/],
		[["commit", "SESSION", "-y"], /--plan DIGEST/],
		[["commit", "SESSION", "--plan"], /--plan/],
		[["recall", "SESSION", "--limit", "many"], /integer/],
		[["start"], /session/],
	] as const)("%j: exit code 2 and what to write instead", async (args, said) => {
		const machine = new Machine();
		const { code, out, err } = await machine.run(args);
		expect({ code, out }).toEqual({ code: 2, out: "" });
		expect(err).toMatch(said);
		expect(existsSync(machine.state)).toBe(false);
	});

	it.each([["start"], ["status"], ["plan"], ["project"], ["commit"], ["abort"], ["recall"]])(
		"%s --help says what it is for and how it is written",
		async (name) => {
			const { code, out } = await new Machine().run([name, "--help"]);
			expect(code).toBe(0);
			expect(out).toContain(`Usage: midcompact ${name} [options] <session>`);
			expect(out).not.toContain("--yes");
		},
	);
});

describe("the plan on the command line", () => {
	it("takes a span for two refs, and a summary as text, from a file and from stdin", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const summary = machine.write("summary.md", ["From a file.", "", "With `code` and 文字."]);
		await machine.ok(["start", session]);
		const text = await machine.ok<RangeData>(["plan", session, "add", "a0001", "--summary", "One atom."]);
		expect(text.range).toMatchObject({ id: "d1", start: "a0001", end: "a0001", summary: "One atom." });
		await machine.ok(["plan", session, "add", "a0002..a0003", "--summary-file", summary]);
		await machine.ok(["plan", session, "add", "a0004", "a0004", "--summary-file", "-"], { stdin: "From stdin.\n" });
		await machine.ok(["plan", session, "add", "a0005", "a0005", "--summary", "-"], { stdin: "The same." });
		const { ranges } = await machine.ok<PlanData>(["plan", session]);
		expect(ranges.map(({ start, end, summary: said }) => [start, end, said])).toEqual([
			["a0001", "a0001", "One atom."],
			["a0002", "a0003", "From a file.\n\nWith `code` and 文字."],
			["a0004", "a0004", "From stdin."],
			["a0005", "a0005", "The same."],
		]);
	});

	it("replies are of the documented shapes", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const range = ["id", "start", "end", "topic", "summary", "pending", "from", "to", "atoms", "chars"].concat([
			"replacement_chars",
			"images",
			"image_bytes",
			"tokens",
			"replacement_tokens",
		]);
		const totals = [
			"ranges",
			"pending",
			"atoms",
			"chars",
			"replacement_chars",
			"images",
			"tokens",
			"replacement_tokens",
		];
		const started = await machine.ok<StartData>(["start", session, "Keep", "the", "paths"]);
		expect(started.transaction).toMatchObject({
			id: expect.stringMatching(/\S/),
			mode: "agent",
			instructions: "Keep the paths",
			anchor: { format: "pi", scope: "context", atoms: 8, messages: 11 },
		});
		const added = await machine.ok<RangeData>(["plan", session, "add", "a0001", "a0003", "--topic", "Build"]);
		for (const key of range) expect(added.range).toHaveProperty(key);
		for (const key of totals) expect(added.totals).toHaveProperty(key);
		expect(added).toMatchObject({ revision: 1, digest: expect.stringMatching(/^[0-9a-f]{12}$/) });
		const read = await machine.ok<RangeReadData>(["plan", session, "read", "d1"]);
		expect(read).toMatchObject({ range: { topic: "Build", pending: true }, losses: null });
		const removed = await machine.ok<RangeData>(["plan", session, "remove", "d1"]);
		expect(removed).toMatchObject({ revision: 2, range: { id: "d1" }, totals: { ranges: 0 } });
		const next = await machine.ok<RangeData>(["plan", session, "add", "a0001", "a0003", "--summary", "x"]);
		expect(next.range.id).toBe("d2");
		const project = await machine.ok<ProjectData>(["project", session]);
		expect(project).toMatchObject({
			ranges: 1,
			pending: 0,
			before: { messages: 11, chars: expect.any(Number), images: 0, tokens: expect.any(Number) },
			after: { messages: 8 },
			first_change: { ref: "a0001", message: 1, tokens_before: 0, tokens_after: expect.any(Number) },
			path: null,
		});
		const aborted = await machine.ok<AbortData>(["abort", session]);
		expect(aborted).toEqual({ transaction: started.transaction.id, ranges: 1 });
		expect(await machine.ok<StatusData>(["status", session])).toMatchObject({ transaction: null });
	});

	it("undo takes changes back one by one, down to the empty plan", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		const digests = [await machine.digest(session)];
		for (const args of [
			["add", "a0001", "a0002", "--summary", "x"],
			["update", "d1", "--topic", "T"],
			["remove", "d1"],
		])
			digests.push((await machine.ok<RangeData>(["plan", session, ...args])).digest);
		for (const digest of digests.slice(0, -1).reverse())
			expect((await machine.ok<StatusData>(["plan", session, "undo"])).digest).toBe(digest);
		expect(await machine.refused(["plan", session, "undo"])).toMatchObject({
			message: expect.stringMatching(/change/),
		});
	});

	it("--losses names what the summaries leave out, in one reply", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		await machine.ok(["plan", session, "add", "a0002", "a0003", "--summary", "Looked at it."]);
		await machine.ok(["plan", session, "add", "a0004", "a0004"]);
		const data = await machine.ok<PlanData & { losses: object }>(["plan", session, "--losses"]);
		expect(data.ranges).toHaveLength(2);
		expect(data.losses).toEqual({ d1: { kinds: expect.any(Array) }, d2: null });
		const { out } = await machine.run(["plan", session, "--losses"]);
		expect(out).toMatch(/d1 a0002\.\.a0003\n.*neither in the summary[\s\S]*src\/a\.ts[\s\S]*250 ms/);
		expect(out).toMatch(/d2 a0004\n {3}<pending>\n$/);
	});

	it("the agent's raw requests work on the same plan, and can neither start nor commit", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		const request = { request: { action: "plan_add", start: "a0001", end: "a0001", summary: "By the agent." } };
		expect((await machine.run(["request", session, JSON.stringify(request)])).code).toBe(0);
		expect(await machine.ok<PlanData>(["plan", session])).toMatchObject({ ranges: [{ summary: "By the agent." }] });
		for (const action of ["commit", "start", "abort", "plan_undo"]) {
			const { out, code } = await machine.run(["request", session, JSON.stringify({ request: { action } })]);
			expect(code).toBe(1);
			expect(JSON.parse(out).error.code).toBe("unknown_action");
		}
	});

	it("only its user reads what is kept", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		await machine.ok(["start", session]);
		const { out } = await machine.bash(`find "${machine.state}" -printf '%m %y\\n' | sort -u`);
		expect(out).toBe("600 f\n700 d\n");
		expect(existsSync(join(machine.state, "pi"))).toBe(true);
	});
});
