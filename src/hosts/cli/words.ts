/** The facade's texts in the words of the command line. */
import type { Words } from "../../facade/words.js";

/** Two refs that stand for the atoms from one to the other. `typed` is what the user wrote. */
export interface Span {
	start: string;
	end: string;
	typed: string;
}

/** `ranges`: what the user asked to measure, in the order of the request's candidates. */
export function cliWords(ranges: readonly Span[] = []): Words {
	return {
		tokensMissing: "tokens not counted (--wait counts them)",
		fullText: "--full shows more",
		search: "`midcompact find` with a pattern",
		tool: "--tool",
		source: "--source",
		otherEnd: (direction) =>
			direction === "oldest" ? "--newest shows the other end" : "without --newest the other end is shown",
		candidate: (index) => ranges[index].typed,
		candidateRef: (index, end) => {
			const { start, end: last, typed } = ranges[index];
			return start === last && typed === start ? "ref" : `${typed}: ${end}`;
		},
		startCommand: "`midcompact start SESSION`",
		commitCommand: "`midcompact commit SESSION`",
		abortCommand: "`midcompact abort SESSION`",
		survey: "`midcompact inspect SESSION`",
		plan: "`midcompact plan SESSION`",
		range: (id) => `\`midcompact plan SESSION read ${id}\``,
		addRange: "`midcompact plan SESSION add START END`",
		summarise: (id) => `\`midcompact plan SESSION update ${id} --summary TEXT\``,
		rangeRef: (end) => end,
		recall: (block) => `\`midcompact recall SESSION ${block}\``,
		recallFull: (block) => `\`midcompact recall SESSION ${block} --full\``,
		moreBlocks: "a pattern, or --limit up to 20,",
	};
}

const REF = String.raw`\w+(?:\.\d+)?`;
const RANGE = new RegExp(String.raw`^(${REF})(?:\.\.(${REF}))?$`);

/** `a0001..a0010`, or `a0001` alone; null for anything else. What the refs mean is the facade's to say, labels such as `g0001.2` included. */
export function parseSpan(typed: string): Span | null {
	const found = RANGE.exec(typed);
	return found && { start: found[1], end: found[2] ?? found[1], typed };
}
