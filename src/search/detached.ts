/** A copy of a piece of text that does not keep the text it was cut from in memory: V8 makes a slice a view of its parent. */
export function detached(piece: string): string {
	// UTF-16 carries lone surrogates through unchanged.
	return Buffer.from(piece, "utf16le").toString("utf16le");
}
