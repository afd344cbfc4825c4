/** Would Pi go on with a session, and send what the file says? Each rule was seen in 1.6; the table of them is in NOTES.md. */
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import type { RecordFinding, ResumeCheck, Severity } from "../../resume.js";
import { brokenStringIn } from "../../well-formed.js";
import { excerpt } from "../check-finding.js";
import { fileFindings } from "./check-file.js";
import { pathFindings } from "./check-path.js";
import { hasImage, isEmptyText, isHollowThinking } from "./clean.js";

export const piCheck: ResumeCheck = {
	// Pi answers an open call itself; a result without its call it sends, and the models' APIs refuse it.
	pairs: { abandoned: "repaired", orphan: "refused", ambiguous: "refused" },
	record(record) {
		const message = messageOf(record);
		const findings = message ? contentFindings(message) : [];
		const broken = brokenStringIn(record);
		if (broken !== null)
			findings.push(
				finding(
					"lone_surrogate",
					"repaired",
					`Pi leaves half of a surrogate pair out when it sends it: ${excerpt(broken, /\p{Surrogate}/u)}.`,
				),
			);
		return findings;
	},
	whole: async (view) => [...fileFindings(view), ...(await pathFindings(view))],
};

/** The message of an entry, or a message by itself. */
function messageOf(record: JsonObject): JsonObject | null {
	if (record.type === "message") return isObject(record.message) ? record.message : null;
	if (record.type === "custom_message") return { role: "custom", content: record.content };
	return typeof record.type !== "string" && typeof record.role === "string" ? record : null;
}

function contentFindings({ role, content }: JsonObject): RecordFinding[] {
	const parts: readonly JsonValue[] = Array.isArray(content) ? content : [];
	const isEmpty = parts.some(isEmptyText);
	const findings: RecordFinding[] = [];
	const say = (rule: string, severity: Severity, message: string) => findings.push(finding(rule, severity, message));
	switch (role) {
		case "user":
			if (content === "") say("empty_text", "refused", "Pi sends an empty prompt as it is, which models' APIs refuse.");
			else if (isEmpty) say("empty_text", "repaired", "Pi leaves an empty text of a prompt out when it sends it.");
			break;
		case "custom":
			if (content === "" || isEmpty)
				say("empty_text", "repaired", "Pi leaves an empty text of an extension out when it sends it.");
			break;
		case "assistant":
			if (typeof content === "string")
				say("content", "refused", `Pi fails over a reply whose content is a string: ${excerpt(content)}.`);
			if (isEmpty) say("empty_text", "repaired", "Pi leaves an empty text of a reply out when it sends it.");
			if (parts.some(isHollowThinking))
				say("hollow_thinking", "repaired", "Pi leaves thinking that has neither text nor signature out.");
			break;
		case "toolResult":
			if (typeof content === "string")
				say("content", "refused", `Pi does not send a result that is a string: ${excerpt(content)}.`);
			if (isEmpty && hasImage(content))
				say("empty_text", "refused", "Pi sends an empty text beside an image, which models' APIs refuse.");
			break;
	}
	return findings;
}

function finding(rule: string, severity: Severity, message: string): RecordFinding {
	return { rule, severity, message };
}
