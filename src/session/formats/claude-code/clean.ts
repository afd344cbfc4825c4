import type { ForkCleaner } from "../../fork.js";

export const claudeCodeCleaner: ForkCleaner = { clean: (record) => record };
