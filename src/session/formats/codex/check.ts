/** Would Codex resume a rollout, and send what the file says? Each rule was seen in 0.171; the table of them is in NOTES.md. */
import { breathe, pacer } from "../../breathe.js";
import { isObject, type JsonObject, type JsonValue, stringOrNull } from "../../record.js";
import type { RecordFinding, ResumeCheck, ResumeFinding, ResumeView, Severity } from "../../resume.js";
import type { RecordTable } from "../../table.js";
import { brokenStringIn } from "../../well-formed.js";
import { lineRows, ownMeta } from "./context.js";
import { LOST_BASE, MARK, ROW } from "./kinds.js";
import { fileName, idInName } from "./name.js";
import { isBare } from "./read.js";

export const codexCheck: ResumeCheck = {
	// Codex leaves an orphan out and answers an open call itself; a call that is answered twice it sends, and the model's API refuses it.
	pairs: { abandoned: "repaired", orphan: "repaired", ambiguous: "refused" },
	record: (record) => [...lineFindings(record), ...itemsOf(record).flatMap(itemFindings)],
	whole,
};

/** Characters of a tool output that Codex sends for a model that it does not know; for others it is the model's own limit. */
const OUTPUT_LIMIT = 12_000;
const EXCERPT = 60;
const BYTE_ORDER_MARK = 3;

function lineFindings(record: JsonObject): RecordFinding[] {
	const findings: RecordFinding[] = [];
	if (brokenStringIn(record) !== null)
		findings.push(finding("lone_surrogate", "refused", "Codex drops a line that holds half of a surrogate pair."));
	if (isBare(record)) return findings;
	const { timestamp, ordinal } = record;
	if (typeof timestamp !== "string")
		findings.push(
			finding("no_timestamp", "refused", `Codex drops a line whose timestamp is no text: ${excerpt(timestamp)}.`),
		);
	if (ordinal !== undefined && ordinal !== null && !Number.isInteger(ordinal))
		findings.push(
			finding("ordinal", "refused", `Codex drops a line whose ordinal is no whole number: ${excerpt(ordinal)}.`),
		);
	return findings;
}

/** The response items of a record. */
function itemsOf(record: JsonObject): JsonObject[] {
	if (isBare(record)) return [record];
	const { payload } = record;
	if (!isObject(payload)) return [];
	if (record.type === "response_item") return [payload];
	const history = record.type === "compacted" ? payload.replacement_history : null;
	return Array.isArray(history) ? history.filter(isObject) : [];
}

function itemFindings(item: JsonObject): RecordFinding[] {
	switch (item.type) {
		case "message":
			return messageFindings(item);
		case "reasoning":
			return stringOrNull(item.encrypted_content) === null
				? [
						finding(
							"reasoning_not_encrypted",
							"repaired",
							"Codex sends reasoning without its encrypted content as empty reasoning.",
						),
					]
				: [];
		case "function_call_output":
		case "custom_tool_call_output":
			return outputFindings(item);
		case "tool_call":
		case "tool_result":
			return [finding("unknown_item", "refused", `Codex drops a response item of the kind ${excerpt(item.type)}.`)];
		default:
			return [];
	}
}

function messageFindings({ id, role, content }: JsonObject): RecordFinding[] {
	if (!Array.isArray(content))
		return [finding("content", "refused", `Codex drops a message whose content is no list: ${excerpt(content)}.`)];
	const findings: RecordFinding[] = [];
	if (content.length === 0 || content.some((entry) => isObject(entry) && entry.text === ""))
		findings.push(
			finding(
				"empty_text",
				"refused",
				`Codex sends a message of the role ${excerpt(role)} with an empty text, which models' APIs refuse.`,
			),
		);
	if (typeof id === "string" && !id.startsWith("msg_"))
		findings.push(
			finding(
				"item_id",
				"repaired",
				`Codex sends a message without its id when that does not begin with msg_: ${excerpt(id)}.`,
			),
		);
	return findings;
}

function outputFindings({ output }: JsonObject): RecordFinding[] {
	if (typeof output !== "string" && !Array.isArray(output))
		return [
			finding("output", "refused", `Codex drops a tool output that is neither text nor a list: ${excerpt(output)}.`),
		];
	const length = typeof output === "string" ? output.length : 0;
	if (length <= OUTPUT_LIMIT) return [];
	return [
		finding(
			"long_output",
			"repaired",
			`Codex cuts a tool output of ${length} characters in the middle: ${excerpt(output)}.`,
		),
	];
}

