import type { ForkCleaner } from "../../fork.js";

export const codexCleaner: ForkCleaner = { clean: (record) => record };
