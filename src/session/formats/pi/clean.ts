import type { ForkCleaner } from "../../fork.js";

export const piCleaner: ForkCleaner = { clean: (record) => record };
