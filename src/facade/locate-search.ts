/** `locate_search`: atoms by a piece of their text, a tool, or whose words they hold. */
import { type Static, Type } from "typebox";
import { SOURCES } from "../atoms/table.js";
import { MidcompactError } from "../errors.js";
import { clamp, clampedInteger, defineAction, oneOf } from "./action.js";
import { type LocateData, matchLines, matchOf } from "./match.js";
import type { Answer } from "./reply.js";
import { Sums } from "./sums.js";
import type { SearchQuery, Survey } from "./survey.js";
import { clip, count, mapText, oneLine, plural, wellFormed } from "./text.js";
import type { Words } from "./words.js";

const LIMIT = { min: 1, max: 3, initial: 3 };
/** Units of one excerpt. */
const EXCERPT = 700;
const TOOLS_NAMED = 12;

const FIELDS = {
	pattern: Type.Optional(
		Type.String({ description: "Literal text that the atom contains, in any case. No wildcards." }),
	),
	tool_name: Type.Optional(Type.String({ description: "Exact name of a tool that the atom calls, in any case." })),
	source: Type.Optional(oneOf(SOURCES, "Whose words or data the atom holds.")),
	direction: Type.Optional(
		oneOf(["oldest", "newest"], "Which end of the session the matches are taken from; oldest by default."),
	),
	limit: Type.Optional(clampedInteger(LIMIT, "Matches to show.")),
};

export const locateSearch = defineAction({
	name: "locate_search",
	description:
		"Find atoms by text, tool or source; at least one of pattern, tool_name and source, all that are given must hold.",
	fields: FIELDS,
	run: search,
});

async function search(
	survey: Survey,
	request: Static<ReturnType<typeof Type.Object<typeof FIELDS>>>,
	words: Words,
): Promise<Answer<LocateData>> {
	const { pattern, tool_name: toolName, source, direction = "oldest" } = request;
	if (pattern === undefined && toolName === undefined && source === undefined) {
		throw new MidcompactError(
			"missing_field",
			'locate_search needs at least one of "pattern", "tool_name" and "source".',
			"Add one of them.",
		);
	}
	const query: SearchQuery = {
		pattern: pattern ?? null,
		toolName: toolName ?? null,
		source: source ?? null,
		direction,
		limit: clamp(request.limit, LIMIT),
		excerpt: EXCERPT,
	};
	const [sums, found] = await Promise.all([Sums.of(survey), survey.search(query)]);
	const matches = found.matches.map((match) =>
		matchOf(survey, sums, { ...match, text: clip(wellFormed(match.text), EXCERPT) }),
	);
	const blocks = matches.map((match) => [...matchLines(match, words), match.text].join("\n"));
	const shown = matches.length < found.total ? `, the ${matches.length} ${direction} shown` : "";
	const head = `${found.total === 1 ? "1 match" : `${count(found.total)} matches`} for ${filterText(query)}${shown}.`;
	const unsearched = pattern === undefined ? 0 : survey.unsearchedAtoms;
	const ways: string[] = [];
	if (found.total > matches.length) ways.push(narrowText(query, words));
	if (found.total === 0) ways.push(nothingText(survey, sums, query, unsearched));
	if (unsearched > 0) ways.push(unsearchedText(unsearched));
	return {
		text: [head, ...blocks, ...ways].join("\n\n"),
		data: { total: found.total, returned: matches.length, direction, unsearched_atoms: unsearched, matches },
	};
}

function filterText({ pattern, toolName, source }: SearchQuery): string {
	const filters = [];
	if (pattern !== null) filters.push(`pattern ${JSON.stringify(oneLine(pattern, 100))}`);
	if (toolName !== null) filters.push(`tool ${JSON.stringify(oneLine(toolName, 60))}`);
	if (source !== null) filters.push(`source ${source}`);
	return filters.join(" and ");
}

function narrowText({ pattern, toolName, source, direction }: SearchQuery, words: Words): string {
	const ways = [pattern === null ? "add a pattern" : "use a longer pattern"];
	if (toolName === null) ways.push(`add ${words.tool}`);
	if (source === null) ways.push(`add ${words.source}`);
	return `More match: to narrow, ${ways.join(", ")}; ${words.otherEnd(direction)}.`;
}

function unsearchedText(atoms: number): string {
	return `${plural(atoms, "atom")} ${atoms === 1 ? "holds" : "hold"} a record above 64 MiB, of whose texts only the heads are searched: the pattern may stand in what was not.`;
}

function nothingText(survey: Survey, sums: Sums, { toolName }: SearchQuery, unsearched: number): string {
	const all = sums.calls.counts(0, survey.atoms.length);
	const known = sums.calls.names.some((name) => name.toLowerCase() === toolName?.toLowerCase());
	if (toolName === null || known) {
		const found = unsearched === 0 ? "Nothing matches" : "Nothing was found in what could be searched";
		return `${found}: use a shorter pattern or fewer filters.`;
	}
	if (all.total === 0) return "This session calls no tools.";
	return `No tool has this name; ${plural(all.total, "tool")} here: ${mapText(all.map, all.total, TOOLS_NAMED)}.`;
}
