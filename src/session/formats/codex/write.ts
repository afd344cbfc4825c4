import type { FormatWriter } from "../../fork.js";

export const codexWriter: FormatWriter = {
	shape: () => "lines",
	pieces: () => [],
	fileName: (id) => `${id}.jsonl`,
	idInName: () => null,
	resumeCommand: () => null,
};
