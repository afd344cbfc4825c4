/** The text of a message that replaces a range: mark, summary, and how the originals come back (RULINGS 16). */

export interface BlockParts {
	/** `c0001`… */
	block: string;
	topic: string;
	summary: string;
}

const MARK = /^\[midcompact block (c\d{4,})(?:: ([^\r\n]*))?\](?:\r?\n|$)/;
const RECALL_START = "\n\n(Originals: midcompact ";
const RECALL =
	/\n\n\(Originals: midcompact \{"request":\{"action":"recall_read","block":"c\d{4,}"\}\}, or on a command line: midcompact recall [^\n]*\)$/;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Stands for a session that has no id to name it by. */
const ANY_SESSION = "SESSION";

/** `session`: the id that names the new session on a command line; null where it has none. The text is well-formed, the topic on one line. */
export function blockText({ block, topic, summary, session }: BlockParts & { session: string | null }): string {
	const named = topic.replace(/[\s\p{Cc}]+/gu, " ").trim();
	const mark = named === "" ? `[midcompact block ${block}]` : `[midcompact block ${block}: ${named}]`;
	const request = JSON.stringify({ request: { action: "recall_read", block } });
	const recall = `${RECALL_START}${request}, or on a command line: midcompact recall ${session ?? ANY_SESSION} ${block})`;
	return `${mark}\n${summary}${recall}`.replace(LONE_SURROGATE, "\ufffd");
}

/** What a block's text says; null for any other text. A text without the last paragraph is a block too: then all behind the mark is the summary. */
export function parseBlockText(text: string): BlockParts | null {
	const mark = MARK.exec(text);
	if (!mark) return null;
	const rest = text.slice(mark[0].length);
	const at = rest.lastIndexOf(RECALL_START);
	const summary = at >= 0 && RECALL.test(rest.slice(at)) ? rest.slice(0, at) : rest;
	return { block: mark[1], topic: mark[2] ?? "", summary };
}
