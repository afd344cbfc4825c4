/** Pi: leaf to root, newest compaction, context edits, entries to messages, as the host builds its context. */
import { argumentsText, emptyContent, isObject } from "./text.mjs";

/** Entries of any version with ids and parents. */
function entriesOf(objects) {
	const [header] = objects;
	if ((header.version ?? 1) > 1) return objects.filter((e) => e.type !== "session");
	const list = objects.map((entry, n) => ({ ...entry, id: `#${n}`, parentId: n > 1 ? `#${n - 1}` : null }));
	for (const entry of list)
		if (entry.type === "compaction" && entry.firstKeptEntryIndex !== undefined)
			entry.firstKeptEntryId = `#${entry.firstKeptEntryIndex}`;
	return list.slice(1);
}

function pathOf(entries) {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const path = new Set();
	for (let entry = entries.at(-1); entry && !path.has(entry); entry = byId.get(entry.parentId)) path.add(entry);
	return [...path].reverse();
}

function selected(path) {
	const at = path.findLastIndex((entry) => entry.type === "compaction");
	if (at < 0) return path;
	const first = path.slice(0, at).findIndex((entry) => entry.id === path[at].firstKeptEntryId);
	const kept = first < 0 ? [] : path.slice(first, at).filter((e) => e.message?.role !== "system");
	return [path[at], ...kept.filter((e) => e.type !== "compaction"), ...path.slice(at + 1)];
}

function addParts(content, parts) {
	if (typeof parts === "string") content.texts.push(parts);
	if (!Array.isArray(parts)) return content;
	for (const part of parts) {
		if (part.type === "text") content.texts.push(part.text);
		else if (part.type === "thinking") content.texts.push(part.thinking);
		else if (part.type === "image") content.images++;
		else if (part.type === "toolCall") {
			content.calls++;
			content.texts.push(part.name, ...argumentsText(part.arguments));
		}
	}
	return content;
}

function systemContent(message) {
	const content = addParts(emptyContent(), message.content);
	for (const section of Object.values(message.sections ?? {}))
		if (typeof section === "string") content.texts.push(section);
	if (message.toolsAdded) content.texts.push(JSON.stringify(message.toolsAdded));
	return content;
}

const ROLES = {
	user: "user",
	assistant: "assistant",
	toolResult: "tool_result",
	bashExecution: "bash",
	custom: "custom",
	hookMessage: "custom",
	branchSummary: "summary",
	compactionSummary: "summary",
	system: "system",
};

function messageOf(message) {
	const role = ROLES[message.role] ?? "other";
	if (role === "system") return { role, sent: true, content: systemContent(message) };
	const content = addParts(emptyContent(), message.content);
	if (role === "bash") content.texts.push(message.command ?? "", message.output ?? "");
	if (role === "summary") content.texts.push(message.summary);
	if (role === "tool_result") content.results++;
	const failed = role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");
	const sent = !failed && message.excludeFromContext !== true;
	const calls = Array.isArray(message.content)
		? message.content.filter((p) => p.type === "toolCall").map((p) => p.id)
		: [];
	return { role, sent, content, calls, answers: message.toolCallId };
}

function messagesOf(entry) {
	if (entry.type === "message" && isObject(entry.message)) return [messageOf(entry.message)];
	if (entry.type === "custom_message") return [messageOf({ role: "custom", content: entry.content })];
	if (entry.type === "branch_summary" && entry.summary)
		return [messageOf({ role: "branchSummary", summary: entry.summary })];
	if (entry.type === "compaction") {
		const summary = messageOf({ role: "compactionSummary", summary: entry.summary });
		return entry.systemMessage ? [messageOf(entry.systemMessage), summary] : [summary];
	}
	return [];
}

const EDITABLE = new Set(["user", "assistant", "toolResult", "custom"]);

function edited(entry, edit) {
	const role = entry.type === "custom_message" ? "custom" : entry.message?.role;
	if (!edit || !(EDITABLE.has(role) || edit.replacement === null)) return messagesOf(entry);
	if (edit.replacement === null) return [];
	const { content } = edit.replacement;
	return messagesOf(
		entry.type === "custom_message" ? { ...entry, content } : { ...entry, message: { ...entry.message, content } },
	);
}

export function pi(objects) {
	const list = selected(pathOf(entriesOf(objects)));
	const edits = new Map(list.filter((e) => e.type === "context_edit").map((e) => [e.targetId, e]));
	const messages = list.flatMap((entry) => edited(entry, edits.get(entry.id)));
	// A failed answer that was given a result all the same is sent.
	messages.forEach((message, i) => {
		const next = messages[i + 1];
		if (!message.sent && message.calls?.length && message.calls.includes(next?.answers)) message.sent = true;
	});
	return messages;
}
