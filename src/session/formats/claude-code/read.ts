import type { FormatReader } from "../format.js";

export const claudeCodeReader: FormatReader = {
	name: "claude-code",
	recognise: () => 0,
	isWhole: () => false,
	read: () => null,
};
