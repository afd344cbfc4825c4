import { Readable } from "node:stream";
import fc from "fast-check";
import { streamArray } from "stream-json/streamers/stream-array.js";
import { describe, expect, it } from "vitest";
import { scanDocument } from "#src/session/document.js";
import { readerOver } from "../helpers/bytes.js";

/** What a scan finds, with the bytes of every range as text. */
function scanned(content: string | Uint8Array, bufferSize?: number) {
	const data = Buffer.from(content);
	const { list, elements, fields, damage } = scanDocument(readerOver(data), bufferSize ? { bufferSize } : {});
	return {
		list,
		elements: Array.from(elements.start, (start, i) => data.toString("utf8", start, elements.end[i])),
		fields: Object.fromEntries(fields.map((f) => [f.key, data.toString("utf8", f.start, f.end)])),
		damage: damage.first.map((d) => `${d.kind}@${d.offset}`),
		lines: damage.first.map((d) => d.line),
	};
}

async function streamJsonElements(text: string): Promise<unknown[]> {
	const values: unknown[] = [];
	for await (const { value } of Readable.from([Buffer.from(text)]).pipe(streamArray.withParserAsStream()))
		values.push(value);
	return values;
}

const a = '{"role":"user","content":"a"}';
const b = '{"role":"assistant","content":"b"}';
const c = '{"role":"user","content":"c"}';
const SIZES = [1, 2, 3, 5, 7, 16, 64, 1 << 16];

describe("sound documents", () => {
	const CASES: [name: string, text: string, elements: string[], fields: Record<string, string>][] = [
		["a bare list", `[${a},${b}]`, [a, b], {}],
		["an empty list", " [ ] \n", [], {}],
		[
			"elements that are no objects",
			'[1, "x\\"]" , null,[{}] ,true,-2.5e3]',
			["1", '"x\\"]"', "null", "[{}]", "true", "-2.5e3"],
			{},
		],
		[
			"a list under messages",
			`{"system":"s","messages":[${a},${b}],"usage":{"n":1}}`,
			[a, b],
			{ system: '"system":"s"', usage: '"usage":{"n":1}' },
		],
		[
			"white space around everything",
			`{ "messages" : [ ${a} , ${b} ] , "tools" : [ 1 ] }`,
			[a, b],
			{ tools: '"tools" : [ 1 ]' },
		],
		[
			"brackets, quotes and backslashes in strings",
			'[{"x":"]}\\\\"},{"y":"\\\\\\"{["}]',
			['{"x":"]}\\\\"}', '{"y":"\\\\\\"{["}'],
			{},
		],
		["a key written with escapes", `{"\\u006dessages":[${a}],"k\\"1":2}`, [a], { 'k"1': '"k\\"1":2' }],
		[
			"an inner messages list",
			`{"request":{"messages":[${a}]},"messages":[${b}]}`,
			[b],
			{ request: `"request":{"messages":[${a}]}` },
		],
		["a key twice: the last counts", `{"messages":[${a}],"n":1,"messages":[${b}],"n":2}`, [b], { n: '"n":2' }],
		["messages that are no list", `{"messages":{"a":1},"n":0}`, [], { n: '"n":0' }],
		["raw U+2028 and emoji", '[{"t":"\u2028😀"}]', ['{"t":"\u2028😀"}'], {}],
	];
	it.each(CASES)("%s", (_name, text, elements, fields) => {
		for (const size of SIZES)
			for (const mark of ["", "\ufeff"]) {
				const found = scanned(mark + text, size);
				expect(found.elements).toEqual(elements);
				expect(found.fields).toEqual(fields);
				expect(found.damage).toEqual([]);
			}
	});

	it("says which list was found", () => {
		expect(scanned("[]").list).toBe("root");
		expect(scanned('{"messages":[]}').list).toBe("messages");
		expect(scanned('{"messages":3}').list).toBeNull();
		expect(scanned("").list).toBeNull();
	});

	it("steps over values nested deeper than any stack", () => {
		const deep = `${"[".repeat(300_000)}${"]".repeat(300_000)}`;
		expect(scanned(`[${deep},${a}]`).elements).toEqual([deep, a]);
	});

	it("leaves out keys longer than any key of interest", () => {
		expect(scanned(`{"${"k".repeat(5000)}":1,"n":2}`).fields).toEqual({ n: '"n":2' });
	});
});

