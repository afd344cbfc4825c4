/** Damage of the file and of the branch in one report (RULINGS 20). */
import type { DamageReport } from "../facade/survey.js";
import type { Branch } from "../session/branch.js";
import { DAMAGE_KEPT, DamageLog } from "../session/damage.js";
import type { RecordTable } from "../session/table.js";

/** `growing`: the file was being written while it was read, so an unfinished last line is no damage. */
export function reportDamage(table: RecordTable, branch: Branch, growing: boolean): DamageReport {
	const ofBranch = new DamageLog();
	let onAnchor = recordsOnAnchor(table, branch);
	for (const { kind, row, onAnchor: counts } of branch.damage) {
		ofBranch.add(kind, table.start.at(row), table.line.at(row), table.record.at(row));
		if (counts) onAnchor++;
	}
	const all = new DamageLog();
	all.append(table.damage, 0, 0);
	all.append(ofBranch, 0, 0);
	const first = [...table.damage.first, ...ofBranch.first].sort((a, b) => a.offset - b.offset).slice(0, DAMAGE_KEPT);
	const report: DamageReport = { count: all.count, onAnchor, kinds: all.kinds, first };
	return growing ? withoutTornTail(report) : report;
}

/** Findings of the scan that are about a record the anchor was read from. */
function recordsOnAnchor(table: RecordTable, branch: Branch): number {
	const about = table.damage.first.filter((d) => d.record >= 0);
	if (about.length === 0) return 0;
	const walked = new Uint8Array(table.records);
	for (let row = 0; row < table.rows; row++) if (branch.walked[row] === 1) walked[table.record.at(row)] = 1;
	return about.filter((d) => walked[d.record] === 1).length;
}

function withoutTornTail(report: DamageReport): DamageReport {
	const { torn_tail: torn = 0, ...kinds } = report.kinds;
	return { ...report, kinds, count: report.count - torn, first: report.first.filter((d) => d.kind !== "torn_tail") };
}
