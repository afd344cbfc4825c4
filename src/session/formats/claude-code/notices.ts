/** What the reader did on its own account, in words (RULINGS 21). */
import { breathe, pacer } from "../../breathe.js";
import type { Boundary } from "./compaction.js";
import { LINE } from "./kinds.js";
import type { Lines } from "./lines.js";
import type { Walk } from "./walk.js";

/** Notices of a branch. `walked`: 1 for rows that it was read from; `inFileOrder`: no parent link names a line of the file (RULINGS 3). */
export async function noticesOf(
	lines: Lines,
	boundaries: ReadonlyMap<number, Boundary>,
	walk: Walk,
	walked: Uint8Array,
	inFileOrder: boolean,
): Promise<string[]> {
	const { table } = lines;
	const notices: string[] = [];
	if (inFileOrder) notices.push("No parent link names a line of this file: its lines were read in file order.");
	if (lines.fileSide === "all")
		notices.push("All messages of this file are a sub-agent's: it was read as a session of its own.");
	if (walk.joined > 0) {
		const links = walk.joined === 1 ? "1 broken parent link" : `${walk.joined} broken parent links`;
		notices.push(`${links} on the branch: reading went on at the line before it in time, as Claude Code does.`);
	}
	if (walk.cutAt >= 0 && table.line.at(walk.cutAt) > 0) {
		const line = table.line.at(walk.cutAt);
		notices.push(
			`The parent of line ${line} leads nowhere and no earlier timestamp tells what came before: the history starts there.`,
		);
	}
	if ([...boundaries.values()].some(({ row, unresolved }) => unresolved && walked[row] === 1)) {
		notices.push(
			"A compaction names kept messages that are not in the file as it says: they were left where they are.",
		);
	}
	let replacements = 0;
	let collapses = 0;
	const pause = pacer();
	for (let row = 0; row < table.rows; row++) {
		if (pause()) await breathe();
		const type = table.type.at(row);
		if (type === LINE.REPLACEMENT) replacements++;
		else if (type === LINE.COLLAPSE) collapses++;
	}
	if (replacements > 0) notices.push(notApplied(replacements, "content-replacement"));
	if (collapses > 0) notices.push(notApplied(collapses, "context collapse"));
	return notices;
}

function notApplied(count: number, what: string): string {
	return `${count} ${what} record${count === 1 ? "" : "s"} not applied: their effect on the context is not known.`;
}
