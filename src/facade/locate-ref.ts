/** `locate_ref`: one atom with its text, as a landmark or nearly whole. */
import { Type } from "typebox";
import { defineAction, oneOf } from "./action.js";
import { type LocateData, matchLines, matchOf } from "./match.js";
import { atomOf } from "./refs.js";
import type { Answer } from "./reply.js";
import { Sums } from "./sums.js";
import type { Survey } from "./survey.js";
import { count, REPLY_BOUND } from "./text.js";
import { textsOf } from "./texts.js";

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
): Promise<Answer<LocateData>> {
	const atom = atomOf(survey.atoms, request.ref, () => "ref");
	const full = request.detail === "full";
	const sums = await Sums.of(survey);
	const [found] = await textsOf(survey, [atom], { budget: full ? REPLY_BOUND - FACTS : BRIEF, shape: "content" });
	const match = matchOf(survey, sums, found);
	const lines = [...matchLines(match), ...neighbours(survey, atom), "", match.text];
	if (match.omitted > 0) {
		const way = full ? "locate_search with a pattern shows other places" : 'detail "full" shows more';
		lines.push("", `${count(match.omitted)} chars not shown; ${way}.`);
	}
	return { text: lines.join("\n"), data: { total: 1, returned: 1, direction: null, matches: [match] } };
}

function neighbours({ atoms }: Survey, atom: number): string[] {
	const before = atom > 0 ? [`before it ${atoms.refOf(atom - 1)} ${atoms.kindOf(atom - 1)}`] : [];
	const after = atom + 1 < atoms.length ? [`after it ${atoms.refOf(atom + 1)} ${atoms.kindOf(atom + 1)}`] : [];
	return before.length + after.length === 0 ? [] : [[...before, ...after].join(", ")];
}
