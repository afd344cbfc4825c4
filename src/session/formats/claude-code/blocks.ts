/** Content blocks that no host takes back: empty text (claude-code#41729) and hollow thinking (claude-code#63147). */
import { isObject, type JsonValue } from "../../record.js";
import { MARK } from "./kinds.js";

export function isBlank(text: string): boolean {
	return !/\S/.test(text);
}

/** A text block without a word. */
export function isEmptyText(block: JsonValue): boolean {
	return isObject(block) && block.type === "text" && typeof block.text === "string" && isBlank(block.text);
}

/** A thinking block that is a signature and nothing else. */
export function isHollowThinking(block: JsonValue): boolean {
	return isObject(block) && block.type === "thinking" && block.thinking === "";
}

/** Whether a fork leaves a block out. */
export function isEmptyBlock(block: JsonValue): boolean {
	return isEmptyText(block) || isHollowThinking(block);
}

/** Bits of `MARK` for the content of a message line. */
export function contentMarks(content: JsonValue | undefined): number {
	if (typeof content === "string") return isBlank(content) ? MARK.HOLLOW : 0;
	if (!Array.isArray(content)) return 0;
	const last = content.findLast((block) => !isEmptyBlock(block));
	if (last === undefined) return MARK.HOLLOW;
	if (!isThinking(last)) return 0;
	const only = content.every((block) => isThinking(block) || isEmptyBlock(block));
	return only ? MARK.ENDS_THINKING | MARK.ONLY_THINKING : MARK.ENDS_THINKING;
}

function isThinking(block: JsonValue): boolean {
	return isObject(block) && (block.type === "thinking" || block.type === "redacted_thinking");
}
