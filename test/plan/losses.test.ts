import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { Piscina } from "piscina";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asMidcompactError } from "#src/errors.js";
import {
	EVIDENCE_KINDS,
	type Evidence,
	EvidenceCounter,
	type EvidenceKind,
	evidenceOf,
	evidenceOfText,
	MOST_ITEMS,
} from "#src/plan/evidence.js";
import { itemsAt, lossReport, notInSummary } from "#src/plan/losses.js";
import { cutText } from "#src/session/cut-text.js";
import { emptyFacts, type Part } from "#src/session/record.js";
import type { RowPlaces, RowSource } from "#src/session/rows.js";
import { assistantMessage, jsonLines, piSession, scratchFolder, userMessage } from "../helpers/files.js";

function itemsOf(text: string, kind: EvidenceKind): string[] {
	const items = new Set<string>();
	evidenceOfText(text, (one, item) => one === kind && items.add(item));
	return [...items];
}

function ofParts(parts: Part[]): Record<string, string[]> {
	const found: Record<string, string[]> = {};
	evidenceOf({ ...emptyFacts(0), parts }, (kind, item) => {
		found[kind] ??= [];
		found[kind].push(item);
	});
	return found;
}

function evidenceIn(text: string): Evidence {
	const counter = new EvidenceCounter();
	evidenceOfText(text, (kind, item) => counter.add(kind, item));
	return counter.evidence;
}

const own = (text: string): Part => ({ type: "text", text, from: "own" });
const result = (text: string): Part => ({ type: "text", text, from: "result" });
const call = (name: string, args: object | string): Part => ({
	type: "tool_call",
	id: "c1",
	name,
	arguments: typeof args === "string" ? args : JSON.stringify(args),
	answer: "result",
});

describe("paths", () => {
	test.each([
		["see src/foo/bar.ts:12 and src/foo/bar.ts:90:3.", ["src/foo/bar.ts"]],
		["`./lib/a.js`, (../b/c.py)", ["lib/a.js", "../b/c.py"]],
		["in ~/notes/today and /etc/hosts, under $HOME/bin/", ["~/notes/today", "/etc/hosts", "$HOME/bin"]],
		["C:\\Users\\me\\a.txt", ["C:\\Users\\me\\a.txt"]],
		['"C:\\\\Users\\\\me\\\\a.txt"', ["C:\\Users\\me\\a.txt"]],
		["package.json, Dockerfile.dev and tsconfig.build.json", ["package.json", "tsconfig.build.json"]],
		["packages/core/src without an ending", ["packages/core/src"]],
		["src/größe/日本.md", ["src/größe/日本.md"]],
		["https://example.com/a/b?x=1#top.", ["https://example.com/a/b"]],
		["file:///w/a.ts", ["/w/a.ts"]],
		["src/**/*.test.ts", ["src/**/*.test.ts"]],
		["src/a.ts\\nsrc/b.ts", ["src/a.ts", "src/b.ts"]],
		["src/a.ts#L12-L20", ["src/a.ts"]],
		["src/a.ts(12,5): error", ["src/a.ts"]],
		["either/or, n/a, 1/2, 2024/01/02, TCP/IP, text/plain, application/vnd.api", []],
		["console.log(foo.bar, e.g. i.e. v1.2) // a comment", []],
		["/help and </div> and \\d+\\s and //x", []],
		[`${"iVBORw0KGgo/AAAA".repeat(4)} ${"a".repeat(300)}/b.ts`, []],
	])("%j", (text, expected) => {
		expect(itemsOf(text, "path")).toEqual(expected);
	});
});

