import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MidcompactError } from "#src/errors.js";
import type { PlanRange } from "#src/plan/plan.js";
import { checkRange, refusalsOf, spanText } from "#src/plan/rules.js";
import { atomTable, range } from "./plans.js";

/** What adding a range is refused with; null when it may be added. */
function refused(
	atoms: ReturnType<typeof atomTable>,
	ranges: PlanRange[],
	start: number,
	end: number,
): MidcompactError | null {
	try {
		checkRange(atoms, { ranges }, start, end);
		return null;
	} catch (thrown) {
		if (thrown instanceof MidcompactError) return thrown;
		throw thrown;
	}
}

describe("a range that is added", () => {
	const atoms = atomTable(30, { 5: "ambiguous_tool_protocol", 12: "committed_block", 13: "orphan_result" });

	it.each([
		["between protected atoms", 6, 11],
		["one atom", 0, 0],
		["right behind another range", 20, 22],
		["right before another range", 14, 15],
	])("is taken: %s", (_name, start, end) => {
		expect(refused(atoms, [range("d1", 16, 19)], start, end)).toBeNull();
	});

	it.each<[name: string, start: number, end: number, code: string, message: string, hint: RegExp]>([
		["reversed", 9, 7, "reversed", "The range starts at a0010, which is after its end a0008.", /earlier/],
		["beyond the anchor", 25, 30, "unknown_ref", "The range reaches beyond the 30 atoms of the anchor.", /ref/],
		[
			"a protected atom inside",
			2,
			9,
			"protected_atom",
			"a0006 inside a0003..a0010 is protected (ambiguous_tool_protocol).",
			/^Around what is protected: a0003\.\.a0005 and a0007\.\.a0010\.$/,
		],
		[
			"a protected atom at its start",
			5,
			9,
			"protected_atom",
			"a0006 inside a0006..a0010 is protected (ambiguous_tool_protocol).",
			/: a0007\.\.a0010\.$/,
		],
		[
			"a protected atom at its end",
			4,
			5,
			"protected_atom",
			"a0006 inside a0005..a0006 is protected (ambiguous_tool_protocol).",
			/: a0005\.$/,
		],
		[
			"two protected ones side by side",
			11,
			14,
			"protected_atom",
			"a0013 inside a0012..a0015 is protected (committed_block); 1 more in it is protected too.",
			/: a0012 and a0015\.$/,
		],
		[
			"several protected ones",
			0,
			15,
			"protected_atom",
			"a0006 inside a0001..a0016 is protected (ambiguous_tool_protocol); 2 more in it are protected too.",
			/: a0001\.\.a0005 and a0007\.\.a0012 and 1 more\.$/,
		],
		[
			"nothing but a protected one",
			5,
			5,
			"protected_atom",
			"a0006 is protected (ambiguous_tool_protocol).",
			/^No atom of it can be replaced\.$/,
		],
		["an overlap", 19, 21, "overlap", "a0020..a0022 overlaps the range d1 (a0018..a0020).", /Remove d1 first/],
		["inside another", 18, 18, "overlap", "a0019 overlaps the range d1 (a0018..a0020).", /Remove d1 first/],
		["two overlaps", 16, 29, "overlap", "a0017..a0030 overlaps the range d1 (a0018..a0020) and 1 more.", /d1/],
	])("is refused: %s", (_name, start, end, code, message, hint) => {
		const error = refused(atoms, [range("d1", 17, 19), range("d2", 25, 25)], start, end);
		expect(error).toMatchObject({ code, message, hint: expect.stringMatching(hint) });
	});

	it("is shown a way around that leaves other ranges alone too", () => {
		const error = refused(atoms, [range("d2", 3, 3), range("d1", 8, 9)], 2, 11);
		expect(error?.hint).toBe("Around what is protected or in a range already: a0003 and a0005 and 2 more.");
	});

	it("may be any of those that its refusal names", () => {
		const spans = fc.tuple(fc.nat(39), fc.nat(39)).map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }));
		fc.assert(
			fc.property(
				fc.array(fc.nat(39), { minLength: 1, maxLength: 8 }),
				fc.array(spans),
				spans,
				(kept, others, wanted) => {
					const table = atomTable(40, Object.fromEntries(kept.map((atom) => [atom, "unsupported_kind" as const])));
					const ranges: PlanRange[] = [];
					for (const { start, end } of others.toSorted((a, b) => a.start - b.start))
						if (refused(table, ranges, start, end) === null) ranges.push(range(`d${ranges.length + 1}`, start, end));
					const error = refused(table, ranges, wanted.start, wanted.end);
					if (error?.code !== "protected_atom") return;
					for (const [, from, to = from] of error.hint.matchAll(/(a\d{4})(?:\.\.(a\d{4}))?/g))
						expect(refused(table, ranges, table.indexOf(from), table.indexOf(to))).toBeNull();
				},
			),
		);
	});

	it("is judged as a whole in a session of 100,000 atoms", () => {
		const large = atomTable(100_000, { 50000: "committed_block" });
		const error = refused(large, [], 0, 99_999);
		expect(error?.hint).toBe("Around what is protected: a0001..a50000 and a50002..a100000.");
	});
});

describe("what keeps a plan from being committed", () => {
	const atoms = atomTable(20, { 5: "unsupported_kind" });
	const listed = (ranges: PlanRange[]) => refusalsOf(atoms, ranges).map(({ code, message }) => `${code}: ${message}`);

	it("is nothing for ranges with summaries", () => {
		expect(listed([range("d2", 0, 4), range("d1", 6, 9)])).toEqual([]);
	});

	it("is that it is empty", () => {
		expect(listed([])).toEqual(["empty_plan: The plan has no range."]);
	});

	it("is listed as a whole", () => {
		expect(
			listed([
				range("d1", 0, 9, { summary: "" }),
				range("d2", 2, 3),
				range("d3", 9, 8),
				range("d4", 9, 9),
				range("d5", 18, 20, { summary: "" }),
				range("d6", 12, 12, { summary: "" }),
			]),
		).toEqual([
			"protected_atom: d1: a0006 inside a0001..a0010 is protected (unsupported_kind).",
			"pending_summary: d1 (a0001..a0010) has no summary yet.",
			"overlap: d2: a0003..a0004 overlaps the range d1 (a0001..a0010).",
			"reversed: d3: The range starts at a0010, which is after its end a0009.",
			"overlap: d4: a0010 overlaps the range d1 (a0001..a0010).",
			"pending_summary: d6 (a0013) has no summary yet.",
			"unknown_ref: d5: The range reaches beyond the 20 atoms of the anchor.",
			"pending_summary: d5 has no summary yet.",
		]);
	});
});

describe("a range in words", () => {
	it("is its two refs, or the one", () => {
		expect(spanText(atomTable(3), { start: 0, end: 2 })).toBe("a0001..a0003");
		expect(spanText(atomTable(3), { start: 1, end: 1 })).toBe("a0002");
	});
});
