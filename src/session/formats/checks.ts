/** Whether the host would resume a session, for all formats. */

import type { FormatName } from "../record.js";
import type { ResumeCheck } from "../resume.js";
import { anthropicCheck } from "./anthropic/check.js";
import { claudeCodeCheck } from "./claude-code/check.js";
import { codexCheck } from "./codex/check.js";
import { openaiChatCheck } from "./openai-chat/check.js";
import { piCheck } from "./pi/check.js";

export const CHECKS: Readonly<Record<FormatName, ResumeCheck>> = {
	pi: piCheck,
	"claude-code": claudeCodeCheck,
	codex: codexCheck,
	"openai-chat": openaiChatCheck,
	anthropic: anthropicCheck,
};
