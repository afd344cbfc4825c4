/** What a text calls the things that its reader can ask for next. The facade speaks of actions and fields; a host whose user types something else says that. */

export interface Words {
	/** In place of a token count that has not arrived. */
	readonly tokensMissing: string;
	/** How `locate_ref` shows more of a text. */
	readonly fullText: string;
	/** How other places of a long text are found; a subject in the singular. */
	readonly search: string;
	/** Names of the filters of `locate_search`. */
	readonly tool: string;
	readonly source: string;
	/** How a search starts from the other end; `direction` is the one it went. */
	otherEnd(direction: "oldest" | "newest"): string;
	/** Name of the candidate at an index in a sentence, and of one of its two refs. */
	candidate(index: number): string;
	candidateRef(index: number, end: "start" | "end"): string;
}

/** The facade's own words. */
export const FACADE_WORDS: Words = {
	tokensMissing: "tokens not counted yet",
	fullText: 'detail "full" shows more',
	search: "locate_search with a pattern",
	tool: "tool_name",
	source: "source",
	otherEnd: (direction) => `direction "${direction === "oldest" ? "newest" : "oldest"}" shows the other end`,
	candidate: (index) => `candidates[${index}]`,
	candidateRef: (index, end) => `candidates[${index}].${end}`,
};
