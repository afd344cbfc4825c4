/** The main thread's half of the writers of all formats. */
import type { FormatWriter } from "../fork.js";
import type { FormatName } from "../record.js";
import { anthropicWriter } from "./anthropic/write.js";
import { claudeCodeWriter } from "./claude-code/write.js";
import { codexWriter } from "./codex/write.js";
import { openaiChatWriter } from "./openai-chat/write.js";
import { piWriter } from "./pi/write.js";

export const WRITERS: Readonly<Record<FormatName, FormatWriter>> = {
	pi: piWriter,
	"claude-code": claudeCodeWriter,
	codex: codexWriter,
	"openai-chat": openaiChatWriter,
	anthropic: anthropicWriter,
};
