/** Lines that the host cannot read, though some of them hold records that can be read here. */
import type { Damage, DamageKind } from "../../damage.js";
import type { ResumeFinding, ResumeView } from "../../resume.js";
import type { RecordTable } from "../../table.js";
import { isChainLine } from "./kinds.js";

const SAID: Partial<Record<DamageKind, string>> = {
	torn_tail: "The last line is torn: Claude Code leaves it out and goes on behind it",
	invalid_json: "A line is no JSON: Claude Code leaves it out",
	not_an_object: "A line is no object: Claude Code leaves it out",
	invalid_utf8: "A line is not valid UTF-8: what cannot be read is sent as U+FFFD",
	nul_run: "Zeros stand in a line: Claude Code leaves it out",
	glued: "Two records stand on one line: Claude Code leaves it out",
	spliced: "A line holds a record and something else: Claude Code leaves it out",
};

/** The kinds of damage beside which whole records can stand, which the host loses. */
const LOSES: ReadonlySet<DamageKind> = new Set<DamageKind>(["nul_run", "glued", "spliced"]);

export function damageFindings({ table, branch }: ResumeView): ResumeFinding[] {
	return table.damage.first.flatMap((damage) => {
		const said = SAID[damage.kind];
		if (said === undefined) return [];
		const lost = LOSES.has(damage.kind) ? lostRow(table, branch.walked, damage) : -1;
		return [
			{
				rule: damage.kind,
				severity: lost < 0 ? "repaired" : "refused",
				offset: damage.offset,
				entry: lost < 0 ? null : table.entryOf(lost),
				message: `${said}${lost < 0 ? "" : ", and a message that is on it"} (line ${damage.line}).`,
			},
		];
	});
}

/** A row on the damaged line that the conversation needs; -1 for none. */
function lostRow(table: RecordTable, walked: Uint8Array, { line }: Damage): number {
	let low = 0;
	let high = table.rows;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (table.line.at(middle) < line) low = middle + 1;
		else high = middle;
	}
	for (let row = low; row < table.rows && table.line.at(row) === line; row++)
		if (walked[row] === 1 && isChainLine(table.type.at(row))) return row;
	return -1;
}
