import type { FormatWriter } from "../../fork.js";

export const openaiChatWriter: FormatWriter = {
	shape: () => "lines",
	pieces: () => [],
	fileName: (id) => `${id}.jsonl`,
	idInName: () => null,
	resumeCommand: () => null,
};
