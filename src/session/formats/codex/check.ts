import type { ResumeCheck } from "../../resume.js";

export const codexCheck: ResumeCheck = {
	pairs: { abandoned: "refused", orphan: "refused", ambiguous: "refused" },
	record: () => [],
	whole: async () => [],
};
