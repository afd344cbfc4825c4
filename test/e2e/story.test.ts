/** The whole story as a user tells it to the built command line, on real sessions: look around, plan, commit, bring back, and again. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { InspectData } from "#src/facade/inspect.js";
import type { LocateData } from "#src/facade/match.js";
import type { MeasureData } from "#src/facade/measure.js";
import type { RangeData } from "#src/facade/plan-figures.js";
import type { RangeReadData } from "#src/facade/plan-read.js";
import type { PlanData } from "#src/facade/plan-show.js";
import type { RecallListData } from "#src/facade/recall-list.js";
import type { RecallReadData } from "#src/facade/recall-read.js";
import type { CommitData, StartData, StatusData } from "#src/facade/transaction.js";
import type { DoctorData } from "#src/hosts/cli/commands/doctor.js";
import { SESSION_TO_COME } from "#src/plan/block-text.js";
import type { ProjectedMessage } from "#src/plan/projected-message.js";
import { Machine, sha256 } from "../cli/machine.js";

interface Story {
	format: string;
	/** File in the folder of real sessions, and the id that it says. */
	file: string;
	id: string;
	/** Texts that stand in atoms of the first and of the second range. */
	pattern: string;
	first: [start: string, end: string];
	/** The one atom between the two ranges. */
	kept: string;
	second: [start: string, end: string];
	laterPattern: string;
}

const STORIES: Story[] = [
	{
		format: "claude-code",
		file: "claude-code/4d5611e5-241a-462a-8d15-5122611a9569.jsonl",
		id: "4d5611e5-241a-462a-8d15-5122611a9569",
		pattern: "extracting the nested case",
		first: ["a0003", "a0010"],
		kept: "a0011",
		second: ["a0012", "a0020"],
		laterPattern: "remove my redundant handler",
	},
	{
		format: "pi",
		file: "pi/v1-large-session.jsonl",
		id: "d703a1a9-1b7b-4fb1-b512-c9738b1fe617",
		pattern: "port over user-message-selector",
		first: ["a0003", "a0011"],
		kept: "a0012",
		second: ["a0013", "a0035"],
		laterPattern: "packages/coding-agent/src/tui/tui-renderer.ts",
	},
];

const SUMMARY = "Read the files.\n\nThe nested case is a helper now; `npm test` passes.";
const LATER_SUMMARY = "Went on with it.";
const STEPS = 240_000;

const realFile = ({ file }: Story) => fileURLToPath(new URL(`../../../shared/sessions/${file}`, import.meta.url));

