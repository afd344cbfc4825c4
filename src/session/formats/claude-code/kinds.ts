/** What `read.ts` writes into a row and `context.ts` reads back. */
import { FORMAT_FLAG_SHIFT } from "../../record.js";

/** Code of a line's kind. */
export const LINE = {
	USER: 1,
	ASSISTANT: 2,
	ATTACHMENT: 3,
	SYSTEM: 4,
	PROGRESS: 5,
	/** `system` / `compact_boundary`. */
	BOUNDARY: 6,
	/** `attachment` / `prompt_snapshot`: system prompt and tools. */
	SNAPSHOT: 7,
	/** `content-replacement`: what it does to the context is not known. */
	REPLACEMENT: 8,
	/** `marble-origami-commit` and `-snapshot` (context collapse): likewise. */
	COLLAPSE: 9,
	/** A line that gives the session its name in the host's list. */
	TITLE: 10,
} as const;

export const MARK = {
	/** `isSidechain`: a line of a sub-agent. */
	SIDECHAIN: 1 << FORMAT_FLAG_SHIFT,
	/** A message line whose content is nothing that the host sends: empty texts, hollow thinking. */
	HOLLOW: 1 << (FORMAT_FLAG_SHIFT + 1),
	/** The last block that is not empty is thinking. */
	ENDS_THINKING: 1 << (FORMAT_FLAG_SHIFT + 2),
	/** All blocks that are not empty are thinking. */
	ONLY_THINKING: 1 << (FORMAT_FLAG_SHIFT + 3),
} as const;

/** Lines that hang in the chain of parent links (RULINGS 1). */
export function isChainLine(type: number): boolean {
	return type >= LINE.USER && type <= LINE.SNAPSHOT;
}

export function isConversationLine(type: number): boolean {
	return type === LINE.USER || type === LINE.ASSISTANT;
}

/** `meta` of a boundary row: the uuids that link it to what it replaced; null and empty where the line names none. */
export type BoundaryMeta = {
	logicalParent: string | null;
	/** The line behind which the preserved messages sit. */
	anchor: string | null;
	/** Preserved messages in order (`preservedMessages`). */
	preserved: string[];
	/** Ends of the preserved run (`preservedSegment`). */
	head: string | null;
	tail: string | null;
};

/** `meta` of a title row: the kind of line, and the uuid that a `summary` is about. */
export type TitleMeta = { title: string; leaf: string | null };
