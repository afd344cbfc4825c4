/** The text of a message that replaces a range: mark, summary, and how the originals come back (RULINGS 16). Pure. */
import { mendedText } from "../session/well-formed.js";

export interface BlockParts {
	/** `c0001`… */
	block: string;
	/** One line; empty: none. */
	topic: string;
	summary: string;
}

/** A topic may hold a `]`: the last one of the line ends the mark. */
const MARK = /^\[midcompact block (c\d{4,})(?:: ([^\n]*))?\](?:\r?\n|$)/;
const RECALL_START = "\n\n(Originals: call the tool midcompact with ";
/** Groups: the block id, twice. */
const RECALL =
	/^(\{"request":\{"action":"recall_read","block":"(c\d{4,})"\}\}), or run midcompact recall [^\n]+ \2\)\s*$/;
const BLANKS = /[\s\p{Cc}]+/gu;

/** In place of an id that only the commit makes: as many characters and tokens as the UUIDs of sessions have. */
export const SESSION_TO_COME = "3f2b8c1d-7a64-4e9b-b5d0-1c8e9f6a2d47";
/** Stands for a session that has no id to name it by. */
const ANY_SESSION = "SESSION";

/** `session`: the id or file that names the new session on a command line; null where it has none. The text is well-formed, the topic on one line. */
export function blockText({ block, topic, summary, session }: BlockParts & { session: string | null }): string {
	const named = topic.replace(BLANKS, " ").trim();
	const mark = named === "" ? `[midcompact block ${block}]` : `[midcompact block ${block}: ${named}]`;
	const request = JSON.stringify({ request: { action: "recall_read", block } });
	const recall = `${RECALL_START}${request}, or run midcompact recall ${shellWord(session)} ${block})`;
	return mendedText(`${mark}\n${summary}${recall}`);
}

/** What a block's text says; null for any other text. A text without the last paragraph is a block too: then all behind the mark is the summary. */
export function parseBlockText(text: string): BlockParts | null {
	const mark = MARK.exec(text);
	if (!mark) return null;
	const [line, block, topic = ""] = mark;
	const rest = text.slice(line.length);
	const at = rest.lastIndexOf(RECALL_START);
	const isOurs = at >= 0 && RECALL.exec(rest.slice(at + RECALL_START.length))?.[2] === block;
	return { block, topic, summary: isOurs ? rest.slice(0, at) : rest };
}

/** A session id comes out of a file and may be anything: as one word of a shell, or no id at all. */
function shellWord(session: string | null): string {
	if (session === null || session === "" || /[\p{Cc}\u2028\u2029]/u.test(session)) return ANY_SESSION;
	return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(session) ? session : `'${session.replaceAll("'", "'\\''")}'`;
}
