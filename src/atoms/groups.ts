/** Groups of atoms, led by what a person typed (RULINGS 17), and the parts in which they are listed (RULINGS 18). */
import { ATOM, type AtomTable } from "./table.js";

export type Lead = "user" | "summary" | "prefix";

/** Atoms of one listed part at most. */
const PART_ATOMS = 50;

/** One line of a survey: a group, or a part of a long one. Atoms are `from … to - 1`. */
export interface GroupPart {
	label: string;
	part: { n: number; of: number } | null;
	lead: Lead;
	from: number;
	to: number;
}

/** First atoms of the groups, in order, and the parts that a survey lists. */
export interface Groups {
	count: number;
	parts: GroupPart[];
}

export function groupAtoms(atoms: AtomTable): Groups {
	const starts: number[] = [];
	for (let atom = 0; atom < atoms.length; atom++) if (atom === 0 || atoms.has(atom, ATOM.LEADS)) starts.push(atom);
	const parts: GroupPart[] = [];
	starts.forEach((from, group) => {
		const to = starts[group + 1] ?? atoms.length;
		const lead = leadOf(atoms, from);
		const label = `g${String(group + 1).padStart(4, "0")}`;
		const of = Math.ceil((to - from) / PART_ATOMS);
		for (let n = 1; n <= of; n++) {
			const start = from + (n - 1) * PART_ATOMS;
			parts.push({
				label: of === 1 ? label : `${label}.${n}`,
				part: of === 1 ? null : { n, of },
				lead,
				from: start,
				to: Math.min(start + PART_ATOMS, to),
			});
		}
	});
	return { count: starts.length, parts };
}

function leadOf(atoms: AtomTable, atom: number): Lead {
	if (!atoms.has(atom, ATOM.LEADS)) return "prefix";
	return atoms.kindOf(atom) === "summary" ? "summary" : "user";
}
