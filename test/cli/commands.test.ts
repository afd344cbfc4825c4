import { beforeAll, describe, expect, it } from "vitest";
import { called, cli, file, piFile, piLines, type Said } from "./run-cli.js";

/** Five groups; the third is by far the largest. */
const SAID: Said[] = [
	["user", "Fix the build"],
	...called("read", { path: "a.txt" }, "ENOENT"),
	["assistant", "It is gone."],
	["user", "Then restore it"],
	["assistant", "Done"],
	["user", "Show me the log"],
	...called("bash", { command: "cat log" }, "line of the log\n".repeat(500), "call_2"),
	["user", "数据库连接超时，请重试。".repeat(20)],
	["user", "Thanks"],
];

const CONTROL = /(?!\n)\p{Cc}/u;

let path: string;
beforeAll(() => {
	path = piFile(SAID);
});

describe("midcompact inspect", () => {
	it("prints a table of the groups in time order", async () => {
		const { code, out, err } = await cli(["inspect", path]);
		expect({ code, err }).toEqual({ code: 0, err: "" });
		expect(out).toContain(path);
		expect(out).toMatch(/pi · scope context · .* 12 records · 11 messages/);
		expect(out).toMatch(/5 groups · 9 atoms · 8,\d{3} chars · [\d,]+ tokens \(o200k_base\) · 0 protected/);
		const rows = out.split("\n").filter((line) => /^g\d{4}/.test(line));
		expect(rows.map((row) => row.slice(0, 5))).toEqual(["g0001", "g0002", "g0003", "g0004", "g0005"]);
		expect(rows[0]).toMatch(/^g0001 +a0001\.\.a0003 .* 3 +\d+ +\d+ +Fix the build$/);
		expect(rows[2]).toMatch(/████████████ +9\d\.\d % .*Show me the log$/);
	});

	it("answers a session above 8 MB before its tokens are counted, unless told to wait", async () => {
		const large = piFile([["user", "word ".repeat(1_700_000)]]);
		expect((await cli(["inspect", large])).out).toMatch(/Tokens.* --wait /);
		expect((await cli(["inspect", large, "--wait"])).out).toContain("1,700,001 tokens");
	});

	it("writes no colours and no control characters into a pipe", async () => {
		const { out } = await cli(["inspect", path], { env: { FORCE_COLOR: "1" } });
		expect(out).not.toMatch(CONTROL);
	});

	it("--sort size lists the biggest first and says what is left", async () => {
		const { out } = await cli(["inspect", path, "--sort", "size", "--page-size", "2"]);
		expect([...out.matchAll(/^g\d{4}/gm)].map(String)).toEqual(["g0003", "g0004"]);
		expect(out).toMatch(/3 smaller groups hold \d\.\d %; --all shows all/);
	});

	it("names a next page of the same survey: scope, leaf and page size are repeated", async () => {
		const first = await cli(["inspect", path, "--scope", "path", "--page-size", "2"]);
		const [, command] = /Next page: midcompact (.*?) {3}/.exec(first.out) ?? [];
		expect(command).toContain("--scope path --page-size 2");
		const second = await cli(command.split(" "));
		expect([second.code, [...second.out.matchAll(/^g\d{4}/gm)].map(String)]).toEqual([0, ["g0003", "g0004"]]);
	});

	it("names a next page that works", async () => {
		const first = await cli(["inspect", path, "--page-size", "2"]);
		const cursor = /--cursor (\S+)/.exec(first.out)?.[1] ?? "";
		const second = await cli(["inspect", path, "--page-size", "2", "--cursor", cursor]);
		expect([...second.out.matchAll(/^g\d{4}/gm)].map(String)).toEqual(["g0003", "g0004"]);
		const all = await cli(["inspect", path, "--page-size", "2", "--all"]);
		expect([...all.out.matchAll(/^g\d{4}/gm)]).toHaveLength(5);
		expect(all.out).not.toContain("--cursor");
	});

	it("--wait counts tokens", async () => {
		const { code, out } = await cli(["inspect", path, "--wait", "--json"]);
		const { data } = JSON.parse(out);
		expect(code).toBe(0);
		expect(data.tokens).toEqual({ encoding: "o200k_base", ready: 1, approximate_atoms: 0 });
		expect(data.totals.tokens).toBeGreaterThan(1_000);
		const table = await cli(["inspect", path, "--wait", "--encoding", "cl100k_base"]);
		expect(table.out).toMatch(/tokens \(cl100k_base\)/);
		expect(table.out).not.toContain("--wait");
	});

	it.each([
		[
			["--sort", "size"],
			["g0003", "g0004", "g0001", "g0002", "g0005"],
		],
		[["--all"], ["g0001", "g0002", "g0003", "g0004", "g0005"]],
	])("--json %j has the same order and no cursor", async (order, labels) => {
		const { out } = await cli(["inspect", path, "--json", ...order]);
		const { ok, data } = JSON.parse(out);
		expect(ok).toBe(true);
		expect(data.groups.map(({ label }: { label: string }) => label)).toEqual(labels);
		expect(data.cursor).toBeNull();
	});
});

