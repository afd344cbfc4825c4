import type { FormatReader } from "../format.js";

export const anthropicReader: FormatReader = {
	name: "anthropic",
	recognise: () => 0,
	isWhole: () => false,
	read: () => null,
};
