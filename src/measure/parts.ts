/** What is measured of a row while it is read for the first time. */

import { codePoints } from "../session/code-points.js";
import { contentTexts, FLAG, type Part, type RecordFacts } from "../session/record.js";
import type { RowMeasure } from "../session/table.js";

/** First line of a message that replaces a range: `[midcompact block c0001]` or `[midcompact block c0001: TOPIC]` (RULINGS 16). */
const BLOCK_MARK = /^\[midcompact block c\d{4,}(?:: [^\n]*)?\](?:\r?\n|$)/;

/** Code points of the content and the flags that follow from the parts. */
export function measureParts(facts: RecordFacts): RowMeasure {
	let chars = 0;
	for (const text of contentTexts(facts.parts)) chars += codePoints(text);
	return { chars, flags: derivedFlags(facts) };
}

function derivedFlags({ parts, role }: RecordFacts): number {
	let flags = 0;
	for (const part of parts) {
		if (part.type === "tool_call") flags |= FLAG.CALLS;
		else if (part.type === "thinking" && hasWords(part.text)) flags |= FLAG.TEXT;
		else if (part.type === "text" && part.from === "own" && hasWords(part.text)) flags |= FLAG.TEXT | FLAG.WORDS;
		else if (part.type === "image" && part.from === "own") flags |= FLAG.WORDS;
	}
	if ((role === "user" || role === "custom") && isBlock(parts)) flags |= FLAG.BLOCK;
	return flags;
}

function hasWords(text: string): boolean {
	return /\S/.test(text);
}

function isBlock(parts: readonly Part[]): boolean {
	const [only] = parts;
	return parts.length === 1 && only.type === "text" && only.from === "own" && BLOCK_MARK.test(only.text);
}
