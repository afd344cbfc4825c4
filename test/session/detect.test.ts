import { describe, expect, it } from "vitest";
import { detectShape, firstOfLines, recogniseFormat } from "#src/session/detect.js";
import { readerOver } from "../helpers/bytes.js";

const entries = [
	{ type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
	{ type: "message", id: "00000001", parentId: null, message: { role: "user", content: "hi" } },
];
const header = JSON.stringify(entries[0]);
const pi = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
const messages = '[\n{"role":"user","content":"hi"},\n{"role":"assistant","content":"yo"}\n]';
const zeros = (n: number) => Buffer.alloc(n);

function bytes(...pieces: (string | Uint8Array)[]): Buffer {
	return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

const shapeOf = (...pieces: (string | Uint8Array)[]) => detectShape(readerOver(bytes(...pieces)));

async function formatOf(...pieces: (string | Uint8Array)[]): Promise<string> {
	const reader = readerOver(bytes(...pieces));
	expect(await detectShape(reader)).toBe("lines");
	return recogniseFormat(await firstOfLines(reader));
}

describe("a document is told from lines by its head", () => {
	it.each<[name: string, pieces: (string | Uint8Array)[], shape: string]>([
		["a list opened on line 1", [`{"messages": ${messages}}`], "document"],
		["a list opened on line 1 behind other fields", [`{"model":"m","messages":${messages}}`], "document"],
		["one field a line", [`{\n"model":"m",\n"messages":${messages}}`], "document"],
		["a bare list", [messages], "document"],
		["a byte order mark", [`\ufeff{"model":"m","messages":${messages}}`], "document"],
		["zeros in front", [zeros(5000), `{"model":"m","messages":${messages}}`], "document"],
		["zeros in front of a bare list", [zeros(3_000_000), messages], "document"],
		["blank megabytes in front", ["\n".repeat(2_000_000), `{"model":"m","messages":${messages}}`], "document"],
		["lines", [pi], "lines"],
		["a torn first line", [`{"type":"session","id":\n${pi}`], "lines"],
		["a torn first line that speaks of messages inside", [`{"type":"x","data":{"messages":[\n${pi}`], "lines"],
	])("%s", async (_name, pieces, shape) => {
		expect(await shapeOf(...pieces)).toBe(shape);
	});
});

describe("the first record of a file of lines", () => {
	it.each<[name: string, pieces: (string | Uint8Array)[]]>([
		["a torn first character", [Buffer.from([0x9f, 0x98, 0x80]), `"}}\n${pi}`]],
		["a brace and zeros", ["{", zeros(4096), `\n${pi}`]],
		["zeros on the same line, more than a line may have", [zeros(70_000_000), `${header}\n`]],
		["zeros on the same line, fewer", [zeros(20_000_000), `${header}\n`]],
		["blanks on the same line", [" ".repeat(20_000_000), `${header}\n`]],
		["7 MB of other text", [`${"a line of another program\n".repeat(270_000)}`, pi]],
	])("is found behind %s", async (_name, pieces) => {
		expect(await formatOf(...pieces)).toBe("pi");
	});

	it.each([
		["short lines", "a line of another program, as long as lines are\n".repeat(200_000)],
		["lines longer than a record's head", `${"x".repeat(9_000_000)}\n`.repeat(2)],
		["lines longer than any record", `${"x".repeat(70_000_000)}\n`],
	])("is no longer looked for behind megabytes of %s", async (_name, garbage) => {
		const reader = readerOver(bytes(garbage, pi));
		await expect(firstOfLines(reader).then(recogniseFormat)).rejects.toMatchObject({ code: "not_a_session" });
	});
});

describe("UTF-16", () => {
	it.each([
		["little-endian with a mark", Buffer.from(`\ufeff${pi}`, "utf16le")],
		["big-endian with a mark", Buffer.from(`\ufeff${pi}`, "utf16le").swap16()],
		["little-endian", Buffer.from(pi, "utf16le")],
		["big-endian", Buffer.from(pi, "utf16le").swap16()],
		["behind a blank line", Buffer.from(`\r\n${pi}`, "utf16le")],
		["a document", Buffer.from(messages, "utf16le")],
		["a few bytes", Buffer.from("\ufeff{}", "utf16le")],
	])("is named in the error: %s", async (_name, content) => {
		await expect(detectShape(readerOver(content))).rejects.toMatchObject({
			code: "not_a_session",
			message: expect.stringContaining("UTF-16"),
			hint: expect.stringContaining("UTF-8"),
		});
	});

	it.each([
		["other bytes that are no UTF-8", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3])],
		["a brace and zeros", bytes("{", zeros(100))],
		["a single zero", bytes("a\0bc\n")],
	])("is not claimed of %s", async (_name, content) => {
		expect(await detectShape(readerOver(content))).toBe("lines");
	});
});
