/**
 * Exact token counts at many times the tokenizer's speed: texts are cut where a cut changes nothing (`cuts.ts`), and only segments that the memo does
 * not know go to the tokenizer. Bounded on any text, because a segment that grows too long is cut by force.
 */
import { splitCutText } from "../session/cut-text.js";
import { type CutRules, cutRules, LOOK_AHEAD, nextCut } from "./cuts.js";
import { type Encoding, type Tokenizer, tokenizerOf } from "./encodings.js";
import { MEMO_UNITS, SegmentMemo } from "./memo.js";
import { TokenLengths } from "./token-lengths.js";

/** Tokens of a text by the named encoding. */
export interface TokenCount {
	tokens: number;
	/** Places where the count may be off by one token: forced cuts, and the end of a text that was loaded in part. 0: the count is exact. */
	forced: number;
}

/** Units that are looked at in one go. */
const WINDOW = 1 << 15;
/** Neighbouring unknown segments go to the tokenizer together until they have this many units. */
const RUN_UNITS = 4096;

export class TokenCounter {
	readonly encoding: Encoding;
	readonly #tokenizer: Tokenizer;
	readonly #rules: CutRules;
	readonly #memo: SegmentMemo;
	readonly #lengths: TokenLengths;
	readonly #units = new Uint16Array(WINDOW);
	readonly #bytes = Buffer.from(this.#units.buffer);
	/** The last text asked about and its tokens: a run of one unit, cut by force, is the same piece over and over. */
	#asked = "";
	#answer = 0;
	/** Ends of the segments of the open run, in units of the window. */
	readonly #ends = new Uint32Array(2 * RUN_UNITS);

	/** `memo`: where counts of segments are kept, one per counter. */
	constructor(encoding: Encoding, memo: SegmentMemo = new SegmentMemo()) {
		this.encoding = encoding;
		this.#tokenizer = tokenizerOf(encoding);
		this.#rules = cutRules(encoding);
		this.#memo = memo;
		this.#lengths = new TokenLengths(this.#tokenizer);
	}

	/**
	 * Tokens of a text: those of `encode_ordinary` where `forced` is 0. Of a text that was loaded in part (`cut-text.ts`) the loaded head is counted.
	 * The answer depends on the text alone, not on what was counted before.
	 */
	count(text: string): TokenCount {
		const { head, missing } = splitCutText(text);
		const total = { tokens: 0, forced: missing ? 1 : 0 };
		for (let at = 0; at < head.length; ) {
			const part = head.length <= WINDOW ? head : head.slice(at, at + WINDOW);
			this.#bytes.write(part, "utf16le");
			at += this.#countWindow(part, at + part.length === head.length, total);
		}
		// It is a slice, which would keep this text alive.
		this.#asked = "";
		return total;
	}

	/** Counts the segments of a window that certainly end inside it; returns how many units they take. */
	#countWindow(text: string, last: boolean, total: TokenCount): number {
		const units = this.#units;
		const rules = this.#rules;
		const memo = this.#memo;
		const ends = this.#ends;
		const end = text.length;
		const stop = last ? end : end - LOOK_AHEAD;
		let tokens = 0;
		let from = 0;
		let runFrom = 0;
		let run = 0;
		while (from < stop) {
			const cut = nextCut(rules, units, from, end);
			const to = cut < 0 ? -cut : cut;
			const known = to - from <= MEMO_UNITS ? memo.get(units, from, to) : 0;
			if (known === 0) {
				if (run === 0) runFrom = from;
				ends[run++] = to;
				if (cut < 0) total.forced++;
			}
			// The pieces of a forced cut must not meet in one call, or the tokenizer would see what the cut keeps from it.
			if (run > 0 && (known !== 0 || cut < 0 || to - runFrom >= RUN_UNITS)) {
				tokens += this.#countRun(text, runFrom, run);
				run = 0;
			}
			tokens += known;
			from = to;
		}
		if (run > 0) tokens += this.#countRun(text, runFrom, run);
		total.tokens += tokens;
		return from;
	}

	/**
	 * Asks the tokenizer about neighbouring segments in one call, and keeps each one's share by the bytes its tokens stand for: every cut is the
	 * end of a token.
	 */
	#countRun(text: string, from: number, segments: number): number {
		const units = this.#units;
		const ends = this.#ends;
		const asked = text.slice(from, ends[segments - 1]);
		if (asked === this.#asked) return this.#answer;
		const found = this.#tokenizer.encode_ordinary(asked);
		this.#asked = asked;
		this.#answer = found.length;
		let token = 0;
		let start = from;
		for (let segment = 0; segment < segments; segment++) {
			const first = token;
			const end = ends[segment];
			for (let left = utf8Length(units, start, end); left > 0; token++) left -= this.#lengths.of(found[token]);
			if (end - start <= MEMO_UNITS) this.#memo.add(units, start, end, token - first);
			start = end;
		}
		return found.length;
	}
}

/** Bytes of the units in UTF-8; a lone surrogate becomes U+FFFD, three bytes. No cut divides a pair. */
function utf8Length(units: Uint16Array, from: number, to: number): number {
	let bytes = 0;
	for (let i = from; i < to; i++) {
		const unit = units[i];
		if (unit < 0x80) bytes++;
		else if (unit < 0x800) bytes += 2;
		else if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < to && units[i + 1] >= 0xdc00 && units[i + 1] <= 0xdfff) {
			bytes += 4;
			i++;
		} else bytes += 3;
	}
	return bytes;
}
