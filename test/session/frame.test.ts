import { describe, expect, it } from "vitest";
import { scanDocument } from "#src/session/document.js";
import { frameOf } from "#src/session/frame.js";
import { readerOver } from "../helpers/bytes.js";

/** What stands around the elements: up to the list, from its end on, and the fields that are left of a damaged frame. */
function around(text: string): { list: string; head: string; tail: string | null; salvaged: string[] | null } | null {
	const bytes = Buffer.from(text);
	const reader = readerOver(bytes);
	const frame = frameOf(reader, scanDocument(reader));
	if (!frame) return null;
	const { list, open, close, salvaged } = frame;
	return {
		list,
		head: bytes.toString("utf8", 0, open),
		tail: close < 0 ? null : bytes.toString("utf8", close),
		salvaged: salvaged && [...salvaged.start].map((start, i) => bytes.toString("utf8", start, salvaged.end[i])),
	};
}

describe("the frame of a document", () => {
	const CASES: [name: string, text: string, frame: ReturnType<typeof around>][] = [
		["a list", "[{},{}]\n", { list: "root", head: "[", tail: "]\n", salvaged: null }],
		[
			"a list behind a mark and spaces",
			"\ufeff \n[ {}]",
			{ list: "root", head: "\ufeff \n[", tail: "]", salvaged: null },
		],
		["an empty list", "[ ]", { list: "root", head: "[", tail: "]", salvaged: null }],
		[
			"an object",
			'{"a":1,\n"messages":[{"x":[1]}],"b":[2]}',
			{ list: "messages", head: '{"a":1,\n"messages":[', tail: '],"b":[2]}', salvaged: null },
		],
		[
			"a list that comes twice",
			'{"messages":[{"old":1}],"messages":[{}]}',
			{ list: "messages", head: '{"messages":[{"old":1}],"messages":[', tail: "]}", salvaged: null },
		],
		["a list that is replaced by none", '{"messages":[{}],"messages":1}', null],
		["damage among the elements", '[{},{"a":tru},7 8,\0{}]', { list: "root", head: "[", tail: "]", salvaged: null }],
		[
			"a torn list",
			'{"a":1,"messages":[{},{"b',
			{ list: "messages", head: '{"a":1,"messages":[', tail: null, salvaged: null },
		],
		[
			"a torn field",
			'{"a":1,"messages":[{}],"b":2,"c":[',
			{ list: "messages", head: '{"a":1,"messages":[', tail: '],"b":2,"c":[', salvaged: ['"a":1', '"b":2'] },
		],
		[
			"a broken bracket that seems to end the list",
			"[{},{]},{}]",
			{ list: "root", head: "[", tail: "]},{}]", salvaged: [] },
		],
		["zeros behind it", "[{}]\0\0", { list: "root", head: "[", tail: "]\0\0", salvaged: [] }],
		[
			"fields that are no JSON",
			'{"a":nul,"b": {"c":1},"messages":[]}',
			{ list: "messages", head: '{"a":nul,"b": {"c":1},"messages":[', tail: "]}", salvaged: ['"b": {"c":1}'] },
		],
	];
	it.each(CASES)("of %s", (_name, text, frame) => {
		expect(around(text)).toEqual(frame);
	});
});
