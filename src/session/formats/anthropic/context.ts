/** An Anthropic messages array as a branch: the API merges neighbouring messages of one role, so results are judged by turn (RULINGS 9). */
import { arrayBranch } from "../array-branch.js";
import type { FormatContext } from "../format.js";

export const anthropicContext: FormatContext = {
	branch: (table, options) => arrayBranch(table, options, "turn"),
};
