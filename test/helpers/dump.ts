/** Everything a survey says, as plain data to compare. */
import type { Session } from "#src/index.js";

export function dumpSurvey({ survey }: Session): object {
	const { table, atoms, branch, groups } = survey;
	const rows = Array.from({ length: table.rows }, (_, row) => [
		table.start.at(row),
		table.end.at(row),
		table.record.at(row),
		table.line.at(row),
		table.item.at(row),
		table.type.at(row),
		table.role.at(row),
		table.flags.at(row),
		table.string(table.id.at(row)),
		table.string(table.parent.at(row)),
		table.chars.at(row),
	]);
	const listed = Array.from({ length: atoms.length }, (_, atom) => ({
		ref: atoms.refOf(atom),
		kind: atoms.kindOf(atom),
		protocol: atoms.protocolOf(atom),
		reason: atoms.reasonOf(atom),
		marks: atoms.marks.at(atom),
		sources: atoms.sources.at(atom),
		chars: atoms.chars.at(atom),
		images: atoms.images.at(atom),
		imageBytes: atoms.imageBytes.at(atom),
		tokens: survey.tokens.ofAtom(atom),
		messages: Array.from({ length: atoms.messageStart.at(atom + 1) - atoms.messageStart.at(atom) }, (_, m) =>
			Array.from(branch.messages.rowsOf(atoms.messageStart.at(atom) + m)),
		),
	}));
	return {
		rows,
		atoms: listed,
		groups,
		system: survey.system,
		damage: survey.damage,
		notices: survey.notices,
		anchor: survey.anchor,
		records: table.records,
		approximate: survey.tokens.approximateAtoms,
	};
}
