import type { FormatName } from "#src/session/record.js";

/** What a session file holds by the plainest count; `chars` are code points of the content that is sent, system messages apart. */
export interface SessionCount {
	format: FormatName;
	/** Readable objects. */
	records: number;
	/** Lines that hold none. */
	damaged: number;
	/** Messages of the context without system messages, sent or not. */
	messages: number;
	system: number;
	systemChars: number;
	chars: number;
	calls: number;
	results: number;
	images: number;
	unsent: number;
	roles: Record<string, number>;
}

export function countSession(path: string, format?: FormatName): SessionCount;
