import type { FormatReader } from "../format.js";

export const piReader: FormatReader = { name: "pi", recognise: () => 0, isWhole: () => false, read: () => null };