describe("the other commands", () => {
	it("measure takes ranges and single atoms", async () => {
		const { code, out } = await cli(["measure", path, "a0001..a0003", "a0007", "--json"]);
		expect(code).toBe(0);
		const [first, second] = JSON.parse(out).data.candidates;
		expect(first).toMatchObject({
			start: "a0001",
			end: "a0003",
			tools: { read: 1 },
			roles: { user: 1, assistant: 2, tool_result: 1 },
		});
		expect(second).toMatchObject({ start: "a0007", end: "a0007", exchanges: 1 });
		const human = await cli(["measure", path, "a0001..a0003"]);
		expect(human.out).toContain("from: Fix the build");
		const many = await cli(["measure", path, ...Array.from({ length: 70 }, () => "a0001..a0007")]);
		expect(many.out).toMatch(/Measure the other \d+ in another call, from a0001\.\.a0007 on\./);
	});

	it.each([
		[["the BUILD"], ["a0001"]],
		[["--tool", "Bash"], ["a0007"]],
		[
			["--source", "user", "--newest", "--limit", "2"],
			["a0009", "a0008"],
		],
		[["超时"], ["a0008"]],
		[["nowhere"], []],
	])("find %j", async (args, refs) => {
		const { code, out } = await cli(["find", path, ...args, "--json"]);
		expect(code).toBe(0);
		expect(JSON.parse(out).data.matches.map(({ ref }: { ref: string }) => ref)).toEqual(refs);
		const human = await cli(["find", path, ...args]);
		for (const ref of refs) expect(human.out).toContain(`${ref} (number`);
	});

	it("show prints a landmark, --full more", async () => {
		const brief = await cli(["show", path, "a0007"]);
		const full = await cli(["show", path, "a0007", "--full"]);
		expect(brief.out).toMatch(/^a0007 .*tool_exchange, closed, calls bash 1/);
		expect(brief.out).toContain("omitted");
		expect(full.out.length).toBeGreaterThan(brief.out.length + 5_000);
	});

	it.each(["argument", "stdin"])("request takes the envelope from %s and prints JSON", async (where) => {
		const envelope = '{"request":{"action":"locate_ref","ref":"a0001"}}';
		const { code, out, err } = await (where === "stdin"
			? cli(["request", path, "-"], { stdin: envelope })
			: cli(["request", path, envelope]));
		expect({ code, err }).toEqual({ code: 0, err: "" });
		expect(JSON.parse(out)).toMatchObject({ ok: true, action: "locate_ref", data: { matches: [{ ref: "a0001" }] } });
	});

	it("measure and show count the tokens of a small session, and name --wait for a large one", async () => {
		const large = piFile([["user", "word ".repeat(1_700_000)]]);
		for (const args of [
			["measure", "a0001"],
			["show", "a0001"],
		] as const) {
			const [command, ref] = args;
			expect((await cli([command, path, ref])).out).toMatch(/ \d+ tokens?[,;]/);
			const { out } = await cli([command, large, ref]);
			expect(out).toContain("--wait");
			expect(out).not.toContain("not counted yet");
			expect((await cli([command, large, ref, "--wait"])).out).toContain("1,700,001 tokens");
		}
		const raw = await cli(["request", large, '{"request":{"action":"locate_ref","ref":"a0001"}}']);
		expect(JSON.parse(raw.out).text).toContain("tokens not counted yet");
	});

	it("what more there is to see is named in options of the command line", async () => {
		const brief = await cli(["show", path, "a0007"]);
		expect(brief.out).toContain("--full");
		const found = await cli(["find", path, "e", "--limit", "1"]);
		expect(found.out).toMatch(/--tool.*--source.*--newest/);
		expect(brief.out + found.out).not.toMatch(/detail "full"|tool_name|direction "/);
	});

	it.each(["0", "-5", "1"])("%s is clamped as a number of groups, matches or findings", async (n) => {
		const groups = JSON.parse((await cli(["inspect", path, "--page-size", n, "--json"])).out).data.groups;
		const largest = JSON.parse((await cli(["inspect", path, "--page-size", n, "--sort", "size", "--json"])).out).data;
		const matches = JSON.parse((await cli(["find", path, "e", "--limit", n, "--json"])).out).data.matches;
		expect([groups.length, largest.groups.length, matches.length]).toEqual([1, 1, 1]);
		expect((await cli(["doctor", path, "--limit", n])).code).toBe(0);
	});

	it("a byte order mark before a request on stdin is no part of it", async () => {
		const envelope = '{"request":{"action":"locate_ref","ref":"a0001"}}';
		const { code, out } = await cli(["request", path, "-"], { stdin: `\ufeff${envelope}` });
		expect({ code, ok: JSON.parse(out).ok }).toEqual({ code: 0, ok: true });
	});

	it("--scope, --leaf and --format reach the reader", async () => {
		const shorter = await cli([
			"inspect",
			path,
			"--json",
			"--leaf",
			"10000000",
			"--scope",
			"path",
			"--format",
			"pi",
			"--threads",
			"1",
		]);
		expect(JSON.parse(shorter.out).data).toMatchObject({
			anchor: { entry: "10000000", scope: "path" },
			totals: { atoms: 1 },
		});
	});
});

describe("midcompact doctor", () => {
	it("reports damage with its place and exits 0", async () => {
		const lines = piLines(SAID);
		const torn = lines[3].slice(0, 40);
		const broken = file(
			"broken.jsonl",
			`${lines.slice(0, 3).join("\n")}\n${torn}\n${lines.slice(3).join("\n")}\n{"type":"mess`,
		);
		const { code, out, err } = await cli(["doctor", broken]);
		expect({ code, err }).toEqual({ code: 0, err: "" });
		expect(out).toContain("torn_tail");
		const { data } = JSON.parse((await cli(["doctor", broken, "--json"])).out);
		expect(data.damage.count).toBeGreaterThanOrEqual(2);
		expect(data.damage.kinds.torn_tail).toBe(1);
		const tail = data.damage.first.find(({ kind }: { kind: string }) => kind === "torn_tail");
		expect(tail.offset).toBe(
			`${lines.slice(0, 3).join("\n")}\n${torn}\n${lines.slice(3).join("\n")}\n`.length + extraBytes(lines),
		);
		expect(tail.line).toBe(lines.length + 2);
	});

	it("lists up to what is kept, says how many more there are, and bounds its text", async () => {
		const broken = file("broken.jsonl", `${piLines(SAID).join("\n")}\n${"{broken\n".repeat(1_500)}`);
		const few = JSON.parse((await cli(["doctor", broken, "--limit", "5", "--json"])).out);
		expect(few.data.damage).toMatchObject({ count: 1_500, kept: 1_000, listed: 5 });
		expect(few.text).toContain("1,495 findings not listed; --limit lists up to 1,000");
		const { data, text } = JSON.parse((await cli(["doctor", broken, "--limit", "5000", "--json"])).out);
		expect(data.damage).toMatchObject({ count: 1_500, kept: 1_000, listed: 1_000 });
		expect(data.damage.first).toHaveLength(1_000);
		expect(text.length).toBeLessThanOrEqual(12_000);
		const human = await cli(["doctor", broken, "--limit", "5000"]);
		for (const told of [text, human.out])
			expect(told).toContain("500 more findings exist; only the first 1,000 are kept");
	});

	it("says so when nothing is wrong", async () => {
		expect((await cli(["doctor", path])).out).toContain("No damage found.");
	});
});

/** UTF-8 bytes beyond one for each UTF-16 unit. */
function extraBytes(lines: readonly string[]): number {
	return lines.reduce((sum, line) => sum + Buffer.byteLength(line) - line.length, 0);
}

describe("a session whose texts are made for a terminal", () => {
	const nasty = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u0085\u007f \u202ereversed\u2028 end";
	let evil: string;
	beforeAll(() => {
		evil = piFile(
			[["user", nasty], ...called(`to\u001b[31mol`, { a: nasty }, nasty), ["user", `second ${nasty}`]],
			"e\u001b[31mvil.jsonl",
		);
	});

	it.each([
		["inspect"],
		["inspect", "--sort", "size"],
		["measure", "a0001..a0002"],
		["find", "owned"],
		["find", "x", "--tool", "\u001b[2J"],
		["show", "a0002"],
		["show", "\u001b[2J"],
		["doctor"],
	])("%s %s never hands them through", async (command, ...args) => {
		for (const { out, err } of await Promise.all(
			[[], ["--json"]].map((json) => cli([command, evil, ...args, ...json])),
		)) {
			expect(out + err).not.toMatch(CONTROL);
			expect(out + err).not.toMatch(/[\u2028\u202e]/);
			expect(out + err).not.toBe("");
		}
	});

	it("keeps them whole in JSON", async () => {
		const { out } = await cli(["show", evil, "a0001", "--json"]);
		expect(JSON.parse(out).data.matches[0].text).toContain(nasty);
	});
});
