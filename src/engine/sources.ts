/** From what a caller gives — a path, a message list — to a source that workers can read. */
import { access, constants, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { MidcompactError } from "../errors.js";
import { breathe } from "../session/breathe.js";
import type { SourceSpec } from "../session/source.js";

/** Bytes that are made between two turns of the event loop. */
const BYTES_AT_ONCE = 1 << 20;

/** A file as a source, frozen at its size now. Errors: `unreadable`, `not_a_session`. */
export async function fileSource(path: string): Promise<SourceSpec> {
	if (path === "") throw new MidcompactError("unreadable", "The path of the session file is empty.");
	const absolute = resolve(path);
	const found = await stat(absolute).catch((cause: NodeJS.ErrnoException) => {
		throw new MidcompactError("unreadable", `${path} cannot be opened: ${reasonOf(cause)}.`, undefined, cause);
	});
	if (found.isDirectory()) throw new MidcompactError("not_a_session", `${path} is a directory, not a session file.`);
	if (!found.isFile())
		throw new MidcompactError("not_a_session", `${path} is no regular file; a session is read more than once.`);
	if (found.size === 0) throw new MidcompactError("not_a_session", `${path} is empty.`);
	await access(absolute, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
		throw new MidcompactError("unreadable", `${path} cannot be read: ${reasonOf(cause)}.`, undefined, cause);
	});
	return { kind: "file", path: absolute, size: found.size, device: found.dev, inode: found.ino };
}

/** Why the system refused, in words: `ENOENT: no such file or directory, stat …` without the call. */
function reasonOf(cause: NodeJS.ErrnoException): string {
	return cause.message.split(",")[0].replace(/^[A-Z]+: /, "");
}

/** Bytes that were appended to a file since it was frozen; 0 for memory. */
export async function grownBy(spec: SourceSpec): Promise<number> {
	if (spec.kind === "memory") return 0;
	const now = await stat(spec.path).catch(() => null);
	return now === null ? 0 : Math.max(0, now.size - spec.size);
}

/**
 * A message list as a source: one JSON line a message, in memory that all threads share. Errors: `not_a_session` when a message is no object or has no
 * JSON form.
 */
export async function memorySource(messages: readonly unknown[]): Promise<SourceSpec> {
	if (messages.length === 0) throw new MidcompactError("not_a_session", "The message list is empty.");
	const lines: Buffer[] = [];
	let size = 0;
	let breathedAt = 0;
	for (const [index, message] of messages.entries()) {
		// By bytes, not by messages: one of them may be large.
		if (size - breathedAt > BYTES_AT_ONCE) {
			breathedAt = size;
			await breathe();
		}
		const line = Buffer.from(`${lineOf(message, index)}\n`);
		lines.push(line);
		size += line.length;
	}
	const bytes = new SharedArrayBuffer(size);
	const target = new Uint8Array(bytes);
	let at = 0;
	for (const line of lines) {
		target.set(line, at);
		at += line.length;
	}
	return { kind: "memory", bytes, size };
}

function lineOf(message: unknown, index: number): string {
	if (typeof message !== "object" || message === null || Array.isArray(message)) {
		throw new MidcompactError("not_a_session", `Message ${index} of the list is not an object.`);
	}
	let line: unknown;
	try {
		line = JSON.stringify(message);
	} catch (cause) {
		throw new MidcompactError("not_a_session", `Message ${index} of the list has no JSON form.`, undefined, cause);
	}
	if (typeof line !== "string" || !line.startsWith("{")) {
		throw new MidcompactError("not_a_session", `Message ${index} of the list is no object in JSON.`);
	}
	return line;
}
