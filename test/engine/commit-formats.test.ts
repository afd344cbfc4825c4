/** Commits whose anchor or fork is read in a special way by its format. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenOptions, Session } from "#src/index.js";
import { compacted, meta, SUMMARY_PREFIX, user, words } from "../formats/codex-lines.js";
import { openShared } from "../helpers/engine.js";
import { jsonLines, scratchFolder } from "../helpers/files.js";

const scratch = scratchFolder();
let states = 0;

/** Commits one range of a file, opens the fork and reads the block's originals there. */
async function recalled(path: string, start: string, end: string): Promise<{ fork: Session; text: string }> {
	const options: OpenOptions = { stateDir: join(scratch.path, `state-${states++}`) };
	const session = await openShared(path, options);
	await session.planning?.start();
	const added = await session.request({ request: { action: "plan_add", start, end, summary: "What it was." } });
	expect(added.ok, added.text).toBe(true);
	const before = await session.planning?.project();
	expect(before).toMatchObject({ ranges: 1, pending: 0 });
	const outcome = await session.planning?.commit();
	await session.close();
	const fork = await openShared(outcome?.path ?? "", options);
	const reply = await fork.request({ request: { action: "recall_read", block: "c0001" } });
	return { fork, text: reply.text };
}

describe("a commit", () => {
	it("works on a Codex session that ends in its compaction: the anchor is an item of a record", async () => {
		const history = [words("user", "kept one"), words("user", `${SUMMARY_PREFIX}\nwhat was done`)];
		const lines = [
			meta({ cwd: "/w", originator: "x", cli_version: "0.171.0", timestamp: "2026-01-02T03:04:05.000Z" }),
			user("first"),
			compacted(history),
		].map((line, ordinal) => ({ ...line, ordinal }));
		const name = "rollout-2026-01-02T03-04-05-00000000-0000-7000-8000-000000000001.jsonl";
		const { fork, text } = await recalled(scratch.write(name, jsonLines(lines)), "a0001", "a0001");
		expect(text).toContain("kept one");
		expect(fork.survey.atoms.kindOf(0)).toBe("block");
		await fork.close();
	});

	it("of an Anthropic array that leaves texts alone is recalled although the fork reads as an OpenAI array too", async () => {
		const messages = [
			{ role: "user", content: "look" },
			{ role: "assistant", content: [{ type: "tool_use", id: "t1", name: "ls", input: {} }] },
			{ role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a-file" }] },
			{ role: "assistant", content: "done" },
		];
		const { fork, text } = await recalled(scratch.write("array.json", JSON.stringify(messages)), "a0002", "a0002");
		expect(fork.survey.format).toBe("openai-chat");
		expect(text).toContain("a-file");
		await fork.close();
	});
});