describe("identifiers", () => {
	test.each([
		["call getUserName() on UserService.findAll", ["getUserName", "UserService", "findAll"]],
		["snake_case, MAX_RETRIES and __dirname", ["snake_case", "MAX_RETRIES", "__dirname"]],
		["std::vec_map and a$bC", ["vec_map", "a$bC"]],
		[
			"commit 3f2a9bc and 0123456789abcdef0123456789abcdef01234567",
			["0123456789abcdef0123456789abcdef01234567", "3f2a9bc"],
		],
		["#123, owner/repo#45, ABC-123 and CVE-2024-12345", ["#123", "owner/repo#45", "ABC-123", "CVE-2024-12345"]],
		["v1.2, 2.0.13-beta.1, node@20.19.0, 10.0.0.7", ["v1.2", "2.0.13-beta.1", "20.19.0", "10.0.0.7"]],
		["plain words, Capitals, HTTP, UTF-8, x1, 12345678", []],
		["123e4567-e89b-42d3-a456-426614174000 toolu_01AbCdEfGhIjKlMn call_a1b2c3d4e5f6g7h8", []],
		["00000010: deadbe3f cafe00aa 12ab34cd 9f8e7d6c 0a1b2c3d", []],
		["aGVsbG8gd29ybGQ5OTk4ODc3NjY1NTQ0 #EBCB8B k3J9xQ2mZ8pL4vN7wR1t", []],
	])("%j", (text, expected) => {
		expect(itemsOf(text, "identifier").toSorted()).toEqual(expected.toSorted());
	});
});

describe("numbers", () => {
	test.each([
		["250 ms, 250ms, 250 milliseconds", ["250 ms"]],
		["12.5 MB of 1,024 KiB", ["12.5 MB", "1024 KiB"]],
		["42% in 3 minutes, 1 file, 12 files", ["42%", "3 min", "1 file", "12 files"]],
		["port 8080, localhost:3000, --port 9229", ["port 8080", "port 3000", "port 9229"]],
		["exit code 1, HTTP 404, status: 500", ["exit code 1", "http 404", "status 500"]],
		["12 passed, 3 failed", ["12 passed", "3 failed"]],
		["it costs $12.50 and is 4x faster", ["$12.50", "4x"]],
		["a 64-byte line", ["64 bytes"]],
		["17 and 2024, 1920x1080, $1, x86, step 3 of 9, v20", []],
	])("%j", (text, expected) => {
		expect(itemsOf(text, "number")).toEqual(expected);
	});
});

describe("errors", () => {
	test.each([
		["TypeError: x is not a function\n    at foo (a.js:1:2)", ["TypeError: x is not a function"]],
		["src/a.ts(1,2): error TS2345: Argument is bad", ["error TS2345: Argument is bad"]],
		["error[E0308]: mismatched types", ["error[E0308]: mismatched types"]],
		["  Error [ERR_X]: no", ["Error [ERR_X]: no"]],
		["\u001b[31mfatal: not a git repository\u001b[0m", ["fatal: not a git repository"]],
		["ENOENT: no such file or directory, open 'x'", ["ENOENT: no such file or directory, open 'x'"]],
		["bash: foo: command not found", ["bash: foo: command not found"]],
		["npm ERR! missing script: test", ["npm ERR! missing script: test"]],
		[" FAIL  test/a.test.ts > works", ["FAIL test/a.test.ts > works"]],
		["throw new Error('x: y')\n} catch (error) {\nclass MyError: Base", []],
		["no errors were found, all is well", []],
	])("%j", (text, expected) => {
		expect(itemsOf(text, "error")).toEqual(expected);
	});
});

