import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Change, digestOf, PlanHistory, rangeOf } from "#src/plan/plan.js";
import { anchor, range } from "./plans.js";

/** The history that a list of changes leaves; those that are refused are left out of it. */
function replay(changes: readonly Change[]): { history: PlanHistory; made: Change[] } {
	const history = new PlanHistory();
	const made = changes.filter((change) => {
		const before = history.plan;
		try {
			history.apply(change);
			return true;
		} catch (refused) {
			expect(refused).toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/) });
			expect(history.plan).toBe(before);
			return false;
		}
	});
	return { history, made };
}

const ids = fc.integer({ min: 1, max: 12 }).map((n) => `d${n}`);
const ends = fc.tuple(fc.nat(60), fc.integer({ min: -1, max: 9 }));
const plainChange: fc.Arbitrary<Change> = fc.oneof(
	fc.tuple(ids, ends).map(([id, [start, more]]): Change => ({ kind: "add", range: range(id, start, start + more) })),
	fc.record({ kind: fc.constant("update" as const), id: ids, topic: fc.string(), summary: fc.string() }),
	fc.record({ kind: fc.constant("remove" as const), id: ids }),
);
const anyChanges = fc.array(fc.oneof({ weight: 4, arbitrary: plainChange }, fc.constant<Change>({ kind: "undo" })), {
	maxLength: 60,
});

describe("changes", () => {
	it("make one plan out of another", () => {
		const { history } = replay([
			{ kind: "add", range: range("d1", 10, 19) },
			{ kind: "add", range: range("d2", 0, 4) },
			{ kind: "update", id: "d1", summary: "short" },
			{ kind: "update", id: "d1", topic: "Setup" },
			{ kind: "add", range: range("d3", 20, 20) },
			{ kind: "remove", id: "d2" },
		]);
		expect(history.plan).toEqual({
			revision: 6,
			ranges: [range("d1", 10, 19, { summary: "short", topic: "Setup" }), range("d3", 20, 20)],
			nextRange: "d4",
		});
	});

	it("leave a plan that was taken before as it was", () => {
		const history = new PlanHistory();
		history.apply({ kind: "add", range: range("d1", 0, 1) });
		const before = history.plan;
		history.apply({ kind: "update", id: "d1", summary: "another" });
		history.apply({ kind: "add", range: range("d2", 5, 6) });
		expect(before).toEqual({ revision: 1, ranges: [range("d1", 0, 1)], nextRange: "d2" });
	});

	it.each<[name: string, change: Change, code: string]>([
		["a range that is not there", { kind: "update", id: "d9", topic: "t" }, "unknown_range"],
		["a range that was removed", { kind: "remove", id: "d1" }, "unknown_range"],
		["an id that was used", { kind: "add", range: range("d1", 50, 51) }, "invalid_field"],
		["an id that is none", { kind: "add", range: range("c0001", 50, 51) }, "invalid_field"],
		["a range that ends before it starts", { kind: "add", range: range("d3", 51, 50) }, "reversed"],
		["atoms of the range before", { kind: "add", range: range("d3", 9, 12) }, "overlap"],
		["atoms of the range behind", { kind: "add", range: range("d3", 0, 5) }, "overlap"],
		["a range around another", { kind: "add", range: range("d3", 0, 50) }, "overlap"],
		["a range inside another", { kind: "add", range: range("d3", 6, 7) }, "overlap"],
	])("are refused for %s, and nothing is changed", (_name, change, code) => {
		const { history } = replay([
			{ kind: "add", range: range("d1", 0, 1) },
			{ kind: "add", range: range("d2", 5, 9) },
			{ kind: "remove", id: "d1" },
		]);
		const before = history.plan;
		expect(() => history.apply(change)).toThrow(expect.objectContaining({ code }));
		expect(history.plan).toEqual(before);
	});

	it("never make ranges overlap, use an id twice or leave the order of the anchor", () => {
		fc.assert(
			fc.property(anyChanges, (changes) => {
				const history = new PlanHistory();
				const given = new Map<string, number>();
				for (const change of changes) {
					replayOne(history, change);
					const { ranges, nextRange } = history.plan;
					for (const [i, { id, start, end }] of ranges.entries()) {
						expect(start).toBeLessThanOrEqual(end);
						if (i > 0) expect(start).toBeGreaterThan(ranges[i - 1].end);
						// An id stands for the same atoms for ever.
						expect(given.get(id) ?? start).toBe(start);
						given.set(id, start);
						expect(Number(nextRange.slice(1))).toBeGreaterThan(Number(id.slice(1)));
					}
				}
			}),
		);
	});
});

function replayOne(history: PlanHistory, change: Change): void {
	try {
		history.apply(change);
	} catch (refused) {
		expect(refused).toMatchObject({ name: "MidcompactError" });
	}
}

