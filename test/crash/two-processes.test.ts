import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { openSession } from "#src/engine.js";
import { scratchFolder } from "../helpers/files.js";
import { type Edit, expectKept, journalsIn, planner, sessionText } from "./planners.js";

const files = scratchFolder();
const ID = "0f0e0d0c-0b0a-4908-8706-050403020100";
const EACH = 500;

it("two processes change one plan a thousand times: no change is lost, none is torn, and who looks on sees a whole plan", async () => {
	const path = files.write(`${ID}.jsonl`, sessionText(ID));
	const stateDir = join(files.path, "state");
	const session = await openSession(path, { stateDir, threads: 1, background: { tokens: false, index: false } });
	const { planning } = session;
	if (!planning) throw new Error("There is no planning.");
	const { id } = await planning.start();
	const planners = ["first", "second"].map((seed) => planner("share", path, stateDir, seed, String(EACH)));
	let isDone = false;
	const ended = Promise.all(planners.map((child) => child.ended)).finally(() => {
		isDone = true;
	});
	let seen = 0;
	while (!isDone) {
		const now = await planning.current();
		expect(now).toMatchObject({ id, notices: [] });
		expect(now?.plan.revision).toBeGreaterThanOrEqual(seen);
		seen = now?.plan.revision ?? 0;
		await sleep(10);
	}
	expect(await ended).toEqual([
		{ code: 0, signal: null, err: "" },
		{ code: 0, signal: null, err: "" },
	]);
	const edits = planners.flatMap(({ lines }) =>
		lines.flatMap((line): Edit[] => ("done" in line && line.done === "edit" ? [line] : [])),
	);
	const [first, second] = planners.map(({ lines }) =>
		lines.flatMap((line) => ("done" in line && line.done === "edit" ? [line.revision] : [])),
	);
	// They took turns: neither was done before the other began.
	expect(Math.max(first[0], second[0])).toBeLessThan(Math.min(first[EACH - 1], second[EACH - 1]));
	const revisions = edits.map(({ revision }) => revision).sort((a, b) => a - b);
	expect(revisions).toEqual(Array.from({ length: 2 * EACH }, (_, i) => i + 1));
	const [journal, ...others] = journalsIn(stateDir);
	expect(others).toEqual([]);
	expect(journal.length).toBe(2 * EACH + 1);
	expectKept(journal, edits);
	const now = await planning.current();
	expect(now?.plan.revision).toBe(2 * EACH);
	expect(now?.digest).toBe(edits.find(({ revision }) => revision === 2 * EACH)?.digest);
	await session.close();
});
