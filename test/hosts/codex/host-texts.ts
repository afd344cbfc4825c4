/** User texts on both sides of a line that Codex draws. */

/** Texts that start no turn, and some that look like them and do. */
export const CONTEXT_TEXTS = [
	"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
	"<environment_context>a</environment_context>",
	"<skill>\n<name>x</name>\n</skill>",
	"<user_shell_command>\nls\n</user_shell_command>",
	"<turn_aborted>\nx\n</turn_aborted>",
	"<subagent_notification>{}</subagent_notification>",
	"<agent_message_board_notification>a</agent_message_board_notification>",
	"<recommended_plugins>a</recommended_plugins>",
	"<goal_context>a</goal_context>",
	'<codex_internal_context source="user_goal">\nx\n</codex_internal_context>',
	'<hook_prompt hook_run_id="h">x</hook_prompt>',
	"<external_foo>x</external_foo>",
	"Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
	"Warning: The maximum number of unified exec processes you can keep open is 60.",
];
export const TURN_TEXTS = [
	"# AGENTS.md instructions\n\nhello",
	"<environment_context> is what?",
	"<user_instructions>a</user_instructions>",
	"<image_resize_notice>a</image_resize_notice>",
	"typed",
];