describe("the same elements as stream-json", () => {
	const key = fc.oneof(fc.constantFrom("role", "content", "messages", "\\", '"', "{"), fc.string({ maxLength: 4 }));
	const text = fc.oneof(
		fc.constantFrom('\\"', "\\\\", "]}", '{"role":', "\ud83d", "😀"),
		fc.string({ unit: "grapheme", maxLength: 70 }),
	);
	const { value } = fc.letrec<{ value: unknown }>((tie) => ({
		value: fc.oneof(
			{ depthSize: "small" },
			text,
			fc.double({ noNaN: true, noDefaultInfinity: true }),
			fc.constantFrom(null, true, false),
			fc.array(tie("value"), { maxLength: 4 }),
			fc.dictionary(key, tie("value"), { maxKeys: 4 }),
		),
	}));
	const indent = fc.constantFrom(undefined, 1, "\t");

	it("in any list, whatever the window", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(value, { maxLength: 6 }),
				indent,
				fc.integer({ min: 1, max: 80 }),
				async (list, space, size) => {
					const json = JSON.stringify(list, null, space);
					const found = scanned(json, size);
					expect(found.damage).toEqual([]);
					expect(found.elements.map((e) => JSON.parse(e))).toEqual(await streamJsonElements(json));
					expect(found).toEqual(scanned(json));
				},
			),
		);
	});

	it("in any object with messages, its other fields beside them", () => {
		fc.assert(
			fc.property(
				fc.array(value, { maxLength: 4 }),
				fc.dictionary(key, value, { maxKeys: 4 }),
				indent,
				fc.integer({ min: 1, max: 80 }),
				(messages, around, space, size) => {
					const { messages: _, ...fields } = around;
					const json = JSON.stringify({ ...fields, messages }, null, space);
					const found = scanned(json, size);
					expect(found.damage).toEqual([]);
					const sound = JSON.parse(json);
					expect(found.elements.map((e) => JSON.parse(e))).toEqual(sound.messages);
					expect(JSON.parse(`{${Object.values(found.fields).join(",")}}`)).toEqual(JSON.parse(JSON.stringify(fields)));
				},
			),
		);
	});
});

