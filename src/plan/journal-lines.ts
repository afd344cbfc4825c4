/** The whole lines of a file that grows, in bounded memory. */
import type { FileHandle } from "node:fs/promises";

const NEWLINE = 10;
const CHUNK = 1 << 20;
/** Bytes of a line that are kept at most: beyond any entry, near enough to keep a foreign file out of memory. */
const LONGEST = 64 << 20;

export interface WholeLine {
	/** Offset of its first byte, and of what follows its line end. */
	start: number;
	end: number;
	/** Without the line end; null when it is too long for anything but damage. */
	bytes: Buffer | null;
}

/** The lines from the offset `from` up to `size`, or less where the file is shorter by now. A last line without a line end is none of them. */
export async function* wholeLines(handle: FileHandle, from: number, size: number): AsyncGenerator<WholeLine> {
	const chunk = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(0, size - from)));
	let start = from;
	let held: Buffer[] = [];
	for (let at = from; at < size; ) {
		const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, size - at), at);
		if (bytesRead === 0) return;
		const read = chunk.subarray(0, bytesRead);
		let used = 0;
		for (let to = read.indexOf(NEWLINE); to >= 0; to = read.indexOf(NEWLINE, used)) {
			const end = at + to + 1;
			const bytes = end - start > LONGEST ? null : Buffer.concat([...held, read.subarray(used, to)]);
			yield { start, end, bytes };
			held = [];
			start = end;
			used = to + 1;
		}
		at += bytesRead;
		if (at - start > LONGEST) held = [];
		else held.push(Buffer.from(read.subarray(used)));
	}
}

/** Bytes `from … to - 1`; fewer where the file is shorter. */
export async function bytesOf(handle: FileHandle, from: number, to: number): Promise<Buffer> {
	const bytes = Buffer.allocUnsafe(to - from);
	let filled = 0;
	while (filled < bytes.length) {
		const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
		if (bytesRead === 0) break;
		filled += bytesRead;
	}
	return bytes.subarray(0, filled);
}
