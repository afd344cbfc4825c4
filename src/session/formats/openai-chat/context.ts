/** An OpenAI chat array as a branch: results are adjacent where they stand (RULINGS 9). */
import { arrayBranch } from "../array-branch.js";
import type { FormatContext } from "../format.js";

export const openaiChatContext: FormatContext = {
	branch: (table, options) => arrayBranch(table, options, "literal"),
};
