/**
 * The outer form of an archive: a gzip file (`zcat` reads it) of many small members, so that any byte of its content can be reached without what stands before it, and a last member with
 * the SHA-256 of all bytes before that. The hash is taken of the compressed bytes: gzip has bits that no content depends on, and a flip of those is damage too.
 * For workers: everything blocks.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import type { ByteReader } from "../session/source.js";
import { archiveDamaged } from "./archive-file.js";

/** Bytes of content in every member but the last one. */
const MEMBER = 1 << 20;
/** gzip with an extra field (RFC 1952, 2.3.1.1): a subfield `MC` of 4 bytes, the length of the whole member. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x4d, 0x43, 4, 0, 0, 0, 0, 0]);
const LENGTH_AT = 16;
/** CRC-32 and length of the content. */
const TAIL = 8;
/** What deflate adds to content that it cannot shrink, at most. */
const WORST = MEMBER + 4096;
/** On sessions about twice as fast as the default level, for files a fifth larger. */
const LEVEL = 3;

/** Takes content, gives the bytes of the archive to `write`. */
export class MemberWriter {
	readonly #write: (bytes: Uint8Array) => void;
	readonly #sum = createHash("sha256");
	readonly #content = Buffer.allocUnsafe(MEMBER);
	#used = 0;

	constructor(write: (bytes: Uint8Array) => void) {
		this.#write = write;
	}

