import type { FormatWriter } from "../../fork.js";

export const anthropicWriter: FormatWriter = {
	shape: () => "lines",
	pieces: () => [],
	fileName: (id) => `${id}.jsonl`,
	idInName: () => null,
	resumeCommand: () => null,
};
