/** The readers of all formats, for workers. */
import type { FormatName } from "../record.js";
import { anthropicReader } from "./anthropic/read.js";
import { claudeCodeReader } from "./claude-code/read.js";
import { codexReader } from "./codex/read.js";
import type { FormatReader } from "./format.js";
import { openaiChatReader } from "./openai-chat/read.js";
import { piReader } from "./pi/read.js";

/** In the order in which a tie of detection is decided (RULINGS 23: OpenAI chat before Anthropic). */
export const READERS: readonly FormatReader[] = [
	piReader,
	claudeCodeReader,
	codexReader,
	openaiChatReader,
	anthropicReader,
];

export function readerOf(name: FormatName): FormatReader {
	const reader = READERS.find((r) => r.name === name);
	if (!reader) throw new TypeError(`no reader for ${name}`);
	return reader;
}
