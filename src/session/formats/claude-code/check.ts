/** Would Claude Code resume a session, and send what the file says? Each rule was seen in 2.1.332 or stands in a public report; the table is in NOTES.md. */
import { MESSAGE } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { isObject, type JsonObject, type JsonValue } from "../../record.js";
import type { RecordFinding, ResumeCheck, ResumeFinding, ResumeView } from "../../resume.js";
import { ANSWERS, RecordTable } from "../../table.js";
import { brokenStringIn } from "../../well-formed.js";
import { aboutFile, aboutRow, excerpt } from "../check-finding.js";
import { isEmptyText, isHollowThinking } from "./blocks.js";
import { lineFindings } from "./check-damage.js";
import { linkFindings } from "./check-links.js";
import { isChainLine, MARK } from "./kinds.js";
import { type Lines, readLines } from "./lines.js";
import { idInName } from "./name.js";

const AWAITS_RESULT = ANSWERS.indexOf("result");

export const claudeCodeCheck: ResumeCheck = {
	// A call without a result is left out, a result without its call becomes a text; of two pairs with one id the host loses the second.
	pairs: { abandoned: "repaired", orphan: "repaired", ambiguous: "refused" },
	record(record) {
		const findings = contentFindings(record);
		const broken = brokenStringIn(record);
		if (broken !== null)
			findings.push({
				rule: "lone_surrogate",
				severity: "repaired",
				message: `Half of a surrogate pair is sent as U+FFFD: ${excerpt(broken, /\p{Surrogate}/u)}.`,
			});
		return findings;
	},
	async whole(view) {
		const lines = await readLines(view.table);
		return [
			...fileFindings(view, lines),
			...(await linkFindings(view, lines)),
			...lineFindings(view),
			...(await thinkingFindings(view)),
			...endFindings(view),
		];
	},
};

function contentFindings({ type, message }: JsonObject): RecordFinding[] {
	if ((type !== "user" && type !== "assistant") || !isObject(message)) return [];
	const { content } = message;
	const blocks: readonly JsonValue[] = Array.isArray(content) ? content : [];
	const findings: RecordFinding[] = [];
	const text = blocks.find(isEmptyText);
	if (text !== undefined || (typeof content === "string" && !/\S/.test(content)))
		findings.push({
			rule: "empty_text",
			severity: "repaired",
			message: `A text without a word is left out when it is sent: ${excerpt(JSON.stringify(text ?? content))}.`,
		});
	if (Array.isArray(content) && content.length === 0)
		findings.push({
			rule: "empty_message",
			severity: "repaired",
			message: 'A message without content is left out, or sent as "(no content)".',
		});
	if (blocks.some(isHollowThinking))
		findings.push({
			rule: "hollow_thinking",
			severity: "refused",
			message: 'Thinking without text is sent as it is, and the API refuses it: {"type":"thinking","thinking":"",…}.',
		});
	return findings;
}

/** About the file as a whole: whether it holds a conversation, and whether the host finds it. */
function fileFindings({ table, branch, name }: ResumeView, lines: Lines): ResumeFinding[] {
	const findings: ResumeFinding[] = [];
	if (branch.leaf < 0 || branch.messages.length === 0)
		findings.push(aboutFile("no_conversation", "refused", "The file holds no line of a conversation."));
	else if (lines.fileSide === "all")
		findings.push(
			aboutFile(
				"sidechain",
				"refused",
				"All messages are a sub-agent's (isSidechain): Claude Code finds no conversation in the file.",
			),
		);
	if (name !== null && idInName(name) === null)
		findings.push(
			aboutFile(
				"file_name",
				"repaired",
				`Claude Code finds a session by a file name that is a UUID; ${name} it finds by its path only.`,
			),
		);
	if (name !== null && table.rows > 0 && !(table.record.at(0) === 0 && isChainLine(table.type.at(0))))
		findings.push(
			aboutFile(
				"first_line",
				"repaired",
				"The first line is none of the conversation: some versions leave such a session out of their list (claude-code#62851, #67110).",
			),
		);
	return findings;
}

async function thinkingFindings({ table, branch }: ResumeView): Promise<ResumeFinding[]> {
	const { messages } = branch;
	const pause = pacer();
	const findings: ResumeFinding[] = [];
	const last = lastSent(messages);
	for (let m = 0; m < messages.length; m++) {
		if (pause()) await breathe();
		if (messages.roleOf(m) !== "assistant" || messages.marks.at(m) & MESSAGE.UNSENT) continue;
		const flags = [...messages.rowsOf(m)].map((row) => table.flags.at(row)).filter((f) => (f & MARK.HOLLOW) === 0);
		const own = messages.rowsOf(m)[0];
		if (flags.length > 0 && flags.every((f) => f & MARK.ONLY_THINKING))
			findings.push(
				aboutRow(table, own, "thinking_alone", "repaired", "An answer that is nothing but thinking is not sent."),
			);
		else if (m === last && flags.length > 0 && flags[flags.length - 1] & MARK.ENDS_THINKING)
			findings.push(
				aboutRow(table, own, "thinking_last", "repaired", "Thinking at the end of the last answer is not sent."),
			);
	}
	return findings;
}

/** How the conversation ends: the host puts something behind what is not finished. */
function endFindings({ table, branch }: ResumeView): ResumeFinding[] {
	const { messages } = branch;
	const last = lastSent(messages);
	if (last < 0) return [];
	const rows = messages.rowsOf(last);
	const row = rows[rows.length - 1];
	if (messages.roleOf(last) !== "assistant") {
		const message = 'The conversation ends without an answer: Claude Code puts "No response requested." behind it.';
		return [aboutRow(table, row, "ends_at_user", "repaired", message)];
	}
	if (!rows.some((own) => hasOpenCall(table, own))) return [];
	const message = "The conversation ends at a call: Claude Code puts an error as its result behind it.";
	return [aboutRow(table, row, "ends_at_call", "repaired", message)];
}

function hasOpenCall(table: RecordTable, row: number): boolean {
	const [from, to] = RecordTable.rangeOf(table.callRow, row);
	for (let call = from; call < to; call++) if (table.callAnswer.at(call) === AWAITS_RESULT) return true;
	return false;
}

function lastSent(messages: ResumeView["branch"]["messages"]): number {
	for (let m = messages.length - 1; m >= 0; m--) if ((messages.marks.at(m) & MESSAGE.UNSENT) === 0) return m;
	return -1;
}
