import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SegmentMemo } from "#src/measure/memo.js";
import { unitsOf } from "./texts.js";

const get = (memo: SegmentMemo, key: string) => memo.get(unitsOf(key), 0, key.length);
const add = (memo: SegmentMemo, key: string, tokens: number) => memo.add(unitsOf(key), 0, key.length, tokens);

describe("SegmentMemo", () => {
	test("answers as a map of strings does", () => {
		const key = fc.string({ minLength: 1, maxLength: 48, unit: fc.constantFrom("a", "b", "中", "\ud83d", "\0") });
		fc.assert(
			fc.property(
				fc.array(fc.tuple(key, fc.integer({ min: 1, max: 144 })), { maxLength: 200 }),
				key,
				(pairs, other) => {
					const memo = new SegmentMemo(1000);
					const map = new Map<string, number>();
					for (const [name, tokens] of pairs) {
						add(memo, name, tokens);
						if (!map.has(name)) map.set(name, tokens);
					}
					expect(memo.size).toBe(map.size);
					for (const [name, tokens] of map) expect(get(memo, name)).toBe(tokens);
					expect(get(memo, other)).toBe(map.get(other) ?? 0);
				},
			),
		);
	});

	test("looks at the units asked about and at no others", () => {
		const memo = new SegmentMemo(10);
		memo.add(unitsOf("xabcx"), 1, 4, 3);
		expect(memo.get(unitsOf("--abc"), 2, 5)).toBe(3);
		expect(memo.get(unitsOf("--abc"), 2, 4)).toBe(0);
	});

	test("is cleared when an entry more would pass the limit", () => {
		const memo = new SegmentMemo(3);
		for (const key of ["a", "b", "c"]) add(memo, key, 1);
		expect(memo.size).toBe(3);
		add(memo, "d", 2);
		expect(memo.size).toBe(1);
		expect([get(memo, "a"), get(memo, "d")]).toEqual([0, 2]);
	});

	test("is cleared when the keys would pass their room", () => {
		const memo = new SegmentMemo(100);
		const keys = Array.from({ length: 60 }, (_, n) => `${n}`.padStart(48, "k"));
		let cleared = 0;
		for (const key of keys) {
			const before = memo.size;
			add(memo, key, 48);
			expect(get(memo, key)).toBe(48);
			if (memo.size <= before) cleared++;
		}
		expect(cleared).toBe(1);
	});
});
