/** Texts of atoms as a reply may carry them. */
import type { AtomText, Survey, TextView } from "./survey.js";
import { clip, oneLine, wellFormed } from "./text.js";

/** Well-formed texts of at most `view.budget` units in the order of `atoms`; a `lead` stands on one line. */
export async function textsOf(survey: Survey, atoms: readonly number[], view: TextView): Promise<AtomText[]> {
	if (atoms.length === 0) return [];
	const texts = await survey.texts(atoms, view);
	return texts.map((found) => ({ ...found, text: boundedText(found.text, view) }));
}

/** Leads by atom, each atom read once. */
export async function leadsOf(survey: Survey, atoms: readonly number[], budget: number): Promise<Map<number, string>> {
	const distinct = [...new Set(atoms)];
	const texts = await textsOf(survey, distinct, { budget, shape: "lead" });
	return new Map(distinct.map((atom, i) => [atom, texts[i].text]));
}

function boundedText(text: string, { budget, shape }: TextView): string {
	return shape === "lead" ? oneLine(text, budget) : clip(wellFormed(text), budget);
}
