/** Texts that Codex writes into the conversation as user or developer messages (RULINGS 17); sources in NOTES.md. */

/** A text from the host: how it begins and how it ends, compared without case and without the white space around it. */
type Fragment = readonly [start: string, end: string];

const tag = (name: string): Fragment => [`<${name}>`, `</${name}>`];

/** What Codex itself takes for context and not for a user's turn. */
const CONTEXT_FRAGMENTS: readonly Fragment[] = [
	["# AGENTS.md instructions", "</INSTRUCTIONS>"],
	tag("environment_context"),
	tag("skill"),
	tag("user_shell_command"),
	tag("turn_aborted"),
	tag("subagent_notification"),
	tag("agent_message_board_notification"),
	tag("recommended_plugins"),
	tag("goal_context"),
	['<codex_internal_context source="', "</codex_internal_context>"],
	["<hook_prompt ", "</hook_prompt>"],
	["<external_", ">"],
	["Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command."],
	["Warning: The maximum number of unified exec processes you can keep open is", ""],
	["Warning: Your account was flagged for potentially high-risk cyber activity", ""],
];

/** Written by the host all the same, though Codex counts them as turns. */
const OTHER_FRAGMENTS: readonly Fragment[] = [
	tag("user_instructions"),
	tag("extension_context"),
	tag("image_resize_notice"),
	tag("user_verification_notice"),
	tag("user_action"),
	["Here is a list of plugins that are available but not installed.", ""],
];

const DEVELOPER_PREFIXES: readonly string[] = [
	"<permissions instructions>",
	"<model_switch>",
	"<collaboration_mode>",
	"<multi_agent_mode>",
	"<realtime_conversation>",
	"<skills_instructions>",
	"<personality_spec>",
	"<token_budget>",
	"<token_budget_reminder>",
	"<context_window>",
	"<context_window_guidance>",
	"<rollout_budget>",
];

/** First sentences of the message that a compaction leaves: of today's, and of the bridge of autumn 2025. */
const SUMMARY_SENTENCE =
	"Another language model started to solve this problem and produced a summary of its thinking process.";
const BRIDGE_SENTENCE =
	"You were originally given instructions from a user over one or more turns. Here were the user messages:";

/** Whether Codex takes the text of a user message for context: a message with such a text starts no turn. */
export function isContextFragment(text: string): boolean {
	return matchesAny(text, CONTEXT_FRAGMENTS);
}

/** Whether no person typed the text of a user message. */
export function isHostText(text: string): boolean {
	return matchesAny(text, CONTEXT_FRAGMENTS) || matchesAny(text, OTHER_FRAGMENTS);
}

/**
 * The same by the kind that newer versions store beside each content item (`content_item_kinds`), such as `user.text` or
 * `environments.environment_context`; null when the kind does not say.
 */
export function isHostKind(kind: unknown): boolean | null {
	if (typeof kind !== "string" || kind === "unknown") return null;
	return !kind.startsWith("user.") || kind === "user.heartbeat";
}

/** Whether a developer text is context of a turn, which a rollback of the turn takes along. */
export function isDeveloperContext(text: string): boolean {
	const trimmed = text.trimStart();
	return DEVELOPER_PREFIXES.some((prefix) => startsWith(trimmed, prefix));
}

/** Whether a user message is the summary of a compaction. */
export function isSummaryText(text: string): boolean {
	return text.startsWith(SUMMARY_SENTENCE) || text.startsWith(BRIDGE_SENTENCE);
}

/** What the model wrote of the `message` of a compaction: newer versions put one line of their own before it. */
export function writtenSummary(message: string): string {
	return message.startsWith(SUMMARY_SENTENCE) ? message.slice(message.indexOf("\n") + 1) : message;
}

const SHELL_COMMAND =
	/^\s*<user_shell_command>\s*<command>\n?([\s\S]*?)\n?<\/command>\s*<result>\n?([\s\S]*?)\n?<\/result>\s*<\/user_shell_command>\s*$/i;

/** Command and result of a shell command that the user ran (`!command`); null for any other text. */
export function userShellCommand(text: string): { command: string; output: string } | null {
	if (!startsWith(text.trimStart(), "<user_shell_command>")) return null;
	const found = SHELL_COMMAND.exec(text);
	return found ? { command: found[1], output: found[2] } : null;
}

function matchesAny(text: string, fragments: readonly Fragment[]): boolean {
	const trimmed = text.trim();
	return fragments.some(([start, end]) => startsWith(trimmed, start) && endsWith(trimmed, end));
}

function startsWith(text: string, start: string): boolean {
	return text.slice(0, start.length).toLowerCase() === start.toLowerCase();
}

function endsWith(text: string, end: string): boolean {
	return end === "" || text.slice(-end.length).toLowerCase() === end.toLowerCase();
}
