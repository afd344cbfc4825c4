import type { ForkCleaner } from "../../fork.js";

export const openaiChatCleaner: ForkCleaner = { clean: (record) => record };
