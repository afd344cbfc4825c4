/** Would Pi go on with a session, and send what the file says? Each rule was seen in 1.6; the table of them is in NOTES.md. */
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import type { RecordFinding, ResumeCheck, Severity } from "../../resume.js";
import { excerpt } from "../claude-code/check-finding.js";
import { stringWithLoneSurrogate } from "../claude-code/surrogates.js";
import { fileFindings } from "./check-file.js";
import { pathFindings } from "./check-path.js";
import { hasImage, isEmptyText, isHollowThinking } from "./clean.js";

export const piCheck: ResumeCheck = {
	// Pi answers an open call itself; a result without its call it sends, and the models' APIs refuse it.
	pairs: { abandoned: "repaired", orphan: "refused", ambiguous: "refused" },
	record(record) {
		const message = messageOf(record);
		const findings = message ? contentFindings(message) : [];
		const broken = stringWithLoneSurrogate(record);
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
	if (role === "assistant" || role === "toolResult") {
		if (typeof content === "string")
			return [
				finding(
					"content",
					"refused",
					`Pi fails over a ${role} message whose content is a string: ${excerpt(content)}.`,
				),
			];
	} else if (role !== "user" && role !== "custom") return [];
	const parts: readonly JsonValue[] = Array.isArray(content) ? content : [];
	const findings: RecordFinding[] = [];
	if (content === "" || (parts.some(isEmptyText) && (role !== "toolResult" || hasImage(content))))
		findings.push(
			role === "toolResult"
				? finding("empty_text", "refused", "Pi sends an empty text beside an image, which models' APIs refuse.")
				: finding("empty_text", "repaired", `Pi leaves an empty text of a ${role} message out when it sends it.`),
		);
	if (role === "assistant" && parts.some(isHollowThinking))
		findings.push(
			finding("hollow_thinking", "repaired", "Pi leaves thinking that has neither text nor signature out."),
		);
	return findings;
}

function finding(rule: string, severity: Severity, message: string): RecordFinding {
	return { rule, severity, message };
}
