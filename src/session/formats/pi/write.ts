import type { FormatWriter } from "../../fork.js";

export const piWriter: FormatWriter = {
	shape: () => "lines",
	pieces: () => [],
	fileName: (id) => `${id}.jsonl`,
	idInName: () => null,
	resumeCommand: () => null,
};
