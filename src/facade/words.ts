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
	/** What the user starts, commits and gives up a transaction with; objects of a sentence. */
	readonly startCommand: string;
	readonly commitCommand: string;
	readonly abortCommand: string;
	/** How the survey is asked for. */
	readonly survey: string;
	/** How the plan, and one range of it, is shown; subjects in the singular. */
	readonly plan: string;
	range(id: string): string;
	/** How ranges are added (`with …`), and how one gets its summary (`by …`). */
	readonly addRange: string;
	summarise(id: string): string;
	/** Name of one of the two refs of a new range. */
	rangeRef(end: "start" | "end"): string;
	/** How the originals of a block are shown, and more of them; subjects in the singular. */
	recall(block: string): string;
	recallFull(block: string): string;
	/** How blocks that a list left out are found; a subject in the singular. */
	readonly moreBlocks: string;
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
	startCommand: "the start command of the host (`midcompact start SESSION` on the command line)",
	commitCommand: "the commit command of the host",
	abortCommand: "the abort command of the host",
	survey: "inspect",
	plan: "plan_show",
	range: (id) => `plan_read with range_id "${id}"`,
	addRange: "plan_add",
	summarise: (id) => `plan_update with range_id "${id}"`,
	rangeRef: (end) => end,
	recall: (block) => `recall_read with block "${block}"`,
	recallFull: (block) => `recall_read with block "${block}" and detail "full"`,
	moreBlocks: "a pattern, or a higher limit up to 20,",
};
