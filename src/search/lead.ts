/** Leads: the words by which a person recognises an atom, on one line. */
import { codePoints } from "../session/code-points.js";
import { contentTexts, FLAG, type Part, type RecordFacts } from "../session/record.js";
import { type Landmark, lineLandmark } from "./landmark.js";
import { imageLabel } from "./pieces.js";

/** What a lead can be made of, best first. */
const RANKS = ["typed", "command", "text", "thinking", "call", "result", "other", "label"] as const;
type Rank = (typeof RANKS)[number];

/** `<command-name>` and `<command-args>` as Claude Code stores a slash command (RULINGS 17). */
const COMMAND_NAME = /<command-name>([\s\S]*?)<\/command-name>/;
const COMMAND_ARGUMENTS = /<command-args>([\s\S]*?)<\/command-args>/;
/** A slash command is short: no longer text is searched for its tags. */
const COMMAND_UNITS = 100_000;

/**
 * The lead of an atom's rows within `budget` UTF-16 units: the user's own words where there are any, else a command that the user ran, else the first text,
 * else thinking, a call or a result, else a label such as that of an image. `omitted`: code points of the content that are not shown.
 */
export function renderLead(rows: Iterable<RecordFacts>, budget: number): Landmark {
	const rendering = new LeadRendering(budget);
	for (const facts of rows) rendering.add(facts);
	return rendering.render();
}

/** {@link renderLead} for rows that come one after another. */
export class LeadRendering {
	readonly #budget: number;
	#rank: number = RANKS.length;
	#text = "";
	/** Code points of content that the chosen text stands for. */
	#covers = 0;
	#chars = 0;

	constructor(budget: number) {
		this.#budget = Math.max(0, budget);
	}

	add(facts: RecordFacts): void {
		for (const part of facts.parts) {
			const covers = contentTexts([part]).reduce((chars, text) => chars + codePoints(text), 0);
			this.#chars += covers;
			this.#offer(part, facts, covers);
		}
	}

	render(): Landmark {
		const { text, omitted } = lineLandmark(this.#text, this.#budget);
		return { text, omitted: this.#chars - Math.max(0, this.#covers - omitted) };
	}

	#offer(part: Part, facts: RecordFacts, covers: number): void {
		const rank = RANKS.indexOf(rankOf(part, facts));
		if (rank >= this.#rank) return;
		const text = leadText(part);
		if (!/\S/.test(text)) return;
		this.#rank = rank;
		this.#text = text;
		this.#covers = covers;
	}
}

function rankOf(part: Part, { role, flags }: RecordFacts): Rank {
	switch (part.type) {
		case "thinking":
			return "thinking";
		case "tool_call":
			return "call";
		case "text":
			break;
		default:
			return "label";
	}
	if (part.from === "command") return "command";
	if (part.from === "result" || part.from === "output") return "result";
	if (part.from === "reminder") return "other";
	const typed = (role === "user" || role === "tool_result") && (flags & FLAG.HOST) === 0;
	return typed ? "typed" : "text";
}

function leadText(part: Part): string {
	switch (part.type) {
		case "text":
			return slashCommand(part.text) ?? part.text;
		case "thinking":
			return part.text;
		case "tool_call":
			return part.arguments ? `${part.name} ${part.arguments}` : part.name;
		case "image":
			return imageLabel(part);
		case "opaque":
			return `[${part.what}]`;
		case "tool_result":
			return "[tool_result]";
	}
}

/** `/name arguments` of a stored slash command; null for any other text. */
function slashCommand(text: string): string | null {
	if (text.length > COMMAND_UNITS || !/^\s*<command-(?:name|message|args)>/.test(text)) return null;
	const name = COMMAND_NAME.exec(text)?.[1].trim();
	if (!name) return null;
	return `${name} ${COMMAND_ARGUMENTS.exec(text)?.[1] ?? ""}`.trimEnd();
}
