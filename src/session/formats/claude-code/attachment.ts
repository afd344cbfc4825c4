/** What of an attachment the host sends (RULINGS 6): `rendered` where the line has it, else the text that its kind stores. Fields: NOTES.md. */
import { imagePart } from "../../image.js";
import { jsonText } from "../../json-text.js";
import { isObject, type JsonObject, type JsonValue, type Part, stringOrNull } from "../../record.js";
import { contentParts } from "./content.js";

/** A way from the attachment to its text: keys, and `*` for every element of a list. */
type Path = readonly string[];

/** Where the kinds of older files keep the text that is sent; a kind that is not listed here stores none. */
const STORED: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
	["agent_listing_delta", [["addedLines", "*"]]],
	[
		"async_hook_response",
		[
			["response", "systemMessage"],
			["response", "hookSpecificOutput", "additionalContext"],
		],
	],
	["batching_reminder_sent", [["text"]]],
	["critical_system_reminder", [["content"]]],
	["date_change", [["newDate"]]],
	["deferred_tools_delta", [["addedLines", "*"]]],
	["diagnostics", [["files", "*", "diagnostics", "*", "message"]]],
	["directory", [["content"]]],
	["edited_text_file", [["snippet"]]],
	["hook_additional_context", [["content"], ["content", "*"]]],
	["hook_blocking_error", [["blockingError", "blockingError"]]],
	["hook_stopped_continuation", [["message"]]],
	["hook_success", [["content"]]],
	["invoked_skills", [["skills", "*", "content"]]],
	["mcp_instructions_delta", [["addedBlocks", "*"]]],
	["mcp_resource", [["content", "contents", "*", "text"]]],
	["model", [["text"]]],
	["nested_memory", [["content", "content"]]],
	["plan_file_reference", [["planContent"]]],
	["read_truncation_notice", [["banner"]]],
	["relevant_memories", [["memories", "*", "content"]]],
	["selected_lines_in_ide", [["content"]]],
	["silent_turn_reminder", [["text"]]],
	["skill_listing", [["content"]]],
	["task_reminder", [["content", "*", "subject"]]],
	["task_status", [["description"], ["deltaSummary"]]],
	["teammate_mailbox", [["messages", "*", "text"]]],
	["todo_reminder", [["content", "*", "content"]]],
	["total_tokens_reminder", [["text"]]],
	["ultramemory", [["content"]]],
]);

/** The hooks whose output becomes context; that of any other is only shown. */
const SENDING_HOOKS: ReadonlySet<string> = new Set(["SessionStart", "UserPromptSubmit"]);

/** Parts of an attachment that hangs on another message. */
export function attachmentParts(attachment: JsonObject): Part[] {
	const { rendered } = attachment;
	if (Array.isArray(rendered))
		return rendered.flatMap((item) => contentParts(isObject(item) ? item.content : item, "reminder"));
	const kind = stringOrNull(attachment.type) ?? "";
	if (kind === "hook_success" && !SENDING_HOOKS.has(stringOrNull(attachment.hookEvent) ?? "")) return [];
	if (kind === "file" || kind === "edited_image_file" || kind === "already_read_file") return fileParts(attachment);
	return (STORED.get(kind) ?? []).flatMap((path) => contentParts(textsAt(attachment, path), "reminder"));
}

/** The words of a `queued_command`: what the person typed while the agent worked. */
export function queuedParts(attachment: JsonObject): Part[] {
	if (attachment.prompt !== undefined) return contentParts(attachment.prompt);
	const rendered = Array.isArray(attachment.rendered) ? attachment.rendered : [];
	return rendered.flatMap((item) => contentParts(isObject(item) ? item.content : item));
}

/** System prompt and tool declarations of a `prompt_snapshot`. */
export function snapshotParts(attachment: JsonObject): Part[] {
	const parts = contentParts(attachment.cliPrefix).concat(contentParts(attachment.systemPrompt));
	const { tools } = attachment;
	if (Array.isArray(tools) && tools.length > 0) parts.push({ type: "text", text: jsonText(tools), from: "own" });
	return parts;
}

/** A file that was mentioned or read again: `content` is what the read tool answered. */
function fileParts({ content }: JsonObject): Part[] {
	if (!isObject(content)) return contentParts(content, "reminder");
	const { type, file } = content;
	if (!isObject(file)) return [];
	if (type === "image" || typeof file.base64 === "string") {
		const mime = stringOrNull(file.type);
		if (type === "image") return [imagePart(mime, stringOrNull(file.base64), "reminder")];
		return [{ type: "opaque", what: mime ?? "file" }];
	}
	if (Array.isArray(file.cells)) return contentParts(textsAt(file, ["cells", "*", "source"]), "reminder");
	return contentParts(file.content, "reminder");
}

/** The strings at the end of a way; anything else there is left out. */
function textsAt(value: JsonValue | undefined, path: Path): string[] {
	const [key, ...rest] = path;
	if (key === undefined) return typeof value === "string" ? [value] : [];
	if (key === "*") return Array.isArray(value) ? value.flatMap((item) => textsAt(item, rest)) : [];
	return isObject(value) ? textsAt(value[key], rest) : [];
}
