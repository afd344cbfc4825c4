/** The tokenizer encodings a count can be made by. Every token figure carries the name of one. */
import { createRequire } from "node:module";

export const ENCODINGS = ["o200k_base", "cl100k_base"] as const;
/** Name of a tokenizer encoding. */
export type Encoding = (typeof ENCODINGS)[number];

/** What is used of the WASM tokenizer: ordinary text in (a literal `<|endoftext|>` is text like any other), token numbers out. */
export interface Tokenizer {
	encode_ordinary(text: string): Uint32Array;
	/** The UTF-8 bytes that a token stands for. */
	decode_single_token_bytes(token: number): Uint8Array;
}

interface TiktokenModule {
	get_encoding(encoding: Encoding): Tokenizer;
}

const loaded = new Map<Encoding, Tokenizer>();

/**
 * The tokenizer of an encoding, one per thread: the first call takes about 200 ms and 55-77 MB that are never given back, so only workers that
 * count should call it.
 */
export function tokenizerOf(encoding: Encoding): Tokenizer {
	let tokenizer = loaded.get(encoding);
	if (!tokenizer) {
		// The package's ES module entry imports a .wasm file, which Node 20 cannot do; its CommonJS entry reads the file itself.
		const { get_encoding } = createRequire(import.meta.url)("@dqbd/tiktoken") as TiktokenModule;
		tokenizer = get_encoding(encoding);
		loaded.set(encoding, tokenizer);
	}
	return tokenizer;
}
