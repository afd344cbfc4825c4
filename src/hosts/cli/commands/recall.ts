/** `midcompact recall`: blocks of earlier commits, and their originals; also when the old session file is gone. */
import { access } from "node:fs/promises";
import type { Command } from "commander";
import { withArchiveOf } from "../../../engine/lost-session.js";
import { asMidcompactError } from "../../../errors.js";
import { listBlocks } from "../../../facade/recall-list.js";
import { readBlock } from "../../../facade/recall-read.js";
import { errorReply, okReply, type Reply } from "../../../facade/reply.js";
import { READ_BOUND, REPLY_BOUND } from "../../../facade/text.js";
import type { BlockArchive } from "../../../plan/archive.js";
import { resolveSession } from "../agent-folders.js";
import { withSession } from "../open.js";
import { integer, type SessionOptions, sessionOptions } from "../options.js";
import type { Shell } from "../shell.js";
import { cliWords } from "../words.js";

interface RecallOptions extends SessionOptions {
	full?: boolean;
	limit?: number;
}

const BLOCK = /^c\d{4,}$/;
/** Other ids that are taken for a block's when no block has such a text: `c1`, an atom, a range, a label. */
const OTHER_ID = /^[acdg]\d+(?:\.\d+)?$/i;

export function addRecall(program: Command, shell: Shell): void {
	const command = program
		.command("recall")
		.description("List the blocks of earlier commits, or show the originals of one.")
		.argument("<session>", "path, session id or unique prefix of one: the new session or the old one, gone or not")
		.argument("[what]", "a block id such as c0001, or a text to look for in ids, topics and summaries")
		.option("--full", "as much of the originals as a reply holds")
		.option("--limit <n>", "blocks to list, 1-20", integer)
		.addHelpText(
			"after",
			"\nExamples:\n  midcompact recall session.jsonl\n  midcompact recall session.jsonl parser\n  midcompact recall session.jsonl c0001 --full",
		);
	sessionOptions(command).action(async (name: string, what: string | undefined, options: RecallOptions) => {
		const answer = async (archive: BlockArchive | null) =>
			shell.printReply(await recalled(archive, what, options), options.json ?? false);
		const gone = await isGone(name);
		if (gone !== null && (await withArchiveOf(gone, answer))) return;
		await withSession(shell, name, options, ({ survey }) => answer(survey.archive));
	});
}

async function recalled(
	archive: BlockArchive | null,
	what: string | undefined,
	options: RecallOptions,
): Promise<Reply> {
	try {
		if (what !== undefined && BLOCK.test(what)) {
			const detail = options.full ? "full" : "brief";
			return okReply("recall_read", await readBlock(archive, { block: what, detail }, cliWords()), READ_BOUND);
		}
		const { limit } = options;
		const found = await listBlocks(archive, { pattern: what, limit }, cliWords());
		if (found.data.total === 0 && what !== undefined && OTHER_ID.test(what))
			await readBlock(archive, { block: what }, cliWords());
		return okReply("recall_list", found, REPLY_BOUND);
	} catch (thrown) {
		return errorReply(asMidcompactError(thrown));
	}
}

/** What was named, when no session of that name can be found; null when one can. */
async function isGone(name: string): Promise<string | null> {
	const path = await resolveSession(name).catch(() => null);
	if (path === null) return name;
	const there = await access(path).then(
		() => true,
		(cause: NodeJS.ErrnoException) => cause.code !== "ENOENT",
	);
	return there ? null : path;
}
