import type { ResumeCheck } from "../../resume.js";

export const openaiChatCheck: ResumeCheck = {
	pairs: { abandoned: "refused", orphan: "refused", ambiguous: "refused" },
	record: () => [],
	whole: async () => [],
};
