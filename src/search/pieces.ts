/** An atom's content as labelled pieces, for people and agents to read. Labels are ours: no content, never searched. */
import { codePoints } from "../session/code-points.js";
import type { Part, RecordFacts, Role } from "../session/record.js";
import { type Ends, endsOf, grouped, lineLandmark } from "./landmark.js";

/** A label and the text below it. */
export interface Piece {
	label: string;
	/** Code points of content in the label that are missing from it (a tool name of unusual length). */
	labelOmitted: number;
	/** Code points of content that the piece stands for, those in its label included. */
	chars: number;
	text: Ends;
}

/** Units of a name inside a label at most. */
const NAME_UNITS = 80;

const OWN_LABELS: Readonly<Record<Role, string>> = {
	system: "[system]",
	user: "[user]",
	assistant: "[assistant]",
	// Own words in a record of results are the user's (CONTRACT section 5, `user_text`).
	tool_result: "[user]",
	bash: "[bash]",
	summary: "[summary]",
	custom: "[custom]",
	other: "[other]",
};

/** The pieces of one row. Of each text `keep` UTF-16 units are kept at either end. */
export function piecesOf(facts: RecordFacts, keep: number): Piece[] {
	const pieces: Piece[] = [];
	facts.parts.forEach((part, i) => {
		if (part.type === "tool_result" && opensResult(facts.parts[i + 1])) return;
		const text = textOf(part);
		if (text === "") return;
		const label = labelOf(part, facts.role);
		const named = part.type === "tool_call" ? codePoints(part.name) : 0;
		const ends = endsOf(text ?? "", keep);
		pieces.push({ ...label, chars: ends.chars + named, text: ends });
	});
	return pieces;
}

/** `[image image/png 800×600, 12,345 bytes]`; without the pixels where they are not known. */
export function imageLabel(image: Extract<Part, { type: "image" }>): string {
	const { text: mime } = lineLandmark(image.mime, NAME_UNITS);
	const pixels = image.width !== null && image.height !== null ? ` ${image.width}×${image.height}` : "";
	return `[image ${mime}${pixels}, ${grouped(image.bytes)} ${image.bytes === 1 ? "byte" : "bytes"}]`;
}

/** Whether the part behind a `tool_result` brings the label of the result itself. */
function opensResult(next: Part | undefined): boolean {
	return next?.type === "text" && next.from === "result" && next.text !== "";
}

/** The text below a label; null for a part that is all label, "" for one with nothing to show. */
function textOf(part: Part): string | null {
	if (part.type === "text" || part.type === "thinking") return part.text;
	return part.type === "tool_call" ? part.arguments || null : null;
}

function labelOf(part: Part, role: Role | null): { label: string; labelOmitted: number } {
	if (part.type === "tool_call") {
		const name = lineLandmark(part.name, NAME_UNITS);
		return { label: `[tool_call ${name.text}]`, labelOmitted: name.omitted };
	}
	return { label: plainLabel(part, role), labelOmitted: 0 };
}

function plainLabel(part: Exclude<Part, { type: "tool_call" }>, role: Role | null): string {
	switch (part.type) {
		case "thinking":
			return "[thinking]";
		case "tool_result":
			return "[tool_result]";
		case "image":
			return imageLabel(part);
		case "opaque":
			return `[${lineLandmark(part.what, NAME_UNITS).text}]`;
		case "text":
			break;
	}
	switch (part.from) {
		case "result":
			return "[tool_result]";
		case "command":
			return "[bash command]";
		case "output":
			return "[bash output]";
		case "reminder":
			return "[reminder]";
		case "own":
			return role === null ? "[text]" : OWN_LABELS[role];
	}
}
