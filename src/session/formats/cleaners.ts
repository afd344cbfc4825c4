/** The worker's half of the writers of all formats. */
import type { ForkCleaner } from "../fork.js";
import type { FormatName } from "../record.js";
import { anthropicCleaner } from "./anthropic/clean.js";
import { claudeCodeCleaner } from "./claude-code/clean.js";
import { codexCleaner } from "./codex/clean.js";
import { openaiChatCleaner } from "./openai-chat/clean.js";
import { piCleaner } from "./pi/clean.js";

export const CLEANERS: Readonly<Record<FormatName, ForkCleaner>> = {
	pi: piCleaner,
	"claude-code": claudeCodeCleaner,
	codex: codexCleaner,
	"openai-chat": openaiChatCleaner,
	anthropic: anthropicCleaner,
};
