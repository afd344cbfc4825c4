import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { bash, cli, file, folder, hasTerminals, piFile, type Said, SCRIPT } from "./run-cli.js";

const prompts = (n: number): Said[] =>
	Array.from({ length: n }, (_, i) => ["user", `Prompt ${i} ${"word ".repeat(30)}`]);

describe("wrong input", () => {
	let path: string;
	beforeAll(() => {
		path = piFile(prompts(3));
	});

	const request = (fields: object) => JSON.stringify({ request: fields });
	const here = "SESSION";
	const refused: [what: string, args: string[], code: string][] = [
		["a file that is not there", ["inspect", "/nowhere/session.jsonl"], "unreadable"],
		["an id that nobody has", ["inspect", "0123abcd"], "unreadable"],
		["an empty name", ["inspect", ""], "unreadable"],
		["a leaf that is not there", ["inspect", here, "--leaf", "zzz"], "unknown_ref"],
		["a ref from nowhere", ["show", here, "a0099"], "unknown_ref"],
		["a label as ref", ["measure", here, "g0001..g0002"], "label_not_ref"],
		["a part's label as ref", ["show", here, "g0001.2"], "label_not_ref"],
		["a reversed range", ["measure", here, "a0002..a0001"], "reversed"],
		["a made-up cursor", ["inspect", here, "--cursor", "abc"], "invalid_cursor"],
		["an unknown field", ["request", here, request({ action: "inspect", pages: 1 })], "unknown_field"],
		["a wrong type", ["request", here, request({ action: "inspect", page_size: "1" })], "invalid_field"],
		["an unknown action", ["request", here, request({ action: "commit" })], "unknown_action"],
		["no JSON", ["request", here, "{request"], "invalid_request"],
	];

	it.each(refused)("%s is an error with a hint and exit code 1", async (_what, args, code) => {
		const named = args.map((arg) => (arg === here ? path : arg));
		const raw = named[0] === "request";
		const [json, human] = await Promise.all([cli(raw ? named : [...named, "--json"]), raw ? null : cli(named)]);
		expect(json).toMatchObject({ code: 1, err: "" });
		expect(JSON.parse(json.out)).toMatchObject({ ok: false, error: { code } });
		if (human === null) return;
		expect(human).toMatchObject({ code: 1, out: "" });
		expect(human.err).toMatch(/^error: .+\.\nhint: .+\n$/);
	});

	it.each<[what: string, make: () => string, code: string]>([
		["a directory", () => folder("dir"), "not_a_session"],
		["an empty file", () => file("empty.jsonl", ""), "not_a_session"],
		[
			"a binary file",
			() => file("binary.jsonl", Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256))),
			"not_a_session",
		],
		[
			"records of no known format",
			() => file("other.jsonl", '{"hello":"world"}\n{"hello":"again"}\n'),
			"unknown_format",
		],
	])("%s is refused as what it is", async (_what, make, code) => {
		const { code: exit, out } = await cli(["inspect", make(), "--json"]);
		expect(exit).toBe(1);
		expect(JSON.parse(out).error.code).toBe(code);
	});

	it.skipIf(process.getuid?.() === 0)("a file without permission is unreadable", async () => {
		const secret = piFile(prompts(1));
		chmodSync(secret, 0o000);
		expect(JSON.parse((await cli(["inspect", secret, "--json"])).out).error.code).toBe("unreadable");
	});

	it("a cursor of another session is refused", async () => {
		const other = piFile(prompts(4));
		const { cursor } = JSON.parse((await cli(["inspect", other, "--page-size", "1", "--json"])).out).data;
		const { code, err } = await cli(["inspect", path, "--cursor", cursor]);
		expect(code).toBe(1);
		expect(err).toMatch(/cursor belongs to another session/);
	});

	it.each([
		[[]],
		[["inspect"]],
		[["inspekt", "SESSION"]],
		[["inspect", "SESSION", "more"]],
		[["inspect", "SESSION", "--page-size", "many"]],
		[["inspect", "SESSION", "--page-size", "2.5"]],
		[["inspect", "SESSION", "--sort", "age"]],
		[["inspect", "SESSION", "--sort", "size", "--cursor", "x"]],
		[["inspect", "SESSION", "--all", "--cursor", "x"]],
		[["inspect", "SESSION", "--format", "word"]],
		[["inspect", "SESSION", "--threads", "0"]],
		[["inspect", "SESSION", "--unknown"]],
		[["measure", "SESSION"]],
		[["measure", "SESSION", "a0001..a0002..a0003"]],
		[["measure", "SESSION", "..a0002"]],
		[["measure", "SESSION", "a0001.."]],
		[["measure", "SESSION", ".."]],
		[["measure", "SESSION", ""]],
		[["measure", "SESSION", "a0001...a0002"]],
		[["measure", "SESSION", "a0001-a0002"]],
		[["measure", "SESSION", "a0001,a0002"]],
		[["measure", "SESSION", "a0001..a0002", "a0003 .. a0004"]],
		[["find", "SESSION"]],
		[["find", "SESSION", "--newest", "--json"]],
		[["find", "SESSION", "x", "--source", "system"]],
		[["show", "SESSION"]],
		[["request", "SESSION"]],
	])("wrong usage %j: exit code 2, nothing on stdout", async (args) => {
		const { code, out, err } = await cli(args);
		expect(code).toBe(2);
		expect(out).toBe("");
		expect(err).not.toMatch(/\n\s+at /);
		expect(err).not.toBe("");
	});

	it("wrong usage is told in the words of the command line", async () => {
		const [find, measure] = await Promise.all([cli(["find", path]), cli(["measure", path, "a0001...a0002"])]);
		expect(find.err).toMatch(/PATTERN.*--tool.*--source/);
		expect(measure.err).toContain("a0001...a0002");
		expect(find.err + measure.err).not.toMatch(/tool_name|candidates|missing_field/);
	});

	it.each([
		[["a0001", "a0002..a0099"], /a0002\.\.a0099.*"a0099"/],
		[["a0099"], /"a0099"/],
		[["a0003..a0001"], /a0003\.\.a0001/],
		[["g0001..g0002"], /g0001\.\.g0002.*label/],
		[["g0001.1..g0002.3"], /g0001\.1\.\.g0002\.3.*label/],
	])("a refusal of measure %j names the range as it was typed", async (ranges, named) => {
		const [human, json] = await Promise.all([
			cli(["measure", path, ...ranges]),
			cli(["measure", path, ...ranges, "--json"]),
		]);
		expect(human).toMatchObject({ code: 1, out: "" });
		for (const text of [human.err, json.out]) {
			expect(text.replaceAll('\\"', '"')).toMatch(named);
			expect(text).not.toContain("candidates");
		}
	});

	it.each([["--help"], ["--version"], ["inspect", "--help"], ["help", "find"]])(
		"%s %s goes to stdout with exit code 0",
		async (...args) => {
			const { code, out, err } = await cli(args.filter((arg) => arg !== undefined));
			expect({ code, err }).toEqual({ code: 0, err: "" });
			expect(out).toMatch(args[0] === "--version" ? /^\d+\.\d+\.\d+\n$/ : /Usage: midcompact[\s\S]*Example/);
		},
	);
});

