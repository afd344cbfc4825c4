/** `locate_ref`: one atom with its text, as a landmark or nearly whole. */
import { Type } from "typebox";
import { GIANT_RECORD } from "../session/giant.js";
import { defineAction, oneOf } from "./action.js";
import { type LocateData, matchLines, matchOf } from "./match.js";
import { atomOf } from "./refs.js";
import type { Answer } from "./reply.js";
import { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { count, REPLY_BOUND } from "./text.js";
import { textsOf } from "./texts.js";
import type { Words } from "./words.js";

/** Units of the landmark that `brief` shows. */
const BRIEF = 700;
/** Units that `full` keeps for the facts around the text. */
const FACTS = 1_500;

export const locateRef = defineAction({
	name: "locate_ref",
	description: "Show one atom: its place, kind, protection, tools, size and text.",
	fields: {
		ref: Type.String({ description: "Atom ref such as a0001." }),
		detail: Type.Optional(
			oneOf(
				["brief", "full"],
				"brief (default): a landmark of at most 700 characters; full: the text up to the bound of the reply, the middle omitted and marked.",
			),
		),
	},
	run: locate,
});

async function locate(
	survey: Survey,
	request: { ref: string; detail?: "brief" | "full" },
	words: Words,
): Promise<Answer<LocateData>> {
	const atom = atomOf(survey.atoms, request.ref, () => "ref");
	const full = request.detail === "full";
	const sums = await Sums.of(survey);
	const [found] = await textsOf(survey, [atom], { budget: full ? REPLY_BOUND - FACTS : BRIEF, shape: "content" });
	const match = matchOf(survey, sums, found);
	const lines = [...matchLines(match, words), ...neighbours(survey, atom), "", match.text];
	if (match.omitted > 0) {
		const way = full ? placesText(survey, atom, words) : words.fullText;
		lines.push("", `${count(match.omitted)} chars not shown; ${way}.`);
	}
	return {
		text: lines.join("\n"),
		data: { total: 1, returned: 1, direction: null, unsearched_atoms: 0, matches: [match] },
	};
}

/** Where the rest of a text is to be seen that not even the full text shows. */
function placesText(survey: Survey, atom: number, { search }: Words): string {
	if (!holdsGiant(survey, atom)) return `${search} shows other places`;
	return `the atom holds a record above 64 MiB, of whose texts only the heads are loaded: ${search} shows places in those, nothing shows the rest`;
}

function holdsGiant({ atoms, branch, table, unsearchedAtoms }: Survey, atom: number): boolean {
	if (unsearchedAtoms === 0) return false;
	for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++) {
		for (const row of branch.messages.rowsOf(m)) {
			if (table.end.at(row) - table.start.at(row) > GIANT_RECORD) return true;
		}
	}
	return false;
}

function neighbours({ atoms }: Survey, atom: number): string[] {
	const before = atom > 0 ? [`before it ${atoms.refOf(atom - 1)} ${atoms.kindOf(atom - 1)}`] : [];
	const after = atom + 1 < atoms.length ? [`after it ${atoms.refOf(atom + 1)} ${atoms.kindOf(atom + 1)}`] : [];
	return before.length + after.length === 0 ? [] : [[...before, ...after].join(", ")];
}
