import { statSync, truncateSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DamageLog } from "#src/session/damage.js";
import { scanDocument } from "#src/session/document.js";
import { parseGiantRecord } from "#src/session/giant.js";
import { LineReader } from "#src/session/salvage.js";
import { scanLines } from "#src/session/scan.js";
import { type ByteReader, openReader } from "#src/session/source.js";
import { scratchFolder } from "../helpers/files.js";

const files = scratchFolder();
const unreadable = expect.objectContaining({ code: "unreadable" });

/** A reader that was opened on a file of `size` bytes before all but the first 100 went away. */
function shrunk(name: string, content: string): ByteReader {
	const path = files.write(name, content);
	const { size, dev, ino } = statSync(path);
	const reader = openReader({ kind: "file", path, size, device: dev, inode: ino });
	truncateSync(path, 100);
	return reader;
}

describe("a file that becomes shorter while a reader is open", () => {
	const lines = '{"id":1}\n'.repeat(1000);
	it.each<[name: string, use: (reader: ByteReader) => unknown]>([
		["a range within", (reader) => reader.read(Buffer.alloc(50), 80)],
		["a range behind", (reader) => reader.read(Buffer.alloc(50), 5000)],
		["the lines", (reader) => [...scanLines(reader, 0, reader.size)]],
		["the lines of a range behind", (reader) => [...scanLines(reader, 5000, reader.size)]],
		["a document", (reader) => scanDocument(reader)],
		["a giant record", (reader) => parseGiantRecord(reader, 0, reader.size)],
	])("fails as `unreadable`: %s", async (name, use) => {
		const reader = shrunk(name, lines);
		await expect((async () => use(reader))()).rejects.toEqual(unreadable);
		reader.close();
	});

	it("fails as `unreadable` where a giant line is read again in pieces", async () => {
		const reader = shrunk("pieces", lines);
		const giant = { start: 0, end: reader.size, number: 1, bytes: null, unterminated: true };
		const read = async () => new LineReader(reader, () => true, new DamageLog()).read(giant, 0);
		await expect(read()).rejects.toEqual(unreadable);
		reader.close();
	});

	it("reads less than asked for only at the end", () => {
		const path = files.write("whole", "abc");
		const { dev, ino } = statSync(path);
		const reader = openReader({ kind: "file", path, size: 2, device: dev, inode: ino });
		expect([reader.read(Buffer.alloc(9), 1), reader.read(Buffer.alloc(9), 2), reader.read(Buffer.alloc(9), 5)]).toEqual(
			[1, 0, 0],
		);
		reader.close();
	});
});
