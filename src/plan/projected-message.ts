import type { Part, Role } from "../session/record.js";

/** One message of a projection. An image has its figures, not its payload. */
export interface ProjectedMessage {
	role: Role;
	/** Ref of its atom; null for the message of a range. */
	atom: string | null;
	/** Id of the block that the message would become or is; null for any other. */
	block: string | null;
	entries: readonly string[];
	parts: readonly Part[];
}