async function whole({ table, branch, name, session }: ResumeView): Promise<ResumeFinding[]> {
	const meta = ownMeta(table);
	return [
		// Of a session that continues another one, the header of its own file counts.
		...nameFindings(name, meta < 0 ? session : stringOrNull(table.metas.get(meta)?.id)),
		...(meta < 0
			? [aboutFile("header", "The file has no session_meta line: Codex refuses it.")]
			: headerFindings(table, meta)),
		...(await lineKindFindings(table, branch.walked)),
	];
}

function nameFindings(name: string | null, session: string | null): ResumeFinding[] {
	if (name === null) return [];
	const named = idInName(name);
	if (named === null)
		return [
			aboutFile(
				"file_name",
				`Codex finds no session under the name ${name}: it looks for names such as ${fileName(session ?? "<id>", new Date(0))}.`,
			),
		];
	if (session === null || named === session) return [];
	return [aboutFile("other_id", `The file's name says ${named}, its header ${session}: Codex refuses it.`)];
}

function headerFindings(table: RecordTable, meta: number): ResumeFinding[] {
	const findings: ResumeFinding[] = [];
	const say = (rule: string, message: string) => findings.push(aboutRow(table, meta, rule, message));
	const start = table.start.at(meta);
	if (start === BYTE_ORDER_MARK) say("byte_order_mark", "Codex refuses a file that begins with a byte order mark.");
	else if (start > 0) say("header_not_first", "Codex refuses a file that does not begin with its session_meta line.");
	const { faults, history_base, paginated } = table.metas.get(meta) ?? {};
	if (Array.isArray(faults))
		say(
			"header",
			`Codex refuses a header whose ${faults.join(", ")} ${faults.length === 1 ? "is" : "are"} missing or of the wrong kind.`,
		);
	if (history_base === LOST_BASE)
		say("missing_parent", "The header names a file that the session continues, but none that can be found.");
	const last = lineRows(table) - 1;
	const isLastLine = table.record.at(last) === table.records - 1;
	if (paginated === true && isLastLine && table.flags.at(last) & MARK.UNNUMBERED)
		findings.push(
			aboutRow(table, last, "last_ordinal", "Codex refuses a paginated rollout whose last line has no ordinal."),
		);
	return findings;
}

/** Lines that were walked through, though none of them is a message. */
async function lineKindFindings(table: RecordTable, walked: Uint8Array): Promise<ResumeFinding[]> {
	const pause = pacer();
	const findings: ResumeFinding[] = [];
	const end = lineRows(table);
	for (let row = 0; row < end && findings.length < LINES_NAMED; row++) {
		if (pause()) await breathe();
		if (walked[row] === 0) continue;
		const type = table.type.at(row);
		if (type === ROW.UNREADABLE)
			findings.push(
				aboutRow(
					table,
					row,
					"dropped_line",
					"Codex drops this line: it has no timestamp, an ordinal that is no number, or a lone surrogate.",
				),
			);
		else if (type === ROW.UNKNOWN_ITEM)
			findings.push(
				aboutRow(
					table,
					row,
					"unknown_item",
					`Codex drops a response item of the kind ${excerpt(table.metas.get(row)?.kind)}.`,
				),
			);
		else if (table.flags.at(row) & MARK.FLAT)
			findings.push(
				aboutRow(
					table,
					row,
					"no_envelope",
					"Codex drops a line without the envelope that versions since September 2025 write.",
				),
			);
	}
	return findings;
}

/** Findings about lines that are no messages, at most. */
const LINES_NAMED = 1_000;

function finding(rule: string, severity: Severity, message: string): RecordFinding {
	return { rule, severity, message };
}

function aboutFile(rule: string, message: string): ResumeFinding {
	return { rule, severity: "refused", offset: null, entry: null, message };
}

function aboutRow(table: RecordTable, row: number, rule: string, message: string): ResumeFinding {
	return { rule, severity: "refused", offset: table.start.at(row), entry: table.entryOf(row), message };
}

function excerpt(value: JsonValue | undefined): string {
	if (value === undefined) return "none";
	const text =
		typeof value === "string" ? value : Array.isArray(value) ? "a list" : isObject(value) ? "an object" : String(value);
	return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
}
