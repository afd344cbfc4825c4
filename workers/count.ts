/** Worker task: counts the tokens of rows that it reads back, or of a few texts that are in no session yet. Numbers come back. */
import { move, transferableSymbol, valueSymbol } from "piscina";
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import type { Encoding } from "../src/measure/encodings.js";
import { TokenCounter } from "../src/measure/tokens.js";
import { contentTexts } from "../src/session/record.js";
import { type RowPlaces, type RowSource, readRows } from "../src/session/rows.js";

export type CountTask =
	| { rowSource: RowSource; places: RowPlaces; encoding: Encoding }
	| { texts: readonly string[]; encoding: Encoding };

/** Two numbers per place or text, in their order. */
export interface CountResult {
	/** Tokens of the content texts by the encoding asked for. */
	tokens: Uint32Array;
	/** Places in the texts where the count may be off by one token; 0: it is exact. */
	forced: Uint32Array;
}

/** What the thread has learned stays with it from task to task. */
const counters = new Map<Encoding, TokenCounter>();

/**
 * Resolves to a {@link CountResult} on the calling side, its arrays moved instead of copied. Errors: `unreadable` when the file changed since it was
 * surveyed.
 */
export default async function count(task: CountTask): Promise<ReturnType<typeof move>> {
	try {
		return moved("texts" in task ? countTexts(task.texts, task.encoding) : await countRows(task));
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

function countTexts(texts: readonly string[], encoding: Encoding): CountResult {
	const counted = texts.map((text) => counterOf(encoding).count(text));
	return {
		tokens: Uint32Array.from(counted, ({ tokens }) => tokens),
		forced: Uint32Array.from(counted, ({ forced }) => forced),
	};
}

async function countRows({
	rowSource,
	places,
	encoding,
}: Extract<CountTask, { places: RowPlaces }>): Promise<CountResult> {
	const counter = counterOf(encoding);
	const tokens = new Uint32Array(places.start.length);
	const forced = new Uint32Array(places.start.length);
	for await (const { index, facts } of readRows(rowSource, places)) {
		for (const text of contentTexts(facts.parts)) {
			const found = counter.count(text);
			tokens[index] += found.tokens;
			forced[index] += found.forced;
		}
	}
	return { tokens, forced };
}

function counterOf(encoding: Encoding): TokenCounter {
	let counter = counters.get(encoding);
	if (!counter) {
		counter = new TokenCounter(encoding);
		counters.set(encoding, counter);
	}
	return counter;
}

function moved(result: CountResult): ReturnType<typeof move> {
	return move({ [transferableSymbol]: [result.tokens.buffer, result.forced.buffer], [valueSymbol]: result });
}
