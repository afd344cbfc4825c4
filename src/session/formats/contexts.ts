/** The main thread's half of all formats. */
import type { FormatName } from "../record.js";
import { anthropicContext } from "./anthropic/context.js";
import { claudeCodeContext } from "./claude-code/context.js";
import { codexContext } from "./codex/context.js";
import type { FormatContext } from "./format.js";
import { openaiChatContext } from "./openai-chat/context.js";
import { piContext } from "./pi/context.js";

export const CONTEXTS: Readonly<Record<FormatName, FormatContext>> = {
	pi: piContext,
	"claude-code": claudeCodeContext,
	codex: codexContext,
	"openai-chat": openaiChatContext,
	anthropic: anthropicContext,
};
