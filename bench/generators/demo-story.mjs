/** What is said and done in the demo session. */
import { ciLog, EXPORT, FIXED_CLOSE, OLD_CLOSE, QUEUE, repeatLog, TEST, testRun } from "./demo-files.mjs";

const ROOT = "/home/maya/parcel-desk";
const numbered = (text) =>
	text
		.trimEnd()
		.split("\n")
		.map((line, n) => `${String(n + 1).padStart(5)}→${line}`)
		.join("\n");
const read = (path, text) => ["Read", { file_path: `${ROOT}/${path}` }, numbered(text)];
const bash = (command, output, description = "Run the command") => ["Bash", { command, description }, output];
const edit = (path, old_string, new_string) => [
	"Edit",
	{ file_path: `${ROOT}/${path}`, old_string, new_string },
	`The file ${ROOT}/${path} has been updated.`,
];

export function demoStory(d) {
	d.remind("environment", `Working directory: ${ROOT}\nPlatform: linux\nGit branch: fix/flaky-export`);
	d.snapshot(
		[
			"You are Claude Code, a coding agent that works in the user's terminal.",
			"Answer briefly. Run the tests that cover a change before you call it done.",
		],
		["Read", "Edit", "Write", "Bash", "Grep"].map((name) => ({
			name,
			schema: { type: "object", properties: { file_path: { type: "string" } } },
		})),
	);

	// What the compaction below sums up.
	d.user("The nightly build of parcel-desk is red about one night in ten. Can you find out which test it is?");
	d.agent({
		text: "I will look at the last failed jobs.",
		calls: [
			bash(
				"gh run list --status failure --limit 4",
				"4471  nightly  failure  2026-03-03T08:14\n4402  nightly  failure  2026-02-24T08:14\n4388  nightly  failure  2026-02-22T08:14\n4290  nightly  failure  2026-02-12T08:14",
			),
		],
	});
	d.agent({
		calls: [
			bash("gh run view 4471 --log", ciLog(4471, "export/order-export")),
			bash(
				"gh run view 4402 --log | grep -A1 ×",
				" × test/export/order-export.test.ts > writes one row per order 117ms\n   → expected [ …2401 ] to have a length of 2501 but got 2401",
			),
		],
	});
	d.agent({
		text: "It is always `writes one row per order` in test/export/order-export.test.ts: 2,401 lines instead of 2,501. Exactly one batch of 100 is missing.",
		tokens: 61,
	});
	d.compact(
		`## Goal
The nightly build of parcel-desk fails about one night in ten. Find the cause and fix it.

## Found so far
- Jobs 4471, 4402, 4388 and 4290 fail in the same case: test/export/order-export.test.ts, "writes one row per order".
- The file has 2,401 lines instead of 2,501: exactly one batch of 100 rows is missing, always the last one.
- The export writes through BatchQueue in src/queue/batch-queue.ts.

## Next
Read the export and the queue, reproduce the failure locally, then fix it with a test that fails every time.`,
	);

	d.user("Good. Read the export code and the queue, and tell me what you think before you change anything.");
	d.agent({
		thinking:
			"The last batch is missing. Either the queue drops it, or it is written but not yet on disk when the test reads the file. I need both files and the test.",
		text: "Reading the three files.",
		calls: [
			read("src/export/order-export.ts", EXPORT),
			read("src/queue/batch-queue.ts", QUEUE),
			read("test/export/order-export.test.ts", TEST),
		],
		tokens: 240,
	});
	d.agent({
		thinking:
			"close() awaits #running and then calls target.end() without waiting for finish. end() is asynchronous: the last write may still be in the stream's buffer. rename works on the open file, so the test reads the renamed file while the last chunk is still being written. That matches: one batch of 100 missing.",
		text: "I think `BatchQueue.close()` resolves too early. It calls `target.end()`, which only *asks* the stream to finish. The export then renames the file and the test reads it while the last batch is still in the stream's buffer. Most of the time the disk is fast enough; one night in ten it is not.\n\nThere is a second, smaller problem: when `#drain` throws, nobody destroys the stream, so the `.partial` file stays open.",
		tokens: 310,
	});

	d.user("Sounds right. Prove it first: make it fail on my machine.");
	d.agent({
		text: "I will run the case 60 times on its own, with a slow disk simulated by a small high-water mark.",
		calls: [
			bash(
				"node scripts/repeat.mjs 60 test/export/order-export.test.ts --slow-disk",
				repeatLog(60, [7, 19, 20, 33, 41, 58]),
				"Repeat the test 60 times",
			),
		],
	});
	d.queued("Also try it with the disk left alone, so that we know the flag is not the cause.");
	d.agent({
		calls: [
			bash(
				"node scripts/repeat.mjs 200 test/export/order-export.test.ts",
				repeatLog(200, [112]),
				"Repeat the test 200 times",
			),
		],
	});
	d.agent({
		text: "With a slow disk 6 of 60 runs fail, without it 1 of 200: the same symptom each time, one batch of 100 lines short. The flag only makes it likelier.",
		tokens: 74,
	});

	d.user(
		"Here is the failure graph from the dashboard, failures per hour over the last day. Does that fit?",
		[6, 10, 4, 8, 30, 44, 62, 80, 71, 40, 22, 12, 8, 6, 9],
	);
	d.agent({
		text: "Yes. The failures follow the load: the peak is at eight in the morning, when the nightly jobs of all projects share the disk. A missing wait shows up as soon as writes become slow; a logic error in the batching would not care about the hour.",
		tokens: 98,
	});

	d.user("Then fix it. Write the test first.");
	d.agent({
		thinking:
			"A test that fails every time: a Writable whose final callback is delayed by the manual clock, and an assertion that close() has not resolved before it.",
		text: "First a test that fails every time, without any timing luck.",
		calls: [
			edit(
				"test/queue/batch-queue.test.ts",
				'it("closes its handles", async () => {',
				'it("close waits until the stream has finished", async () => {\n\tconst target = slowFinish();\n\tconst queue = new BatchQueue(target, (items) => items.join("\\n"), options());\n\tqueue.push("a");\n\tlet closed = false;\n\tconst closing = queue.close().then(() => {\n\t\tclosed = true;\n\t});\n\tawait target.finalCalled;\n\texpect(closed).toBe(false);\n\ttarget.finish();\n\tawait closing;\n\texpect(closed).toBe(true);\n});\n\nit("closes its handles", async () => {',
			),
		],
	});
	d.agent({
		calls: [
			bash(
				"npx vitest run test/queue",
				"Exit code 1\n × test/queue/batch-queue.test.ts > close waits until the stream has finished 4ms\n   → expected true to be false\n Test Files  1 failed | 1 passed (2)",
			),
		],
	});
	d.agent({
		text: "It fails for the right reason. Now the fix.",
		calls: [
			edit("src/queue/batch-queue.ts", OLD_CLOSE, FIXED_CLOSE),
			edit(
				"src/queue/batch-queue.ts",
				'import { once } from "node:events";',
				'import { once } from "node:events";\nimport { finished } from "node:stream/promises";',
			),
		],
	});
	d.agent({
		calls: [
			bash("npx vitest run", testRun(3, { more: true })),
			bash("node scripts/repeat.mjs 200 test/export/order-export.test.ts --slow-disk", repeatLog(200, [])),
		],
	});
	d.agent({
		text: "All 161 tests pass, and 200 runs on a slow disk without one failure (before: 6 of 60).\n\nThe change is one line in `close()`: it waits for `finished(this.target)`.",
		tokens: 82,
	});

	d.user("And the second problem you saw, the open .partial file?");
	d.agent({
		text: "Let me see what happens when the source fails halfway.",
		calls: [
			read("src/export/order-export.ts", EXPORT),
			bash(
				"ls -la /tmp/parcel-desk-tests | tail -5",
				"-rw-r--r-- 1 maya maya      0 Mar  3 08:41 orders.csv.partial\n-rw-r--r-- 1 maya maya   1204 Mar  3 08:41 orders-2.csv.partial\n-rw-r--r-- 1 maya maya 148220 Mar  3 08:42 orders-3.csv",
			),
		],
	});
	d.agent({
		text: "Confirmed: two `.partial` files were left behind by the failing-source test. I destroy the stream and remove the file when the export fails.",
		calls: [
			edit(
				"src/export/order-export.ts",
				'import { rename } from "node:fs/promises";',
				'import { rename, rm } from "node:fs/promises";',
			),
			edit("src/export/order-export.ts", "\tlet rows = 0;\n\tfor await", "\tlet rows = 0;\n\ttry {\n\tfor await"),
			edit(
				"src/export/order-export.ts",
				"\tawait queue.close();\n\tawait rename(partial, path);\n\treturn { path, rows };",
				"\t\tawait queue.close();\n\t\tawait rename(partial, path);\n\t\treturn { path, rows };\n\t} catch (error) {\n\t\tfile.destroy();\n\t\tawait rm(partial, { force: true });\n\t\tthrow error;\n\t}",
			),
		],
	});
	d.agent({
		calls: [
			bash("npx vitest run", testRun(5, { more: true })),
			bash(
				"git diff --stat",
				" src/export/order-export.ts        | 14 +++++++++-----\n src/queue/batch-queue.ts          |  4 +++-\n test/queue/batch-queue.test.ts    | 15 +++++++++++++++\n 3 files changed, 27 insertions(+), 6 deletions(-)",
			),
		],
	});
	d.agent({
		text: "Both problems are fixed and all 161 tests pass. The diff touches three files. Shall I commit it as two commits, one for each problem?",
		tokens: 66,
	});
}
