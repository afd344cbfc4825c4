/** NUL bytes as borders: no JSON text holds a raw one, so a run of them (a crash, a sparse hole of any size) separates what stands around it. */
import type { ByteReader } from "./source.js";

const NUL = 0;
const SPACE = 0x20;
const STEP = 1 << 20;

export interface Stretch {
	start: number;
	end: number;
}

/** Offset of the first NUL in a range; -1 for none. Reads block. */
export function firstNulIn(reader: ByteReader, from: number, to: number): number {
	for (const { bytes, position } of steps(reader, from, to)) {
		const nul = bytes.indexOf(NUL);
		if (nul >= 0) return position + nul;
	}
	return -1;
}

/** Offset of the first byte of a range that is neither NUL, nor white space or another control character; -1 for none. Reads block. */
export function firstTextIn(reader: ByteReader, from: number, to: number): number {
	for (const { bytes, position } of steps(reader, from, to)) {
		const first = firstText(bytes);
		if (first >= 0) return position + first;
	}
	return -1;
}

/** Index of the first such byte; -1 for none. */
export function firstText(bytes: Buffer): number {
	for (let at = 0; at < bytes.length; at++) if (bytes[at] > SPACE) return at;
	return -1;
}

/** Yields the stretches of a range that hold no NUL, in order, with one buffer in memory whatever the length. Reads block. */
export function* stretchesWithoutNul(reader: ByteReader, from: number, to: number): Generator<Stretch> {
	let open = -1;
	for (const { bytes, position } of steps(reader, from, to)) {
		for (let at = 0; at < bytes.length; ) {
			if (open < 0) {
				while (at < bytes.length && bytes[at] === NUL) at++;
				if (at < bytes.length) open = position + at;
			} else {
				const nul = bytes.indexOf(NUL, at);
				if (nul < 0) break;
				yield { start: open, end: position + nul };
				open = -1;
				at = nul;
			}
		}
	}
	if (open >= 0) yield { start: open, end: to };
}

function* steps(reader: ByteReader, from: number, to: number): Generator<{ bytes: Buffer; position: number }> {
	const buffer = Buffer.allocUnsafe(Math.min(STEP, Math.max(to - from, 1)));
	for (let position = from; position < to; ) {
		const n = reader.read(buffer.subarray(0, Math.min(buffer.length, to - position)), position);
		if (n === 0) return;
		yield { bytes: buffer.subarray(0, n), position };
		position += n;
	}
}
