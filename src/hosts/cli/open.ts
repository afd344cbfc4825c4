/** Opening a session for one command, with a progress bar and a clean end. */
import { stat } from "node:fs/promises";
import type { Session } from "../../engine/session.js";
import { openSession } from "../../engine.js";
import { asMidcompactError } from "../../errors.js";
import { handleRequest } from "../../facade/handle.js";
import type { Reply } from "../../facade/reply.js";
import type { Words } from "../../facade/words.js";
import { resolveSession } from "./agent-folders.js";
import type { SessionOptions } from "./options.js";
import { progressBar } from "./progress-bar.js";
import type { Shell } from "./shell.js";

/** Bytes of a session whose tokens are counted within about a second. */
export const SMALL_SESSION = 8_000_000;

/**
 * Opens the session that `name` stands for, waits for its tokens with `--wait` or when it has at most `countUpTo` bytes, runs `work` and closes. Every
 * failure is told by the shell. One command asks once, so no search index is built: a scan is done sooner.
 */
export async function withSession(
	shell: Shell,
	name: string,
	options: SessionOptions,
	work: (session: Session) => Promise<void>,
	countUpTo = 0,
): Promise<void> {
	const { format, scope, leaf, encoding, threads, json = false } = options;
	let bar = progressBar(false);
	let session: Session | null = null;
	try {
		const path = await resolveSession(name);
		// What cannot be seen is left for the engine to complain about.
		const bytes = (await stat(path).catch(() => null))?.size ?? Number.POSITIVE_INFINITY;
		const wait = options.wait === true || bytes <= countUpTo;
		bar = progressBar(wait);
		session = await openSession(path, {
			format,
			scope,
			leaf,
			encoding,
			threads,
			atAnchor: options.atAnchor,
			signal: shell.signal,
			onProgress: (progress) => bar.update(progress),
			background: { tokens: wait, index: false },
		});
		if (wait) await session.ready();
		bar.stop();
		if (!shell.interrupted) await work(session);
	} catch (thrown) {
		bar.stop();
		shell.fail(asMidcompactError(thrown), json);
	} finally {
		await session?.close();
	}
}

/** What a command asks of a session, the words of its answer, and up to how many bytes tokens are counted first. */
export interface Question {
	request: object;
	words: Words;
	countUpTo?: number;
}

/** Opens a session, asks it one request and prints the reply. */
export async function askSession(
	shell: Shell,
	name: string,
	options: SessionOptions,
	{ request, words, countUpTo }: Question,
): Promise<void> {
	const ask = async ({ survey }: Session) => {
		shell.printReply(await handleRequest(survey, { request }, words), options.json ?? false);
	};
	await withSession(shell, name, options, ask, countUpTo);
}

/** The data of a reply; a refusal is told and answers null. */
export function dataOf<D extends object>(shell: Shell, reply: Reply, json: boolean): D | null {
	if (reply.ok) return reply.data as D;
	shell.printReply(reply, json);
	return null;
}