describe("commands", () => {
	test.each([
		["npm test", ["npm test"]],
		["cd /w && npm test 2>&1 | tail -20", ["npm test"]],
		["ls; cat a.ts; grep -n x src; git commit -m 'a; b && c'", ["git commit -m 'a; b && c'"]],
		["FOO=1 BAR=2 sudo make -j4 > /dev/null || echo no", ["make -j4"]],
		["cat <<EOF > a.txt\nnpm test\nEOF", []],
		["python3 - <<'PY'\nimport x\nPY", ["python3 -"]],
		["npm run build\nnpm run lint &\n./x.sh", ["npm run build", "npm run lint", "./x.sh"]],
	])("of a script %j", (command, expected) => {
		expect(ofParts([call("Bash", { command })]).command ?? []).toEqual(expected);
		expect(ofParts([{ type: "text", text: command, from: "command" }]).command ?? []).toEqual(expected);
	});

	test.each([
		["shell", { command: ["bash", "-lc", "cargo build"] }, ["cargo build"]],
		["shell", { command: ["cargo", "build"] }, ["cargo build"]],
		["exec_command", { cmd: "cargo build" }, ["cargo build"]],
		["local_shell_call", { action: { command: ["cargo", "build"] } }, ["cargo build"]],
		["bash", "cargo build", ["cargo build"]],
		["read", { command: "cargo build" }, undefined],
	])("of a call of %s with %j", (name, args, expected) => {
		expect(ofParts([call(name, args)]).command).toEqual(expected);
	});

	test("in a sentence, where they are code", () => {
		expect(itemsOf("Run `npm test -- a` or `git push`, then `foo bar` and `x`.", "command")).toEqual([
			"npm test -- a",
			"git push",
		]);
	});
});

describe("what of a row counts", () => {
	test("arguments are read as values, results in JSON with their line ends", () => {
		expect(ofParts([call("write", { file_path: "src/a.ts", content: "x\nsrc/b.ts" })]).path?.toSorted()).toEqual([
			"src/a.ts",
			"src/b.ts",
		]);
		expect(ofParts([call("write", { file_path: "a" })]).identifier).toBeUndefined();
		const listing = JSON.stringify({ maxRetries: 3, files: ["a\nsrc/a.ts"] });
		expect(ofParts([result(listing)])).toEqual({ path: ["src/a.ts"], identifier: ["maxRetries"] });
	});

	test("a host's reminder does not, nor the mark of a text that was not loaded, nor a broken argument's syntax", () => {
		expect(ofParts([{ type: "text", text: "src/a.ts", from: "reminder" }])).toEqual({});
		expect(ofParts([own(cutText("src/a.ts", 5_000, 5_000))])).toEqual({ path: ["src/a.ts"] });
		expect(ofParts([call("read", '{"path":"src/a.ts')])).toEqual({ path: ["src/a.ts"] });
	});
});

describe("hostile texts", () => {
	const SIZE = 1 << 20;
	const filled = (piece: string) => piece.repeat(Math.floor(SIZE / piece.length));
	const texts: readonly [name: string, text: string][] = [
		...["a", "A", "7", "/", "\\", " ", "\n", "`", ".", "_", "[", "漢", "\u0000"].map(
			(one) => [JSON.stringify(one), filled(one)] as [string, string],
		),
		["commas", filled("1,")],
		["numbers", filled("1 ")],
		["separators", filled("x;")],
		["colons", filled(": ")],
		["error words", filled("errorerror")],
		["error lines", filled("Error: x\n")],
		["open code", filled(`\`${"x".repeat(150)}`)],
		["distinct identifiers", Array.from({ length: 100_000 }, (_, i) => `idName${i}`).join(" ")],
		["distinct paths", Array.from({ length: 50_000 }, (_, i) => `src/dir/f${i}.ts`).join(" ")],
		["distinct errors", Array.from({ length: 50_000 }, (_, i) => `Error: number ${i}`).join("\n")],
	];

	test.each(texts)("%s: items are few and short", (_, text) => {
		const counter = new EvidenceCounter();
		const parts = [own(text), result(text), call("bash", { command: text }), call("bash", text)];
		evidenceOf({ ...emptyFacts(0), parts }, (kind, item) => counter.add(kind, item));
		const { kind, text: items, full } = counter.evidence;
		for (let k = 0; k < EVIDENCE_KINDS.length; k++) {
			const own = kind.filter((one) => one === k).length;
			expect(own).toBeLessThanOrEqual(MOST_ITEMS);
			expect(own === MOST_ITEMS).toBe(full.includes(EVIDENCE_KINDS[k]));
		}
		expect(items.every((item) => item.length <= 200)).toBe(true);
	});

	test("deep JSON", () => {
		expect(ofParts([result(`${"[".repeat(50_000)}"src/a.ts"${"]".repeat(50_000)}`)])).toEqual({});
	});

	test("a bound that was hit is said in the report", () => {
		const evidence = evidenceIn(texts.find(([name]) => name === "distinct identifiers")?.[1] ?? "");
		const missing = notInSummary(evidence, "");
		const { kinds } = lossReport(evidence, missing, new Uint8Array(missing.length));
		expect(kinds.find(({ kind }) => kind === "identifier")).toMatchObject({
			total: MOST_ITEMS,
			lost: MOST_ITEMS,
			more: true,
		});
		expect(kinds.find(({ kind }) => kind === "path")).toEqual({
			kind: "path",
			total: 0,
			lost: 0,
			more: false,
			examples: [],
		});
	});
});