	put(bytes: Uint8Array): void {
		for (let done = 0; done < bytes.length; ) {
			const part = bytes.subarray(done, done + MEMBER - this.#used);
			this.#content.set(part, this.#used);
			this.#used += part.length;
			done += part.length;
			if (this.#used === MEMBER) this.#flush();
		}
	}

	end(): void {
		if (this.#used > 0) this.#flush();
		this.#write(lastMember(this.#sum.digest("hex")));
	}

	#flush(): void {
		const content = this.#content.subarray(0, this.#used);
		const bytes = memberOf(content, deflateRawSync(content, { level: LEVEL }));
		this.#sum.update(bytes);
		this.#write(bytes);
		this.#used = 0;
	}
}

/** Content of an archive file. Close it. */
export class MemberReader implements ByteReader {
	readonly #block: string;
	readonly #fd: number;
	/** Bytes before the last member. */
	readonly #end: number;
	/** Offsets of the members found so far, and of what follows them. */
	readonly #offsets = [0];
	#loaded: { number: number; content: Buffer } | null = null;

	/** Errors: `archive_damaged` for a file that is missing, cannot be read or has no last member. */
	constructor(path: string, block: string) {
		this.#block = block;
		try {
			this.#fd = openSync(path, "r");
		} catch (cause) {
			const { code } = cause as NodeJS.ErrnoException;
			throw archiveDamaged(
				block,
				code === "ENOENT" ? "the archive is missing" : `the archive cannot be opened (${code})`,
			);
		}
		this.#end = fstatSync(this.#fd).size - LAST_MEMBER;
		try {
			const last = this.#bytes(this.#end, LAST_MEMBER);
			if (!last.equals(lastMember(hashIn(last))))
				throw archiveDamaged(block, "the archive does not end as it was written");
		} catch (thrown) {
			this.close();
			throw thrown;
		}
	}

	/** Bytes of content. Errors: `archive_damaged`. */
	get size(): number {
		let last = 0;
		while (this.#offsetOf(last + 1) !== null) last++;
		return last === 0 ? 0 : (last - 1) * MEMBER + this.#load(last - 1).length;
	}

	/** Whether every byte is the one that was written. Reads the whole file. Errors: `archive_damaged` when not. */
	verify(pause: () => void): void {
		const sum = createHash("sha256");
		for (let at = 0; at < this.#end; at += MEMBER) {
			pause();
			sum.update(this.#bytes(at, Math.min(MEMBER, this.#end - at)));
		}
		const last = lastMember(sum.digest("hex"));
		if (!this.#bytes(this.#end, LAST_MEMBER).equals(last))
			throw archiveDamaged(this.#block, "it is not what was written");
	}

	/** Errors: `archive_damaged`. */
	read(target: Uint8Array, position: number): number {
		let filled = 0;
		while (filled < target.length) {
			const number = Math.floor((position + filled) / MEMBER);
			if (this.#offsetOf(number + 1) === null) break;
			const from = position + filled - number * MEMBER;
			const part = this.#load(number).subarray(from, from + target.length - filled);
			if (part.length === 0) break;
			target.set(part, filled);
			filled += part.length;
		}
		return filled;
	}

	close(): void {
		closeSync(this.#fd);
	}

	/** Where a member starts, or where the one before it ends; null behind the end. */
	#offsetOf(number: number): number | null {
		while (this.#offsets.length <= number) {
			const at = this.#offsets[this.#offsets.length - 1];
			if (at >= this.#end) return null;
			const head = this.#bytes(at, HEAD.length);
			const length = head.readUInt32LE(LENGTH_AT);
			const whole = length > HEAD.length + TAIL && length <= WORST && at + length <= this.#end;
			if (!whole || !head.subarray(0, LENGTH_AT).equals(HEAD.subarray(0, LENGTH_AT)))
				throw archiveDamaged(this.#block, "it is not what was written");
			this.#offsets.push(at + length);
		}
		return this.#offsets[number];
	}

	#load(number: number): Buffer {
		if (this.#loaded?.number !== number) this.#loaded = { number, content: this.#inflated(number) };
		return this.#loaded.content;
	}

	#inflated(number: number): Buffer {
		const at = this.#offsets[number];
		const bytes = this.#bytes(at, this.#offsets[number + 1] - at);
		try {
			const tail = bytes.length - TAIL;
			const content = inflateRawSync(bytes.subarray(HEAD.length, tail), { maxOutputLength: MEMBER });
			if (crc32(content) === bytes.readUInt32LE(tail) && content.length === bytes.readUInt32LE(tail + 4))
				return content;
		} catch {
			// Told below.
		}
		throw archiveDamaged(this.#block, "it is not what was written");
	}

	#bytes(at: number, length: number): Buffer {
		const bytes = Buffer.allocUnsafe(length);
		let filled = 0;
		try {
			while (at >= 0 && filled < length) {
				const n = readSync(this.#fd, bytes, filled, length - filled, at + filled);
				if (n === 0) break;
				filled += n;
			}
		} catch (cause) {
			throw archiveDamaged(this.#block, "the archive cannot be read", cause);
		}
		if (filled < length) throw archiveDamaged(this.#block, "the archive is cut off");
		return bytes;
	}
}

function memberOf(content: Uint8Array, deflated: Uint8Array): Buffer {
	const bytes = Buffer.concat([HEAD, deflated, Buffer.alloc(TAIL)]);
	bytes.writeUInt32LE(bytes.length, LENGTH_AT);
	bytes.writeUInt32LE(crc32(content), bytes.length - TAIL);
	bytes.writeUInt32LE(content.length, bytes.length - TAIL + 4);
	return bytes;
}

/** The last member is one stored block (RFC 1951, 3.2.4), so that its length never varies. */
function lastMember(hash: string): Buffer {
	const line = Buffer.from(`{"sha256":"${hash}"}\n`);
	const stored = Buffer.alloc(5);
	stored[0] = 1;
	stored.writeUInt16LE(line.length, 1);
	stored.writeUInt16LE(line.length ^ 0xffff, 3);
	return memberOf(line, Buffer.concat([stored, line]));
}

const LAST_MEMBER = lastMember("0".repeat(64)).length;

function hashIn(last: Buffer): string {
	const start = HEAD.length + 5 + '{"sha256":"'.length;
	return last.toString("latin1", start, start + 64);
}
