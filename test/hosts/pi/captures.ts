/** What Pi's context hook was given, in the shape in which a test compares it. */
import { readFileSync } from "node:fs";
import type { Seen } from "../../formats/pi/view.js";

interface Part {
	type: string;
	id: string;
	text: string;
	thinking: string;
	name: string;
	arguments: unknown;
}
interface Message {
	role: string;
	content: string | Part[];
	summary: string;
	command: string;
	output: string;
	toolCallId: string;
	stopReason?: string;
	excludeFromContext?: boolean;
}

export type Compared = Pick<Seen, "role" | "texts" | "calls" | "answers" | "images" | "sent">;

export interface Capture {
	/** Id of the leaf at that moment. */
	leaf: string;
	list: Compared[];
}

const ROLES: Record<string, string> = {
	toolResult: "tool_result",
	bashExecution: "bash",
	branchSummary: "summary",
	compactionSummary: "summary",
};

export function readCaptures(path: string): Capture[] {
	const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
	return lines.map((line) => {
		const { leaf, messages } = JSON.parse(line) as { leaf: string; messages: Message[] };
		return { leaf, list: messages.map(compared) };
	});
}

function compared(message: Message): Compared {
	const parts = Array.isArray(message.content) ? message.content : [];
	const calls = parts.filter((part) => part.type === "toolCall");
	return {
		role: ROLES[message.role] ?? message.role,
		texts: textsOf(message),
		calls: calls.map((call) => call.id),
		answers: message.role === "toolResult" ? [message.toolCallId] : [],
		images: parts.filter((part) => part.type === "image").length,
		sent: !["error", "aborted"].includes(message.stopReason ?? "") && !message.excludeFromContext,
	};
}

function textsOf(message: Message): string[] {
	if (message.role === "bashExecution") return [message.command, message.output];
	if (message.role.endsWith("Summary")) return [message.summary];
	if (typeof message.content === "string") return [message.content];
	return message.content.flatMap((part) => {
		if (part.type === "text") return [part.text];
		if (part.type === "thinking") return [part.thinking];
		return part.type === "toolCall" ? [part.name, JSON.stringify(part.arguments)] : [];
	});
}
