/** Where bytes come from: a file whose ranges can be read again at any time, or a message list that a host holds in memory. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { MidcompactError } from "../errors.js";

/** A source as it crosses thread borders. `size` is the frozen length in bytes: nothing behind it is read. */
export type SourceSpec =
	| { kind: "file"; path: string; size: number; device: number; inode: number }
	| { kind: "memory"; bytes: SharedArrayBuffer; size: number };

/** Reads byte ranges of one source. Not for the main thread: reads block. */
export interface ByteReader {
	readonly size: number;
	/**
	 * Fills `target` from `position` on; returns the number of bytes, less than asked only where `size` ends. Errors: `unreadable` when the source has
	 * become shorter than that.
	 */
	read(target: Uint8Array, position: number): number;
	close(): void;
}

/** Opens a source. Errors: `unreadable` when the file went away, was replaced or became shorter since it was opened. */
export function openReader(spec: SourceSpec): ByteReader {
	return spec.kind === "file" ? new FileReader(spec) : new MemoryReader(spec.bytes, spec.size);
}

class FileReader implements ByteReader {
	readonly size: number;
	readonly #fd: number;
	readonly #path: string;

	constructor(spec: Extract<SourceSpec, { kind: "file" }>) {
		this.size = spec.size;
		this.#path = spec.path;
		try {
			this.#fd = openSync(spec.path, "r");
		} catch (cause) {
			throw new MidcompactError(
				"unreadable",
				`The session file ${spec.path} can no longer be opened.`,
				undefined,
				cause,
			);
		}
		const now = fstatSync(this.#fd);
		if (now.ino !== spec.inode || now.dev !== spec.device || now.size < spec.size) {
			closeSync(this.#fd);
			throw replaced(spec.path);
		}
	}

	read(target: Uint8Array, position: number): number {
		const wanted = Math.max(Math.min(target.length, this.size - position), 0);
		let filled = 0;
		while (filled < wanted) {
			const n = readSync(this.#fd, target, filled, wanted - filled, position + filled);
			if (n === 0) throw replaced(this.#path);
			filled += n;
		}
		return filled;
	}

	close(): void {
		closeSync(this.#fd);
	}
}

function replaced(path: string): MidcompactError {
	return new MidcompactError("unreadable", `The session file ${path} was replaced or cut while it was open.`);
}

class MemoryReader implements ByteReader {
	readonly size: number;
	readonly #bytes: Uint8Array;

	constructor(bytes: SharedArrayBuffer, size: number) {
		this.#bytes = new Uint8Array(bytes, 0, size);
		this.size = size;
	}

	read(target: Uint8Array, position: number): number {
		const part = this.#bytes.subarray(position, Math.min(position + target.length, this.size));
		target.set(part);
		return part.length;
	}

	close(): void {}
}
