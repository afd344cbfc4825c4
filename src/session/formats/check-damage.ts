/** Lines that a host cannot read, though some of them hold records that can be read here. */
import type { Damage, DamageKind } from "../damage.js";
import type { ResumeFinding, ResumeView } from "../resume.js";
import type { RecordTable } from "../table.js";

/** What a host does about damage. */
export interface DamageWords {
	/** By kind, a sentence without its end; other kinds are no finding. */
	said: Partial<Record<DamageKind, string>>;
	/** What is said behind it when something goes that the conversation needs. */
	lost: string;
	/** Whether the conversation needs a row. */
	needs(row: number): boolean;
}

/** The kinds of damage beside which whole records can stand, which a host that reads line by line loses. */
const LOSES: ReadonlySet<DamageKind> = new Set<DamageKind>(["nul_run", "glued", "spliced"]);

/** One finding for each damage that is kept: `refused` where a record goes with it that the conversation needs. */
export function damageFindings({ table }: ResumeView, { said, lost: loss, needs }: DamageWords): ResumeFinding[] {
	return table.damage.first.flatMap((damage) => {
		const sentence = said[damage.kind];
		if (sentence === undefined) return [];
		const lost = LOSES.has(damage.kind) ? neededRow(table, damage, needs) : -1;
		return [
			{
				rule: damage.kind,
				severity: lost < 0 ? "repaired" : "refused",
				offset: damage.offset,
				entry: lost < 0 ? null : table.entryOf(lost),
				message: `${sentence}${lost < 0 ? "" : loss} (line ${damage.line}).`,
			},
		];
	});
}

/** The first row on the damaged line that is needed; -1 for none. */
function neededRow(table: RecordTable, { line }: Damage, needs: (row: number) => boolean): number {
	let low = 0;
	let high = table.rows;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (table.line.at(middle) < line) low = middle + 1;
		else high = middle;
	}
	for (let row = low; row < table.rows && table.line.at(row) === line; row++) if (needs(row)) return row;
	return -1;
}