describe("undo", () => {
	const undo: Change = { kind: "undo" };

	it("walks back change by change, and is refused when nothing stands any more", () => {
		const { history } = replay([
			{ kind: "add", range: range("d1", 0, 1) },
			{ kind: "update", id: "d1", summary: "second" },
			{ kind: "remove", id: "d1" },
			undo,
		]);
		expect(history.plan.ranges).toEqual([range("d1", 0, 1, { summary: "second" })]);
		history.apply(undo);
		expect(history.plan.ranges).toEqual([range("d1", 0, 1)]);
		history.apply(undo);
		expect(history.plan).toEqual({ revision: 6, ranges: [], nextRange: "d2" });
		expect(() => history.apply(undo)).toThrow(expect.objectContaining({ code: "empty_plan" }));
		expect(history.plan.revision).toBe(6);
	});

	it("gives no id free again", () => {
		const { history } = replay([{ kind: "add", range: range("d1", 0, 1) }, undo]);
		expect(history.plan.nextRange).toBe("d2");
		expect(() => history.apply({ kind: "add", range: range("d1", 0, 1) })).toThrow();
	});

	it("leaves the plan as it would be without the last change, but for its revision", () => {
		fc.assert(
			fc.property(anyChanges, plainChange, (changes, last) => {
				const { history, made } = replay(changes);
				const before = history.plan;
				replayOne(history, last);
				fc.pre(history.plan.revision > before.revision);
				history.apply(undo);
				expect(history.plan.ranges).toEqual(before.ranges);
				expect(history.plan.revision).toBe(before.revision + 2);
				expect(replay(made).history.plan).toEqual(before);
			}),
		);
	});
});

describe("changes that are missing", () => {
	it("let those that follow count, and an undo pass over them", () => {
		const history = new PlanHistory();
		history.apply({ kind: "add", range: range("d1", 0, 1) }, 1);
		history.apply({ kind: "add", range: range("d4", 8, 9) }, 4);
		expect(history.plan).toEqual({ revision: 4, ranges: [range("d1", 0, 1), range("d4", 8, 9)], nextRange: "d5" });
		for (const left of [["d1"], ["d1"], ["d1"], []]) {
			history.apply({ kind: "undo" });
			expect(history.plan.ranges.map(({ id }) => id)).toEqual(left);
		}
	});

	it("are what an undo right behind them takes back", () => {
		const history = new PlanHistory();
		history.apply({ kind: "add", range: range("d1", 0, 1) }, 1);
		history.apply({ kind: "undo" }, 3);
		expect(history.plan.ranges.map(({ id }) => id)).toEqual(["d1"]);
		history.apply({ kind: "undo" });
		expect(history.plan).toMatchObject({ revision: 4, ranges: [] });
	});

	it("may be more than could be listed", () => {
		const history = new PlanHistory();
		history.apply({ kind: "add", range: range("d1", 0, 1) }, Number.MAX_SAFE_INTEGER - 1);
		expect(history.plan.ranges).toHaveLength(1);
	});

	it("are not made of a revision that the plan has already", () => {
		const history = new PlanHistory();
		history.apply({ kind: "add", range: range("d1", 0, 1) });
		expect(() => history.apply({ kind: "remove", id: "d1" }, 1)).toThrow(
			expect.objectContaining({ code: "plan_changed" }),
		);
		expect(history.plan.ranges).toHaveLength(1);
	});
});

describe("the range of an id", () => {
	it("is looked up, and an error names those that are there", () => {
		const ranges = ["d4", "d1", "d3", "d2", "d9", "d6", "d7"].map((id, i) => range(id, i, i));
		expect(rangeOf(ranges, "d9")).toBe(ranges[4]);
		expect(() => rangeOf(ranges, "d5")).toThrow(/"d5": it has d4, d1, d3, d2, d9 and 2 more/);
		expect(() => rangeOf([], "d5")).toThrow(expect.objectContaining({ code: "unknown_range" }));
		expect(() => rangeOf([], "x".repeat(5000))).toThrow(/^.{1,120}$/);
	});
});

describe("the digest", () => {
	const ranges = [range("d1", 0, 4, { topic: "Setup" }), range("d2", 6, 9)];
	const digest = digestOf(anchor(), ranges);

	it("is 12 hex digits, the same for the same plan however it came about", () => {
		expect(digest).toMatch(/^[0-9a-f]{12}$/);
		const { history } = replay([
			{ kind: "add", range: range("d1", 0, 4) },
			{ kind: "add", range: range("d2", 6, 9) },
			{ kind: "remove", id: "d2" },
			{ kind: "undo" },
			{ kind: "update", id: "d1", topic: "Setup" },
		]);
		expect(digestOf(anchor(), history.plan.ranges)).toBe(digest);
	});

	it.each<[name: string, other: string]>([
		["entry", digestOf(anchor({ entry: "e8" }), ranges)],
		["scope", digestOf(anchor({ scope: "path" }), ranges)],
		["content of the anchor", digestOf(anchor({ hash: "ab13" }), ranges)],
		["id", digestOf(anchor(), [ranges[0], { ...ranges[1], id: "d3" }])],
		["start", digestOf(anchor(), [ranges[0], { ...ranges[1], start: 7 }])],
		["end", digestOf(anchor(), [ranges[0], { ...ranges[1], end: 8 }])],
		["topic", digestOf(anchor(), [{ ...ranges[0], topic: "setup" }, ranges[1]])],
		["summary", digestOf(anchor(), [ranges[0], { ...ranges[1], summary: "" }])],
		["content of a range", digestOf(anchor(), [ranges[0], { ...ranges[1], hash: "cd" }])],
		["number of ranges", digestOf(anchor(), [ranges[0]])],
	])("is another for another %s", (_name, other) => {
		expect(other).not.toBe(digest);
	});
});