describe("pipes and signals", () => {
	it("ccusage PR#984: more than 200 KB through a pipe arrive whole", async () => {
		const path = piFile(prompts(1_500));
		const { out, err } = await bash(`$MIDCOMPACT inspect "$FILE" --all --json | { sleep 1; cat; }`, { FILE: path });
		expect(err).toBe("");
		expect(out.length).toBeGreaterThan(200_000);
		const reply = JSON.parse(out);
		expect(reply.data.groups).toHaveLength(1_500);
		expect(reply.text.length).toBeLessThanOrEqual(12_000);
		expect(reply.text).toMatch(/g0020[\s\S]* lines .*omitted/);
	});

	it.skipIf(!existsSync("/dev/full"))("says so when what it writes to is full", async () => {
		const path = piFile(prompts(3));
		for (const args of ['inspect "$FILE"', 'inspect "$FILE" --json', "--help"]) {
			const ended = await bash(`$MIDCOMPACT ${args} > /dev/full`, { FILE: path });
			expect(ended).toEqual({ code: 1, out: "", err: "error: cannot write output (ENOSPC)\n" });
		}
	});

	it("a reader that goes away is no failure", async () => {
		const path = piFile(prompts(3_000));
		const { out, err } = await bash(
			`$MIDCOMPACT inspect "$FILE" --all --json | head -c 10; echo " \${PIPESTATUS[0]}"`,
			{ FILE: path },
		);
		expect(out).toMatch(/^\{"ok":true 0\n$/);
		expect(err).toBe("");
	});

	it("Ctrl-C while stdin is awaited ends with 130 and without a word", async () => {
		const path = piFile(prompts(2));
		const ended = await cli(["request", path, "-"], {
			started: (child) => setTimeout(() => child.kill("SIGINT"), 1_500),
		});
		expect(ended).toEqual({ code: 130, out: "", err: "" });
	});

	it.each([
		["SIGINT", 130],
		["SIGTERM", 143],
	] as const)("%s while tokens are counted ends soon with %i", async (signal, code) => {
		const numbers = Array.from({ length: 400_000 }, (_, i) => (i * 7919) % 1_000_003).join(" ");
		const path = piFile(Array.from({ length: 12 }, (_, i): Said => ["user", `${i} ${numbers}`]));
		let sent = 0;
		const ended = await cli(["inspect", path, "--wait"], {
			started: (child) =>
				setTimeout(() => {
					sent = performance.now();
					child.kill(signal);
				}, 1_200),
		});
		expect(ended).toEqual({ code, out: "", err: "" });
		expect(performance.now() - sent).toBeLessThan(4_000);
	});
});

describe.skipIf(!hasTerminals)("on a terminal", () => {
	const typed = (args: string, env: Record<string, string> = {}) =>
		bash(`${SCRIPT} -qec "stty cols 100; $MIDCOMPACT inspect $FILE ${args} 2>/dev/null" /dev/null`, {
			FILE: piFile(prompts(2)),
			TERM: "xterm",
			SHELL: "/bin/sh",
			...env,
		});

	it("colours the table and keeps it within the terminal's width", async () => {
		const { out } = await typed("");
		expect(out).toContain("\u001b[36m█");
		for (const line of stripVTControlCharacters(out)
			.split(/\r?\n/)
			.filter((row) => row.startsWith("g0"))) {
			expect(line.length).toBeLessThanOrEqual(100);
			expect(line).toMatch(/Prompt \d .*…$/);
		}
	});

	it.each([80, 60, 40, 30])("of %i columns wraps no line", async (columns) => {
		const { out } = await bash(
			`${SCRIPT} -qec "stty cols ${columns}; $MIDCOMPACT inspect $FILE --page-size 2 2>/dev/null" /dev/null`,
			{
				FILE: piFile(prompts(5)),
				TERM: "xterm",
				SHELL: "/bin/sh",
			},
		);
		const lines = stripVTControlCharacters(out).split(/\r?\n/);
		expect(lines.filter((line) => line.includes("a0002"))).toHaveLength(1);
		for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
	});

	it.each([
		["--no-color", {}],
		["", { NO_COLOR: "1" }],
		["", { TERM: "dumb" }],
	])("leaves colours out with %j %j", async (args, env) => {
		expect((await typed(args, env)).out).not.toContain("\u001b[3");
	});
});

describe("midcompact sessions", () => {
	let env: Record<string, string>;
	const ids = [
		"aaaa1111-0000-4000-8000-000000000001",
		"aaaa2222-0000-4000-8000-000000000002",
		"bbbb3333-0000-4000-8000-000000000003",
	];

	beforeAll(async () => {
		const home = folder("home");
		env = { HOME: home };
		const claude = `${home}/.claude/projects/-w`;
		const codex = `${home}/.codex/sessions/2026/01/02`;
		const pi = `${home}/.pi/agent/sessions/--w--`;
		for (const path of [`${claude}/${ids[0]}/subagents`, codex, pi]) mkdirSync(path, { recursive: true });
		await bash(
			[
				`cp "$FILE" "${claude}/${ids[0]}.jsonl" && touch -d 2026-01-01 "${claude}/${ids[0]}.jsonl"`,
				`cp "$FILE" "${codex}/rollout-2026-01-02T03-04-05-${ids[1]}.jsonl" && touch -d 2026-01-03 "${codex}/"*`,
				`cp "$FILE" "${pi}/2026-01-02T03-04-05-000Z_${ids[2]}.jsonl" && touch -d 2026-01-02 "${pi}/"*`,
				`echo x > "${claude}/agent-7.jsonl"; echo x > "${claude}/${ids[0]}/subagents/agent-8.jsonl"; echo x > "${claude}/sessions-index.json"`,
			].join("\n"),
			{ FILE: piFile(prompts(2)) },
		);
	});

	it("lists what lies in the agents' folders, newest first", async () => {
		const { data } = JSON.parse((await cli(["sessions", "--json"], { env })).out);
		expect(data).toMatchObject({ total: 3, returned: 3 });
		expect(data.sessions.map(({ id, format }: { id: string; format: string }) => [id, format])).toEqual([
			[ids[1], "codex"],
			[ids[2], "pi"],
			[ids[0], "claude-code"],
		]);
		expect(data.sessions[2]).toMatchObject({
			modified: expect.stringMatching(/^20(25-12-31|26-01-01)T/),
			size: expect.any(Number),
		});
	});

	it("is bounded, and says what it left out", async () => {
		const { out } = await cli(["sessions", "--limit", "1"], { env });
		expect(out).toContain(ids[1]);
		expect(out).not.toContain(ids[2]);
		expect(out).toContain("2 older sessions not shown; --limit 3 shows all.");
		expect((await cli(["sessions", "--format", "pi"], { env })).out).not.toContain(ids[1]);
	});

	it("honours the agents' own variables", async () => {
		const other = folder("other");
		const moved = {
			CLAUDE_CONFIG_DIR: other,
			CODEX_HOME: other,
			PI_CODING_AGENT_DIR: other,
			PI_CODING_AGENT_SESSION_DIR: `${other}/flat`,
		};
		mkdirSync(`${other}/flat`);
		await bash(`cp "$FILE" "${other}/flat/2026-01-02T03-04-05-000Z_cccc.jsonl"`, { FILE: piFile(prompts(1)) });
		const { data } = JSON.parse((await cli(["sessions", "--json"], { env: { ...env, ...moved } })).out);
		expect(data.sessions.map(({ id }: { id: string }) => id)).toEqual(["cccc"]);
	});

	it("says where it looked when there are none, and prints no data", async () => {
		const all = await cli(["sessions"]);
		expect(all).toMatchObject({ code: 0, out: "" });
		expect(all.err).toMatch(/^no sessions found in .*\.claude.*\.codex.*\.pi.*\n$/);
		const pi = await cli(["sessions", "--format", "pi"]);
		expect(pi.err).toMatch(/^no sessions found in [^,]*\.pi[^,]*\n$/);
		const json = await cli(["sessions", "--json"]);
		expect(JSON.parse(json.out)).toMatchObject({
			text: expect.stringContaining("no sessions found"),
			data: { total: 0 },
		});
	});

	it.each(["0", "-5"])("--limit %s is clamped", async (limit) => {
		const { code, out } = await cli(["sessions", "--limit", limit, "--json"], { env });
		expect(code).toBe(0);
		expect(JSON.parse(out).data).toMatchObject({ total: 3, returned: 1 });
	});

	it("opens a session by its id or a unique prefix", async () => {
		for (const name of [ids[2], "bbbb"]) {
			const { code, out } = await cli(["inspect", name], { env });
			expect(code).toBe(0);
			expect(out).toContain(ids[2]);
		}
	});

	it("refuses a prefix of several, and names them", async () => {
		const { code, out, err } = await cli(["inspect", "aaaa"], { env });
		expect({ code, out }).toEqual({ code: 1, out: "" });
		expect(err).toContain("2 sessions have an id that starts with aaaa");
		expect(err).toContain(ids[0]);
		expect(err).toContain(ids[1]);
	});
});
