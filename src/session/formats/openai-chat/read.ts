import type { FormatReader } from "../format.js";

export const openaiChatReader: FormatReader = {
	name: "openai-chat",
	recognise: () => 0,
	isWhole: () => false,
	read: () => null,
};
