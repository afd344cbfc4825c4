/**
 * The cursor of `inspect`: a position in the list of group parts. It holds for the same anchor of the same session only, also in another process,
 * and with any page size.
 */
import { createHash } from "node:crypto";
import { MidcompactError } from "../errors.js";

export interface Cursor {
	/** Index of the first part of the next page; at least 1. */
	next: number;
	/** Hash of the survey's figures. */
	fingerprint: string;
	/** Hash of the landmark before the next page: tells sessions apart whose figures are equal. */
	landmark: string;
}

const FORM = /^(\d{1,9})\.([\w-]{12})\.([\w-]{8})$/;

export function encodeCursor({ next, fingerprint, landmark }: Cursor): string {
	return Buffer.from(`${next}.${fingerprint}.${landmark}`).toString("base64url");
}

/** Errors: `invalid_cursor` when the text is no cursor of a list of `parts` parts with this fingerprint. */
export function decodeCursor(text: string, fingerprint: string, parts: number): Cursor {
	const found = FORM.exec(text.length > 200 ? "" : Buffer.from(text, "base64url").toString());
	if (!found) throw new MidcompactError("invalid_cursor", "The cursor is not one that inspect gave.");
	const cursor = { next: Number(found[1]), fingerprint: found[2], landmark: found[3] };
	if (cursor.fingerprint !== fingerprint || cursor.next < 1 || cursor.next >= parts) throw foreignCursor();
	return cursor;
}

export function foreignCursor(): MidcompactError {
	return new MidcompactError(
		"invalid_cursor",
		"The cursor belongs to another session, or to this one before it changed.",
	);
}

export function landmarkHash(landmark: string): string {
	return createHash("sha256").update(landmark).digest("base64url").slice(0, 8);
}
