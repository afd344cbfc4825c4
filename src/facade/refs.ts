/** Refs that a request names. */
import type { AtomTable } from "../atoms/table.js";
import { MidcompactError } from "../errors.js";
import { quoted } from "./text.js";

const LABEL = /^g\d/i;

/** Index of the atom that `ref` names in the field whose path `field` writes. Errors: `label_not_ref`, `unknown_ref`. */
export function atomOf(atoms: AtomTable, ref: string, field: () => string): number {
	const atom = atoms.indexOf(ref);
	if (atom >= 0) return atom;
	if (LABEL.test(ref))
		throw new MidcompactError("label_not_ref", `${field()} is the group label ${quoted(ref)}, not an atom ref.`);
	const range = atoms.length === 0 ? "it has none" : `${atoms.refOf(0)} to ${atoms.refOf(atoms.length - 1)}`;
	throw new MidcompactError("unknown_ref", `${field()} ${quoted(ref)} is no atom of this session (${range}).`);
}
