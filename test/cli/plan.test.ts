/** One plan from start to recall on the command line; the whole stories stand in test/e2e. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { CommitData } from "#src/facade/transaction.js";
import { Machine, sha256 } from "./machine.js";
import { piLines, type Said } from "./run-cli.js";

const SAID = Array.from(
	{ length: 6 },
	(_, i): Said => [i % 2 === 0 ? "user" : "assistant", `What was said as number ${i}`],
);

describe("a plan on the command line", () => {
	it("goes from start over commit to recall, and never changes the session", async () => {
		const machine = new Machine();
		const session = machine.write("session.jsonl", piLines(SAID));
		const before = sha256(session);
		expect(await machine.refused(["plan", session, "add", "a0002", "a0003"])).toMatchObject({ code: "no_transaction" });
		await machine.ok(["start", session, "keep", "the", "end"]);
		await machine.ok(["plan", session, "add", "a0002..a0003", "--summary", "Two were said.", "--topic", "Middle"]);
		expect(await machine.refused(["commit", session, "--plan", "000000000000"])).toMatchObject({
			code: "plan_changed",
		});
		const { path } = await machine.ok<CommitData>(["commit", session, "--plan", await machine.digest(session)]);
		expect(sha256(session)).toBe(before);
		expect(readFileSync(path, "utf8")).toContain("[midcompact block c0001: Middle]");
		const { text } = await machine.ok<{ text: string }>(["recall", path, "c0001"]);
		expect(text).toContain("What was said as number 1");
		expect(text).toContain("What was said as number 2");
	});
});
