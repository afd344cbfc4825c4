/** What is wrong with the file of a session: its header, and lines that Pi cannot read though some of them hold entries that can be read here. */
import type { DamageKind } from "../../damage.js";
import type { ResumeFinding, ResumeView } from "../../resume.js";
import type { RecordTable } from "../../table.js";
import { damageFindings } from "../check-damage.js";
import { aboutFile, aboutRow } from "../check-finding.js";
import { CURRENT_VERSION, type HeaderMeta, TYPE } from "./codes.js";

const BYTE_ORDER_MARK = 3;

const SAID: Partial<Record<DamageKind, string>> = {
	torn_tail: "The last line is torn: Pi goes on behind it, from the entry before",
	invalid_json: "A line is no JSON: Pi leaves it out",
	not_an_object: "A line is no object: Pi leaves it out",
	invalid_utf8: "A line is not valid UTF-8: what cannot be read is sent as U+FFFD",
	nul_run: "Zeros stand in a line: Pi leaves it out",
	glued: "Two entries stand on one line: Pi leaves it out",
	spliced: "A line holds an entry and something else: Pi leaves it out",
};

export function fileFindings(view: ResumeView): ResumeFinding[] {
	const { table, branch } = view;
	const damage = damageFindings(view, {
		said: SAID,
		lost: ", and an entry of the conversation with it",
		needs: (row) => branch.walked[row] === 1 || table.type.at(row) === TYPE.HEADER,
	});
	return [...headerFindings(view), ...damage];
}

/** Pi takes a file for a session when the first line that it can read is a header with an id. */
function headerFindings({ table, name }: ResumeView): ResumeFinding[] {
	// A list that a host holds in memory has no lines.
	if (name === null) return [];
	const first = table.rows > 0 && table.type.at(0) === TYPE.HEADER ? 0 : -1;
	const meta = first < 0 ? null : (table.metas.get(first) as HeaderMeta);
	if (meta === null || meta.id === null || table.record.at(first) !== 0 || isLineOfNoObject(table, first))
		return [
			aboutFile("header", "refused", 'Pi refuses a file whose first line is no header: {"type":"session","id":…}.'),
		];
	if (table.start.at(first) === BYTE_ORDER_MARK)
		return [
			aboutRow(
				table,
				first,
				"byte_order_mark",
				"refused",
				"Pi cannot read a header behind a byte order mark, and refuses the file.",
			),
		];
	if (meta.version <= CURRENT_VERSION) return [];
	return [
		aboutRow(
			table,
			first,
			"version",
			"repaired",
			`Pi knows versions up to ${CURRENT_VERSION}; of version ${meta.version} it leaves out what it does not know.`,
		),
	];
}

/** A line that is JSON but no object, in front of the header. */
function isLineOfNoObject(table: RecordTable, header: number): boolean {
	const start = table.start.at(header);
	return table.damage.first.some(({ kind, offset }) => kind === "not_an_object" && offset < start);
}
