import { MessageList } from "../../branch.js";
import type { FormatContext } from "../format.js";

export const openaiChatContext: FormatContext = {
	async branch(table) {
		return {
			messages: new MessageList(),
			leaf: -1,
			walked: new Uint8Array(table.rows),
			damage: [],
			notices: [],
			usage: null,
			adjacency: "literal",
		};
	},
};
