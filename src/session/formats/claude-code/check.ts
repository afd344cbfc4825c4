import type { ResumeCheck } from "../../resume.js";

export const claudeCodeCheck: ResumeCheck = {
	pairs: { abandoned: "refused", orphan: "refused", ambiguous: "refused" },
	record: () => [],
	whole: async () => [],
};
