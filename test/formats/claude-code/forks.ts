/** What a fork of a Claude Code session must be, from the lines of the session and the ranges that were replaced. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { checkResume, type ResumeReport } from "#src/engine/resume.js";
import type { OpenSurvey } from "#src/engine/survey.js";
import type { Scope } from "#src/session/branch.js";
import { claudeCodeCleaner } from "#src/session/formats/claude-code/clean.js";
import { claudeCodeReader } from "#src/session/formats/claude-code/read.js";
import type { JsonObject, Part } from "#src/session/record.js";
import { openShared } from "../../helpers/engine.js";
import { type TestRange, testBlockText } from "../../helpers/fork.js";
import { type ApiMessage, type Line, mergeLines, sentLines } from "../../hosts/claude-code-rule.js";

export function linesOf(path: string): JsonObject[] {
	return readFileSync(path, "utf8")
		.split("\n")
		.filter((text) => text !== "")
		.map((text) => JSON.parse(text) as JsonObject);
}

export interface AtomView {
	kind: string;
	protocol: string;
	reason: string | null;
	marks: number;
	/** Entry ids of its lines. */
	entries: string[];
	parts: Part[];
}

export interface Opened {
	atoms: AtomView[];
	report: ResumeReport;
	session: string | null;
	compressible: boolean[];
}

/** The atoms of a session with the content that a fork would give them, and whether its host would resume it. */
export async function openAtoms(path: string, scope: Scope = "context"): Promise<Opened> {
	const bytes = readFileSync(path);
	const session = await openShared(path, { scope });
	try {
		const survey = session.survey as OpenSurvey;
		const { atoms, branch, table } = survey;
		const views: AtomView[] = [];
		for (let atom = 0; atom < atoms.length; atom++) {
			const rows: number[] = [];
			for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++)
				rows.push(...branch.messages.rowsOf(m));
			const cleaned = rows.map((row) => {
				const text = bytes.subarray(table.start.at(row), table.end.at(row)).toString("utf8");
				return claudeCodeCleaner.clean(JSON.parse(text) as JsonObject);
			});
			views.push({
				kind: atoms.kindOf(atom),
				protocol: atoms.protocolOf(atom),
				reason: atoms.reasonOf(atom),
				marks: atoms.marks.at(atom),
				entries: rows.map((row) => table.entryOf(row)),
				parts: cleaned.flatMap((line) => (line ? (claudeCodeReader.read(line)?.parts ?? []) : [])),
			});
		}
		const report = await checkResume(survey, basename(path), new AbortController().signal);
		return { atoms: views, report, session: survey.session, compressible: views.map(({ reason }) => reason === null) };
	} finally {
		await session.close();
	}
}

/** Atoms as they must be read back from the fork, without entry ids: blocks where the ranges were. */
export function expectedAtoms(atoms: readonly AtomView[], ranges: readonly TestRange[]): Omit<AtomView, "entries">[] {
	const expected: Omit<AtomView, "entries">[] = [];
	atoms.forEach(({ entries: _, ...atom }, at) => {
		const range = ranges.findIndex(({ from, to }) => from <= at && at <= to);
		if (range < 0) expected.push(atom);
		else if (ranges[range].from === at) {
			const block: Part = { type: "text", text: blockText(ranges, range), from: "own" };
			const { kind, protocol, reason } = { kind: "block", protocol: "none", reason: "committed_block" };
			expected.push({ kind, protocol, reason, marks: 1, parts: [block] });
		}
	});
	return expected;
}

function blockText(ranges: readonly TestRange[], range: number): string {
	return testBlockText(`c${String(range + 1).padStart(4, "0")}`, ranges[range]);
}

/** What the host must send of the fork: the lines that it sends of the session, those of each range as one user line. */
export function expectedMessages(
	lines: readonly JsonObject[],
	atoms: readonly AtomView[],
	ranges: readonly TestRange[],
): ApiMessage[] {
	const rangeOf = new Map<string, number>();
	ranges.forEach(({ from, to }, range) => {
		for (let atom = from; atom <= to; atom++) for (const entry of atoms[atom].entries) rangeOf.set(entry, range);
	});
	const entryOf = new Map<unknown, string>(lines.map((line, at) => [line, String(line.uuid ?? `#${at}`)]));
	const written = new Set<number>();
	const sent = linesSent(lines).flatMap((line): Line[] => {
		const range = rangeOf.get(entryOf.get(line) ?? "");
		if (range === undefined) return [withoutHollowThinking(line)];
		if (written.has(range)) return [];
		written.add(range);
		return [{ type: "user", message: { role: "user", content: blockText(ranges, range) } }];
	});
	return mergeLines(sent);
}

/** Where no link names a line the session is what stands in the file (RULINGS 3), and the fork gives it the links. */
function linesSent(lines: readonly JsonObject[]): readonly Line[] {
	const uuids = new Set(lines.flatMap(({ uuid }) => (typeof uuid === "string" ? [uuid] : [])));
	const linked = lines.some(({ parentUuid }) => typeof parentUuid === "string" && uuids.has(parentUuid));
	return linked ? sentLines(lines) : lines;
}

function withoutHollowThinking(line: Line): Line {
	const message = line.message as Line | undefined;
	if (!message || !Array.isArray(message.content)) return line;
	const content = message.content.filter((block) => block.type !== "thinking" || block.thinking !== "");
	return { ...line, message: { ...message, content } };
}
