import type { FormatName } from "#src/session/record.js";

export interface GeneratorOptions {
	format: FormatName;
	/** Bytes; a session ends with a finished turn and so is a little longer. Null: see `atoms`. */
	size?: number | null;
	/** Share of the bytes that is base64 image payload, 0 to below 1. */
	images?: number;
	seed?: number;
	deadBranches?: number;
	singleGroup?: boolean;
	/** Atoms of the main branch after which the session ends. */
	atoms?: number | null;
	/** Where the host compacted, as fractions of the session. */
	compact?: number[];
}

export interface Generated {
	bytes: number;
	records: number;
	/** Atoms of the main branch, host compactions not applied. */
	atoms: number;
	images: number;
	imageBytes: number;
	/** UTF-16 units of the texts of the session, and of those that stood in it before. */
	textChars: number;
	duplicateChars: number;
}

/** Throws a RangeError for options that make no session. */
export function sessionOptions(given: GeneratorOptions): Required<GeneratorOptions>;
export function sessionBytes(given: GeneratorOptions): { batches: IterableIterator<Uint8Array>; progress: Generated };
export function generateSession(given: GeneratorOptions, out: string): Promise<Generated>;
export function parseSize(text: string): number;