const ORIGINALS = [
	"read src/search/render.ts and C:\\w\\x\\y.ts and https://example.com/a/b",
	"run `npm test -- render` for renderContent, MAX_ITEMS, 3f2a9bc, #123 and v1.2.3",
	"TypeError: cannot read properties of undefined",
	"took 250 ms for 12.5 MB on port 8080",
].join("\n");

describe("what a summary names", () => {
	const lostOf = (summary: string): string[] => {
		const evidence = evidenceIn(ORIGINALS);
		return itemsAt(evidence, notInSummary(evidence, summary)).text;
	};

	test("nothing: all is lost; everything: nothing is", () => {
		expect(lostOf("").length).toBe(evidenceIn(ORIGINALS).text.length);
		expect(lostOf(ORIGINALS)).toEqual([]);
	});

	test.each([
		["src/search/render.ts", "in search/render.ts", true],
		["src/search/render.ts", "in render.ts", true],
		["src/search/render.ts", "in surrender.ts or render.tsx", false],
		["C:\\w\\x\\y.ts", "in x/y.ts", true],
		["npm test -- render", "ran NPM test\n -- render", true],
		["renderContent", "rendercontent", false],
		["TypeError: cannot read properties of undefined", "could not: Cannot read properties\nof undefined", true],
		["250 ms", "0.25 s or 250ms", true],
		["250 ms", "1250 ms, 0.250 ms", false],
		["12.5 MB", "12.5MB", true],
		["port 8080", "on localhost:8080", true],
	])("%j in %j: %s", (item, summary, named) => {
		expect(lostOf(summary).includes(item)).toBe(!named);
	});

	test("an item that stands in the summary word for word is never lost", () => {
		const item = fc.constantFrom(...evidenceIn(ORIGINALS).text);
		const around = fc.string({ unit: "grapheme", maxLength: 30 });
		fc.assert(
			fc.property(around, fc.array(item, { minLength: 1, maxLength: 5 }), around, (before, items, after) => {
				const lost = lostOf([before, ...items, after].join(" "));
				for (const one of items) expect(lost).not.toContain(one);
			}),
		);
	});
});

describe("the report", () => {
	test("examples are those that occur most often, few, short and well-formed", () => {
		const names = Array.from({ length: 12 }, (_, i) => `someName${i} `.repeat(i + 1)).join("");
		const long = `TypeError: ${"😀".repeat(90)}`;
		const evidence = evidenceIn(`${names}\n${long}\n`);
		const missing = notInSummary(evidence, "someName0");
		const { kinds } = lossReport(evidence, missing, new Uint8Array(missing.length));
		expect(kinds.map(({ kind }) => kind)).toEqual(EVIDENCE_KINDS);
		const identifiers = kinds.find(({ kind }) => kind === "identifier");
		expect(identifiers).toMatchObject({ total: 13, lost: 12, more: false });
		expect(identifiers?.examples).toEqual([11, 10, 9, 8, 7, 6, 5, 4].map((i) => `someName${i}`));
		const [example] = kinds.find(({ kind }) => kind === "error")?.examples ?? [];
		expect(example.length).toBeLessThanOrEqual(120);
		expect(/\p{Surrogate}/u.test(example)).toBe(false);
	});

	test("what kept text names is not lost", () => {
		const evidence = evidenceIn("firstName secondName");
		const missing = notInSummary(evidence, "");
		const { kinds } = lossReport(evidence, missing, Uint8Array.of(0, 1));
		expect(kinds[4]).toEqual({ kind: "identifier", total: 2, lost: 1, more: false, examples: ["firstName"] });
	});

	test("batches add up as one", () => {
		const [one, other] = ["src/a.ts src/b.ts 5 ms", "src/b.ts 5 ms 5 ms oneName"];
		const counter = new EvidenceCounter();
		counter.addAll(evidenceIn(one));
		counter.addAll(evidenceIn(other));
		expect(counter.evidence).toEqual(evidenceIn(`${one} ${other}`));
	});
});