describe.each(STORIES)("a real session of $format", (story) => {
	describe.skipIf(!existsSync(realFile(story)))("from the survey to the third session", () => {
		const machine = new Machine();
		let old = "";
		let hash = "";
		/** The projection of an empty plan, and that of the plan which is committed. */
		let original: ProjectedMessage[] = [];
		let planned: ProjectedMessage[] = [];
		let first: CommitData;
		let second: CommitData;

		beforeAll(() => {
			old = machine.copy(realFile(story));
			hash = sha256(old);
		});

		it("is surveyed, searched and measured", { timeout: STEPS }, async () => {
			const { anchor, totals } = await machine.ok<InspectData>(["inspect", old]);
			expect(anchor).toMatchObject({ format: story.format, scope: "context" });
			expect(totals.atoms).toBeGreaterThan(50);
			const found = await machine.ok<LocateData>(["find", old, story.pattern]);
			const [{ ref }] = found.matches;
			expect(ref >= story.first[0] && ref <= story.first[1], ref).toBe(true);
			const shown = await machine.ok<LocateData>(["show", old, ref, "--full"]);
			expect(shown.matches[0].text).toContain(story.pattern);
			const measured = await machine.ok<MeasureData>(["measure", old, ...[story.first, story.second].map(spanOf)]);
			for (const { protected_total: refused, chars, tokens } of measured.candidates) {
				expect(refused).toBe(0);
				expect(chars).toBeGreaterThan(tokens ?? Number.POSITIVE_INFINITY);
			}
		});

		it("gets a plan of two ranges around a kept atom", { timeout: STEPS }, async () => {
			const { transaction } = await machine.ok<StartData>(["start", old, "Keep what was decided", "--manual"]);
			expect(transaction).toMatchObject({ mode: "manual", instructions: "Keep what was decided" });
			original = (await machine.projected(old, "original.jsonl")).messages;
			expect(original.length).toBe(transaction.anchor.messages);

			const [start, end] = story.first;
			const add = ["plan", old, "add", start, end, "--topic", "First look", "--summary-file", "-"];
			const added = await machine.ok<RangeData>(add, { stdin: SUMMARY });
			expect(added.range).toMatchObject({ id: "d1", start, end, topic: "First look", pending: false });
			const pending = await machine.ok<RangeData>(["plan", old, "add", spanOf(story.second)]);
			expect(pending).toMatchObject({ revision: 2, range: { id: "d2", pending: true }, totals: { pending: 1 } });

			const shown = await machine.ok<PlanData>(["plan", old, "show"]);
			expect(shown).toMatchObject({ revision: 2, digest: pending.digest, transaction: { id: transaction.id } });
			expect(shown.ranges.map(({ id }) => id)).toEqual(["d1", "d2"]);
			const read = await machine.ok<RangeReadData>(["plan", old, "read", "d1"]);
			expect(read).toMatchObject({ range: { summary: SUMMARY }, losses: expect.any(Object) });

			const update = ["plan", old, "update", "d2", "--summary", LATER_SUMMARY];
			const updated = await machine.ok<RangeData>(update);
			expect(updated).toMatchObject({ revision: 3, range: { pending: false }, totals: { ranges: 2, pending: 0 } });
			const undone = await machine.ok<StatusData>(["plan", old, "undo"]);
			expect(undone).toMatchObject({ revision: 4, digest: pending.digest, totals: { pending: 1 } });
			const again = await machine.ok<RangeData>(update);
			expect(again).toMatchObject({ revision: 5, digest: updated.digest });
			const status = await machine.ok<StatusData>(["status", old]);
			expect(status).toMatchObject({ revision: 5, digest: updated.digest, totals: again.totals });
		});

		it("outside the ranges the projection is the original, message by message", { timeout: STEPS }, async () => {
			const { messages, data } = await machine.projected(old, "planned.jsonl");
			planned = messages;
			const [one, other] = [story.first, story.second].map((range) => placeOf(original, range));
			expect(one.to).toBeLessThan(other.from);
			const between = original.slice(one.to, other.from);
			expect(between.every(({ atom }) => atom === story.kept)).toBe(true);
			expect(messages.slice(0, one.from)).toEqual(original.slice(0, one.from));
			expect(messages.slice(one.from + 1, one.from + 1 + between.length)).toEqual(between);
			expect(messages.slice(one.from + between.length + 2)).toEqual(original.slice(other.to));
			expect([one.from, one.from + 1 + between.length].map((at) => messages[at])).toMatchObject([
				{ atom: null, block: "c0001", parts: [{ text: expect.stringContaining(SUMMARY) }] },
				{ atom: null, block: "c0002", parts: [{ text: expect.stringContaining(LATER_SUMMARY) }] },
			]);
			expect(data).toMatchObject({
				ranges: 2,
				pending: 0,
				before: { messages: original.length },
				after: { messages: messages.length },
				first_change: { ref: story.first[0], message: one.from + 1 },
			});
		});

		it("is committed under the digest that was reviewed, and not changed", { timeout: STEPS }, async () => {
			const digest = await machine.digest(old);
			const before = machine.snapshot();
			expect((await machine.refused(["commit", old, "--plan", "0123456789ab"])).code).toBe("plan_changed");
			expect(machine.snapshot()).toEqual(before);
			first = await machine.ok<CommitData>(["commit", old, "--plan", digest]);
			expect(sha256(old)).toBe(hash);
			expect(dirname(first.path)).toBe(machine.sessions);
			expect(readdirSync(machine.sessions).sort()).toEqual(
				[basename(old), basename(first.path), "original.jsonl", "planned.jsonl"].sort(),
			);
			expect(first.blocks).toMatchObject([
				{ id: "c0001", range: "d1", topic: "First look", summary: SUMMARY },
				{ id: "c0002", range: "d2", topic: "", summary: LATER_SUMMARY },
			]);
			expect(first.after.messages).toBe(planned.length);
			expect(await machine.ok<StatusData>(["status", old])).toMatchObject({ transaction: null });
		});

		it("goes on in a session that its host would resume, with the messages that were promised", {
			timeout: STEPS,
		}, async () => {
			const { anchor, totals } = await machine.ok<InspectData>(["inspect", first.path]);
			expect(anchor).toMatchObject({ format: story.format, messages: planned.length });
			expect(totals.atoms).toBeLessThan(original.length);
			const doctor = await machine.ok<DoctorData>(["doctor", first.path]);
			expect(doctor).toMatchObject({
				damage: { count: 0 },
				protected: { committed_block: 2 },
				resume: { would: true, refused: 0 },
			});
			await machine.ok(["start", first.path]);
			const { messages } = await machine.projected(first.path, "committed.jsonl");
			expect(messages.map((message) => contentOf(message, first.session ?? ""))).toEqual(
				planned.map((message) => contentOf(message, SESSION_TO_COME)),
			);
		});

		it("the originals come back from the new session and from the old one", { timeout: STEPS }, async () => {
			for (const path of [first.path, old]) {
				const list = await machine.ok<RecallListData>(["recall", path]);
				expect(list.blocks.map(({ id, archived }) => ({ id, archived }))).toEqual([
					{ id: "c0001", archived: true },
					{ id: "c0002", archived: true },
				]);
				const found = await machine.ok<RecallListData>(["recall", path, "first LOOK"]);
				expect(found.blocks.map(({ id }) => id)).toEqual(["c0001"]);
				const read = await machine.ok<RecallReadData>(["recall", path, "c0001", "--full"]);
				expect(read.text).toContain(story.pattern);
			}
		});

		it("a second transaction goes around the blocks, and numbers its own on", { timeout: STEPS }, async () => {
			const { path } = first;
			// The atoms before the first range keep their refs; behind them stand block, kept atom, block.
			const [before, block, kept, , after] = refsFrom(story.first[0], -1, 5);
			const refused = await machine.refused(["plan", path, "add", before, after, "--summary", "All of it."]);
			expect(refused.code).toBe("protected_atom");
			expect(refused.message).toContain(`${block} inside ${before}..${after} is protected (committed_block)`);
			expect(refused.hint).toContain(`${before} and ${kept}`);
			const starts: string[] = [];
			for (const ref of [before, kept, after]) {
				const shown = await machine.ok<LocateData>(["show", path, ref, "--full"]);
				starts.push(shown.matches[0].text.trim().split("\n")[0]);
				await machine.ok(["plan", path, "add", ref, ref, "--summary", `What stood in ${ref}.`]);
			}
			mkdirSync(machine.at("third"));
			const digest = await machine.digest(path);
			second = await machine.ok<CommitData>(["commit", path, "--plan", digest, "--out", machine.at("third")]);
			expect(dirname(second.path)).toBe(machine.at("third"));
			expect(second.blocks.map(({ id }) => id)).toEqual(["c0003", "c0004", "c0005"]);
			const doctor = await machine.ok<DoctorData>(["doctor", second.path]);
			expect(doctor).toMatchObject({
				damage: { count: 0 },
				protected: { committed_block: 5 },
				resume: { would: true },
			});
			const list = await machine.ok<RecallListData>(["recall", second.path]);
			expect(list.blocks.map(({ id }) => id)).toEqual(["c0001", "c0002", "c0003", "c0004", "c0005"]);
			for (const [i, start] of [story.pattern, story.laterPattern, ...starts].entries()) {
				const { text } = await machine.ok<RecallReadData>(["recall", second.path, list.blocks[i].id]);
				expect(text).toContain(start);
			}
		});

		it("the originals outlive the files they stood in", { timeout: STEPS }, async () => {
			const whole = await machine.ok<RecallReadData>(["recall", old, "c0001", "--full"]);
			rmSync(old);
			rmSync(first.path);
			for (const name of [old, story.id, first.path, first.session ?? "", second.path]) {
				const list = await machine.ok<RecallListData>(["recall", name]);
				expect(list.blocks.slice(0, 2), name).toMatchObject([
					{ id: "c0001", archived: true },
					{ id: "c0002", archived: true },
				]);
				expect(await machine.ok<RecallReadData>(["recall", name, "c0001", "--full"]), name).toEqual(whole);
			}
			expect((await machine.refused(["inspect", old])).code).toBe("unreadable");
			expect(readFileSync(second.path, "utf8")).not.toContain(story.pattern);
		});
	});
});

const spanOf = ([start, end]: readonly [string, string]) => `${start}..${end}`;

/** `count` refs in a row, the first of them `shift` behind `ref`. */
function refsFrom(ref: string, shift: number, count: number): string[] {
	const first = Number(ref.slice(1)) + shift;
	return Array.from({ length: count }, (_, i) => `a${String(first + i).padStart(4, "0")}`);
}

/** The messages `from … to - 1` of a range; the refs have all the same length. */
function placeOf(messages: readonly ProjectedMessage[], [start, end]: readonly [string, string]) {
	const inside = messages.map(({ atom }) => atom !== null && atom >= start && atom <= end);
	return { from: inside.indexOf(true), to: inside.lastIndexOf(true) + 1 };
}

/** What is sent of a message. A block names the session that it stands in, which has no id before the commit. */
function contentOf({ role, block, parts }: ProjectedMessage, session: string): object {
	const [first] = parts;
	if (block === null || first?.type !== "text") return { role, block, parts };
	return { role, block, text: first.text.replace(session, "SESSION") };
}
