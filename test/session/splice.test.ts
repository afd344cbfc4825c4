import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FieldFinder, type KnownEdit, spliced } from "#src/session/splice.js";

const splice = (text: string, edits: KnownEdit[]) => spliced(Buffer.from(text), edits).toString();

describe("changing a field leaves every other byte as it is", () => {
	it.each<[string, string, KnownEdit[], string]>([
		["a value", '{"a":1.0,"b": 2e3}', [{ path: ["a"], value: '"x"' }], '{"a":"x","b": 2e3}'],
		[
			"a value with white space",
			'{ "a" : 1 , "b" : [1, 2] }',
			[{ path: ["b"], value: "null" }],
			'{ "a" : 1 , "b" : null }',
		],
		[
			"a nested value",
			'{"m":{"u":{"x":1},"n":12345678901234567890}}',
			[{ path: ["m", "u"], value: "0" }],
			'{"m":{"u":0,"n":12345678901234567890}}',
		],
		["a key of the same name deeper", '{"m":{"a":1},"a":2}', [{ path: ["a"], value: "3" }], '{"m":{"a":1},"a":3}'],
		[
			"a key of the same name in a list",
			'{"l":[{"a":1}],"a":2}',
			[{ path: ["l", "a"], value: "3" }],
			'{"l":[{"a":1}],"a":2}',
		],
		["a key that stands twice", '{"a":1,"a":2}', [{ path: ["a"], value: "3" }], '{"a":3,"a":3}'],
		["an escaped key", '{"\\u0061":1}', [{ path: ["a"], value: "2" }], '{"\\u0061":2}'],
		[
			"a string with quotes and braces",
			'{"s":"\\"}{,:\\\\","a":1}',
			[{ path: ["a"], value: "2" }],
			'{"s":"\\"}{,:\\\\","a":2}',
		],
		["a field taken out in front", '{"a":1, "b":2}', [{ path: ["a"], value: null }], '{"b":2}'],
		["a field taken out at the end", '{"a":1, "b":2 }', [{ path: ["b"], value: null }], '{"a":1}'],
		["the only field", '{ "a":1 }', [{ path: ["a"], value: null }], "{}"],
		[
			"fields at the end",
			'{"a":1,"b":2,"c":3}',
			[
				{ path: ["b"], value: null },
				{ path: ["c"], value: null },
			],
			'{"a":1}',
		],
		[
			"every other field",
			'{"a":1,"b":2,"c":3}',
			[
				{ path: ["a"], value: null },
				{ path: ["c"], value: null },
			],
			'{"b":2}',
		],
		["a field added", '{"a":1}', [{ path: ["b"], value: "[2]", add: true }], '{"a":1,"b":[2]}'],
		["a field added to nothing", "{}", [{ path: ["b"], value: "2", add: true }], '{"b":2}'],
		[
			"a field added where another goes",
			'{"a":1}',
			[
				{ path: ["a"], value: null },
				{ path: ["b"], value: "2", add: true },
			],
			'{"b":2}',
		],
		["a field that is not there", '{"a":1}', [{ path: ["b"], value: "2" }], '{"a":1}'],
		[
			"a field added to an object that is not there",
			'{"a":1}',
			[{ path: ["m", "b"], value: "2", add: true }],
			'{"a":1}',
		],
	])("%s", (_name, text, edits, expected) => {
		expect(splice(text, edits)).toBe(expected);
	});
});

const key = fc.constantFrom("a", "b", "m", "é", 'q"', "\\");
const record = fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())));
const spaced = (value: unknown, space: number) => JSON.stringify(value, null, space);

describe("as parsing and writing anew would", () => {
	it("for any object, edits, and cut into chunks", () => {
		fc.assert(
			fc.property(
				record,
				fc.uniqueArray(fc.tuple(key, fc.option(key), fc.option(fc.jsonValue()), fc.boolean()), {
					selector: ([first]) => first,
					maxLength: 4,
				}),
				fc.constantFrom(0, 1, 3),
				fc.integer({ min: 1, max: 7 }),
				(object, choices, space, step) => {
					const edits = choices.map(
						([first, second, value, add]): KnownEdit => ({
							path: second === null ? [first] : [first, second],
							value: value === null ? null : JSON.stringify(value),
							add,
						}),
					);
					const expected = structuredClone(JSON.parse(JSON.stringify(object))) as Record<string, unknown>;
					for (const { path, value, add } of edits) apply(expected, path, value, add ?? false);
					const bytes = Buffer.from(spaced(object, space));
					expect(JSON.parse(spliced(bytes, edits).toString())).toEqual(expected);
					const finder = new FieldFinder(edits);
					for (let at = 0; at < bytes.length; at += step) finder.add(bytes.subarray(at, at + step));
					const whole = new FieldFinder(edits);
					whole.add(bytes);
					expect(finder.finish()).toEqual(whole.finish());
				},
			),
			{ numRuns: 1_000 },
		);
	});
});

function apply(object: Record<string, unknown>, path: readonly string[], value: string | null, add: boolean): void {
	const [first, ...rest] = path;
	const held = object[first];
	if (rest.length > 0) {
		if (typeof held === "object" && held !== null && !Array.isArray(held))
			apply(held as Record<string, unknown>, rest, value, add);
	} else if (Object.hasOwn(object, first) || add) {
		if (value === null) delete object[first];
		else object[first] = JSON.parse(value);
	}
}