describe("damaged documents", () => {
	const list = `[${a},${b},${c}]`;
	const torn = '{"role":"user","content":"to';
	const CASES: [name: string, text: string, elements: string[], damage: string[]][] = [
		["cut inside an element", `[${a},${torn}`, [a], [`torn_tail@${a.length + 2}`]],
		["cut between elements", `[${a},`, [a], [`torn_tail@${a.length + 2}`]],
		["cut inside the first element", `[${torn}`, [], ["torn_tail@1"]],
		[
			"cut inside an inner list of elements",
			`[${a},{"role":"user","list":[${b},${c},`,
			[a],
			[`torn_tail@${a.length + 2}`],
		],
		["cut in a field", `{"messages":[${a}],"usage":{"n`, [a], [`torn_tail@${a.length + 15}`]],
		["cut in a key", `{"messages":[${a}],"usa`, [a], [`torn_tail@${a.length + 15}`]],
		[
			"NULs behind the tear",
			`[${a},${torn}\0\0\0`,
			[a],
			[`torn_tail@${a.length + 2}`, `nul_run@${a.length + 2 + torn.length}`],
		],
		["NULs behind the end", `[${a}]\0\0\0`, [a], [`nul_run@${a.length + 2}`]],
		["NULs between elements", `[${a},\0\0\0\0${b}]`, [a, b], [`nul_run@${a.length + 2}`]],
		["no comma between elements", `[${a}${b}]`, [a, b], [`invalid_json@${a.length + 1}`]],
		["a comma too much", `[${a},,${b}]`, [a, b], [`invalid_json@${a.length + 2}`]],
		["a comma at the end", `[${a},${b},]`, [a, b], [`invalid_json@${a.length + b.length + 2}`]],
		["bytes between elements", `[${a}, %&}$ ,${b}]`, [a, b], [`invalid_json@${a.length + 3}`]],
		["a document behind the document", `${list}[${a}]`, [a, b, c], [`invalid_json@${list.length}`]],
		["the rest of a longer old version", `${list}","x":1}]`, [a, b, c], [`invalid_json@${list.length}`]],
		[
			"messages that are not closed",
			`{"messages":[${a}}`,
			[a],
			[`invalid_json@${a.length + 13}`, `torn_tail@${a.length + 14}`],
		],
		["a field without a value", `{"n":,"messages":[${a}]}`, [a], ["invalid_json@1"]],
		["no JSON at all", "hello", [], ["invalid_json@0"]],
	];
	it.each(CASES)("%s", (_name, text, elements, damage) => {
		for (const size of SIZES) {
			const found = scanned(text, size);
			expect(found.elements).toEqual(elements);
			expect(found.damage).toEqual(damage);
		}
	});

	/** Elements that do not parse are given as ranges, for the parser to report. */
	const BROKEN: [name: string, text: string][] = [
		["a brace is missing", `[${a},{"role":"x","content":{"y":1},${b},${c}]`],
		["a bracket of another kind closes", `[${a},{"role":"x","content":[1}},${b},${c}]`],
		["a quote is missing", `[${a},{"role":"x","content":"y},${b},${c}]`],
		["bytes are lost inside a string", `[${a},{"role":"x","content":"y${b},${c}]`],
		["a block of NULs inside a string", `[${a},{"role":"x","content":"y\0\0\0\0"},${b},${c}]`],
		["a block of NULs over structure", `[${a},{"role":"x","con\0\0\0\0\0\0\0\0{"}]}},${b},${c}]`],
		[
			"a quote is missing, pretty-printed",
			JSON.stringify([JSON.parse(a), { role: "x", y: "QUOTE" }, JSON.parse(b), JSON.parse(c)], null, 2).replace(
				'QUOTE"',
				"",
			),
		],
		["a brace is missing under messages", `{"messages":[${a},{"role":"x","content":{"y":1},${b},${c}],"n":1}`],
	];
	it.each(BROKEN)("only the broken element is lost: %s", (_name, text) => {
		const found = scanned(text);
		const parsed = found.elements.map((e) => {
			try {
				return JSON.parse(e).content;
			} catch {
				return "broken";
			}
		});
		expect(parsed).toEqual(["a", "broken", "b", "c"]);
		expect(found.damage).toEqual([]);
		if (text.startsWith("{")) expect(found.fields).toEqual({ n: '"n":1' });
		for (const size of SIZES) expect(scanned(text, size)).toEqual(found);
	});

	it("goes on behind a false end of the list, in an element whose string was cut", () => {
		const inner = `{"role":"x","list":[{"role":"y","content":"cut},{"role":"z","content":"inner"}]}`;
		const found = scanned(`[${a},${inner},${b}]`);
		expect(found.elements.at(-1)).toBe(b);
		expect(found.elements[0]).toBe(a);
	});

	it("numbers findings by element", () => {
		expect(scanned(`[${a},${b}%,${c},{`).lines).toEqual([3, 4]);
	});

	it("ends on any bytes, and gives ranges in order", () => {
		const piece = fc.constantFrom(
			a,
			b,
			"[",
			"]",
			"{",
			"}",
			'"',
			"\\",
			",",
			":",
			'"messages":[',
			"\0",
			"1",
			" ",
			"é",
			'{"role":',
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (pieces, size) => {
				const text = pieces.join("");
				const { elements } = scanDocument(readerOver(text), { bufferSize: size });
				let last = 0;
				elements.start.forEach((start, i) => {
					expect(start).toBeGreaterThanOrEqual(last);
					expect(elements.end[i]).toBeGreaterThan(start);
					last = elements.end[i];
				});
				expect(last).toBeLessThanOrEqual(Buffer.byteLength(text));
				expect(scanned(text, size)).toEqual(scanned(text));
			}),
			{ numRuns: 1000 },
		);
	});

	it("stays linear on a document that is damaged all over", () => {
		const text = `[${`{"role":"x","content":[1},\n`.repeat(40_000)}`;
		const started = performance.now();
		scanDocument(readerOver(text));
		expect(performance.now() - started).toBeLessThan(10_000);
	});
});