describe("the worker", () => {
	const scratch = scratchFolder();
	let pool: Piscina;
	beforeAll(() => {
		pool = new Piscina({
			filename: fileURLToPath(import.meta.resolve("#workers/losses.js")),
			minThreads: 1,
			maxThreads: 1,
		});
	});
	afterAll(() => pool.destroy());

	/** The messages as a Pi session; places of the lines `first … last` of them. */
	function session(name: string, messages: readonly object[]) {
		const lines = piSession(messages).map((record) => jsonLines([record]));
		const path = scratch.write(name, lines.join(""));
		const { size, dev, ino } = statSync(path);
		const from: RowSource = { sources: [{ kind: "file", path, size, device: dev, inode: ino }], format: "pi" };
		const placesOf = (first: number, last: number): RowPlaces => {
			const starts: number[] = [];
			const ends: number[] = [];
			for (let n = first; n <= last; n++) {
				const start = Buffer.byteLength(lines.slice(0, n + 1).join(""));
				starts.push(start);
				ends.push(start + Buffer.byteLength(lines[n + 1]) - 1);
			}
			return {
				source: new Uint8Array(starts.length),
				start: Float64Array.from(starts),
				end: Float64Array.from(ends),
				item: new Uint32Array(starts.length),
			};
		};
		return { from, placesOf };
	}

	test("tells range, summary and kept text apart", async () => {
		const { from, placesOf } = session("range.jsonl", [
			userMessage("use src/a.ts with keptName"),
			assistantMessage("src/a.ts, src/b.ts, lostName, keptName and summaryName"),
			userMessage("src/b.ts lostName lostName"),
		]);
		const evidence: Evidence = await pool.run({ op: "evidence", from, places: placesOf(1, 2) });
		expect(evidence).toEqual(evidenceIn("src/a.ts src/b.ts lostName keptName summaryName src/b.ts lostName lostName"));
		const missing: Uint32Array = await pool.run({ op: "missing", items: evidence, summary: "about summaryName" });
		const items = itemsAt(evidence, missing);
		expect(items.text.toSorted()).toEqual(["keptName", "lostName", "src/a.ts", "src/b.ts"]);
		const seen: Uint8Array = await pool.run({ op: "seen", from, places: placesOf(0, 0), items });
		const { kinds } = lossReport(evidence, missing, seen);
		expect(kinds.filter(({ total }) => total > 0)).toEqual([
			{ kind: "path", total: 2, lost: 1, more: false, examples: ["src/b.ts"] },
			{ kind: "identifier", total: 3, lost: 1, more: false, examples: ["lostName"] },
		]);
	});

	test("a session that was replaced is `unreadable`", async () => {
		const { from, placesOf } = session("gone.jsonl", [userMessage("src/a.ts")]);
		session("gone.jsonl", [userMessage("x")]);
		const places = placesOf(0, 0);
		for (const task of [
			{ op: "evidence", from, places },
			{ op: "seen", from, places, items: evidenceIn("src/a.ts") },
		]) {
			const code = await pool.run(task).then(
				() => null,
				(thrown) => asMidcompactError(thrown).code,
			);
			expect(code).toBe("unreadable");
		}
	});
});
