/** The message that stands in place of a range, in Codex's own forms. */
import type { BlockMessage } from "../../fork.js";
import type { JsonObject } from "../../record.js";
import { mendedText } from "../../well-formed.js";

/** A response item. The field `midcompact` beside it, or in it, is kept by Codex and never sent (seen in 0.171). */
export function blockItem({ text }: BlockMessage, id: string): JsonObject {
	const content = [{ type: "input_text", text: mendedText(text) }];
	return { type: "message", id: `msg_${id}`, role: "user", content };
}

/** Its copy for the screen: Codex shows events, and sends items. */
export function blockEvent({ text }: BlockMessage, id: string, thread: string, turn: string, now: Date): JsonObject {
	return {
		type: "item_completed",
		thread_id: thread,
		turn_id: turn,
		item: { type: "UserMessage", id, content: [{ type: "text", text: mendedText(text), text_elements: [] }] },
		started_at_ms: now.getTime(),
		completed_at_ms: now.getTime(),
	};
}

export function blockTag({ block, topic }: BlockMessage): JsonObject {
	return { midcompact: { block, topic } };
}
