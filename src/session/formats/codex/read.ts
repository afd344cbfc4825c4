import type { FormatReader } from "../format.js";

export const codexReader: FormatReader = { name: "codex", recognise: () => 0, isWhole: () => false, read: () => null };
