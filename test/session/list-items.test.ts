import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FoundItems, ItemFinder } from "#src/session/list-items.js";

function find(text: string, path: readonly string[], chunk = Number.POSITIVE_INFINITY): FoundItems | null {
	const bytes = Buffer.from(text);
	const finder = new ItemFinder(path);
	for (let at = 0; at < bytes.length; at += chunk) finder.add(bytes.subarray(at, at + chunk));
	return finder.finish();
}

function shown(text: string, path: readonly string[], chunk?: number): string[] | null {
	const bytes = Buffer.from(text);
	const found = find(text, path, chunk);
	return found ? found.starts.map((start, k) => bytes.toString("utf8", start, found.ends[k])) : null;
}

describe("items of a list inside a record", () => {
	it.each<[name: string, text: string, items: string[] | null]>([
		["numbers and spaces as they are", '{"p":{"l":[ 1.0 , {"a" : 1e5} ,[2]\t]}}', ["1.0", '{"a" : 1e5}', "[2]"]],
		["no items", '{"p":{"l":[ ]}}', []],
		[
			"brackets, commas and quotes inside strings",
			'{"p":{"l":["],\\"","\\\\",{"k":"}"}]}}',
			['"],\\""', '"\\\\"', '{"k":"}"}'],
		],
		["the same names elsewhere", '{"l":[1],"q":{"l":[2]},"p":{"x":{"l":[3]},"y":[{"l":[4]}],"l":[5]},"p2":[]}', ["5"]],
		["a name written with an escape", '{"p":{"\\u006c":[1]}}', ["1"]],
		["the name as a value", '{"p":{"x":"l","y":[1],"l":[2]}}', ["2"]],
		["a key that stands twice: the last one", '{"p":{"l":[1],"l":[2,3]}}', ["2", "3"]],
		["a value that is no list", '{"p":{"l":{"l":[1]}}}', null],
		["no such field", '{"p":[{"l":[1]}]}', null],
	])("%s", (_name, text, items) => {
		for (const chunk of [1, 2, 3, 1000]) expect(shown(text, ["p", "l"], chunk)).toEqual(items);
	});

	it("gives what a parser gives, however the bytes are cut", () => {
		fc.assert(
			fc.property(
				fc.array(fc.jsonValue()),
				fc.jsonValue(),
				fc.jsonValue(),
				fc.integer({ min: 1, max: 9 }),
				fc.constantFrom(undefined, 1, "\t"),
				(list, before, behind, chunk, space) => {
					const text = JSON.stringify({ b: before, p: { b: before, l: list, z: behind }, z: behind }, null, space);
					const found = find(text, ["p", "l"], chunk);
					const bytes = Buffer.from(text);
					expect(shown(text, ["p", "l"], chunk)?.map((item) => JSON.parse(item))).toEqual(
						JSON.parse(JSON.stringify(list)),
					);
					expect(JSON.parse(bytes.toString("utf8", found?.start, found?.end))).toEqual(
						JSON.parse(JSON.stringify(list)),
					);
				},
			),
		);
	});
});
