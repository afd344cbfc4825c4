import type { Planning } from "../../engine/planning.js";
import type { Session } from "../../engine/session.js";
import { MidcompactError } from "../../errors.js";

/** What the user can do with the plan of a session. Errors: `state_unavailable` where no state folder can be used. */
export function planningOf({ planning, survey }: Session): Planning {
	if (planning) return planning;
	const why = survey.notices.find((notice) => notice.startsWith("No plan can be kept"));
	throw new MidcompactError("state_unavailable", why ?? "No plan can be kept of this session.");
}
