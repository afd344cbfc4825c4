/** Worker: bounded texts of atoms, read back from the source. Whole texts never cross threads. */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { detached } from "../src/search/detached.js";
import { Excerpt } from "../src/search/excerpt.js";
import type { Landmark } from "../src/search/landmark.js";
import { LeadRendering } from "../src/search/lead.js";
import { type AtomPlaces, readAtoms } from "../src/search/places.js";
import { ContentRendering } from "../src/search/render.js";
import type { View, ViewResult, ViewTask } from "../src/search/tasks.js";
import { contentTexts, type RecordFacts } from "../src/session/record.js";
import type { RowSource } from "../src/session/rows.js";

export type { ViewResult, ViewTask } from "../src/search/tasks.js";

export default async function view(task: ViewTask): Promise<ViewResult> {
	try {
		return await viewAtoms(task.from, task.atoms, task.view);
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

/** What a rendering takes and gives; null: this view has nothing to show. */
interface Rendering {
	add(facts: RecordFacts): void;
	render(): Landmark | null;
}

async function viewAtoms(from: RowSource, atoms: AtomPlaces, how: View): Promise<ViewResult> {
	const shown: (Landmark | null)[] = new Array(atoms.atomStart.length - 1).fill(null);
	let current = -1;
	let rendering = renderingOf(how);
	for await (const { atom, facts } of readAtoms(from, atoms)) {
		if (atom !== current) {
			if (current >= 0) shown[current] = rendered(rendering);
			rendering = renderingOf(how);
			current = atom;
		}
		rendering.add(facts);
	}
	if (current >= 0) shown[current] = rendered(rendering);
	const texts: ViewResult = [];
	for (let atom = 0; atom < shown.length; atom++) texts.push(shown[atom] ?? (await contentOf(from, atoms, atom, how)));
	return texts;
}

/** The text alone, so that the bodies of earlier atoms can go while later ones are read. */
function rendered(rendering: Rendering): Landmark | null {
	const landmark = rendering.render();
	return landmark && { text: detached(landmark.text), omitted: landmark.omitted };
}

function renderingOf(how: View): Rendering {
	if (how.shape === "content") return new ContentRendering(how.budget);
	if (how.shape === "lead") return new LeadRendering(how.budget);
	const excerpt = new Excerpt(how.pattern, how.budget);
	return {
		add(facts) {
			for (const text of contentTexts(facts.parts)) excerpt.add(text);
		},
		render: () => excerpt.render(),
	};
}

/** An atom without the pattern is shown as its content. */
async function contentOf(from: RowSource, atoms: AtomPlaces, atom: number, { budget }: View): Promise<Landmark> {
	const [start, end] = [atoms.atomStart[atom], atoms.atomStart[atom + 1]];
	const { source, start: first, end: last, item } = atoms.places;
	const places = {
		source: source.subarray(start, end),
		start: first.subarray(start, end),
		end: last.subarray(start, end),
		item: item.subarray(start, end),
	};
	const rendering = new ContentRendering(budget);
	const one = { places, atomStart: Uint32Array.of(0, end - start) };
	for await (const { facts } of readAtoms(from, one)) rendering.add(facts);
	return rendering.render();
}
