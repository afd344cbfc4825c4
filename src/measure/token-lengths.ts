/** How many bytes of UTF-8 a token stands for, asked for once per token. */
import type { Tokenizer } from "./encodings.js";

/** Above the highest token number of the encodings in use. */
const TOKENS = 1 << 18;

export class TokenLengths {
	readonly #tokenizer: Tokenizer;
	/** 0: not asked yet. */
	readonly #lengths = new Uint16Array(TOKENS);

	constructor(tokenizer: Tokenizer) {
		this.#tokenizer = tokenizer;
	}

	/** Bytes of the token, 1 or more. */
	of(token: number): number {
		const known = this.#lengths[token];
		if (known !== 0) return known;
		const length = this.#tokenizer.decode_single_token_bytes(token).length;
		this.#lengths[token] = length;
		return length;
	}
}
