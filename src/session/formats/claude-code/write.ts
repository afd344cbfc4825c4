import type { FormatWriter } from "../../fork.js";

export const claudeCodeWriter: FormatWriter = {
	shape: () => "lines",
	pieces: () => [],
	fileName: (id) => `${id}.jsonl`,
	idInName: () => null,
	resumeCommand: () => null,
};
