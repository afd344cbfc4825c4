import type { ForkCleaner } from "../../fork.js";

export const anthropicCleaner: ForkCleaner = { clean: (record) => record };
