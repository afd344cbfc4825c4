/** Arrays of both message formats as texts whose bytes are known, forks of them, and what a fork must be. */
import { basename } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { checkResume } from "#src/engine/resume.js";
import type { OpenSurvey } from "#src/engine/survey.js";
import type { FormatName } from "#src/session/record.js";
import { openShared } from "../helpers/engine.js";
import { forkFile, type TestRange, testBlockText } from "../helpers/fork.js";

/** How a list of elements is written. */
export interface Layout {
	shape: "bare" | "wrapped" | "lines";
	pretty: boolean;
	eol: "\n" | "\r\n";
	bom: boolean;
	endsInNewline: boolean;
	/** Fields before and behind the list of a wrapped array, usage aside. */
	usage: "before" | "behind" | "none";
}

export const layouts: fc.Arbitrary<Layout> = fc.record({
	shape: fc.constantFrom("bare", "wrapped", "lines"),
	pretty: fc.boolean(),
	eol: fc.constantFrom("\n", "\r\n"),
	bom: fc.boolean(),
	endsInNewline: fc.boolean(),
	usage: fc.constantFrom("before", "behind", "none"),
});

/** The text of an array; `isFork`: recorded usage of the whole array is no longer known. */
export function arrayText(elements: readonly string[], layout: Layout, isFork = false): string {
	const { shape, pretty, eol } = layout;
	const end = layout.endsInNewline ? eol : "";
	const mark = layout.bom ? "\ufeff" : "";
	if (shape === "lines") return `${mark}${elements.join(eol)}${end}`;
	const indent = shape === "wrapped" ? "    " : "  ";
	const list = pretty
		? `[${eol}${indent}${elements.join(`,${eol}${indent}`)}${eol}${indent.slice(2)}]`
		: `[${elements.join(",")}]`;
	if (shape === "bare") return `${mark}${list}${end}`;
	const colon = pretty ? ": " : ":";
	const usage = isFork ? '"usage":null' : `"usage"${colon}{"input_tokens":1.50e2,"output_tokens":7}`;
	const fields = [`"model"${colon}"m\\u00e9"`, `"seed"${colon}9223372036854775809`, `"messages"${colon}${list}`];
	if (layout.usage === "before") fields.unshift(usage);
	fields.push(`"temperature"${colon}1.0`);
	if (layout.usage === "behind") fields.push(usage);
	const [open, close] = pretty ? [`{${eol}  `, `${eol}}`] : ["{", "}"];
	return `${mark}${open}${fields.join(pretty ? `,${eol}  ` : ",")}${close}${end}`;
}

/** The usage that an element may hold, as text at its end. */
export const ELEMENT_USAGE = ',"usage": {"prompt_tokens": 12.0, "input_tokens": 12.0, "output_tokens": 3}}';
const USAGE_GONE = ',"usage": null}';

/** What a session says of its atoms, and what its check refuses. */
export interface SeenArray {
	atoms: { kind: string; protocol: string; reason: string | null; chars: number; records: number[] }[];
	/** Number of findings by rule. */
	refused: Map<string, number>;
	damage: number;
}

export async function seeArray(path: string, format: FormatName): Promise<SeenArray> {
	const session = await openShared(path, { format });
	try {
		const survey = session.survey as OpenSurvey;
		const { atoms, branch, table } = survey;
		const report = await checkResume(survey, basename(path), new AbortController().signal);
		const refused = new Map<string, number>();
		for (const { rule, severity } of report.findings)
			if (severity === "refused") refused.set(rule, (refused.get(rule) ?? 0) + 1);
		return {
			atoms: Array.from({ length: atoms.length }, (_, atom) => {
				const records: number[] = [];
				for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++)
					for (const row of branch.messages.rowsOf(m)) records.push(table.record.at(row));
				return {
					kind: atoms.kindOf(atom),
					protocol: atoms.protocolOf(atom),
					reason: atoms.reasonOf(atom),
					chars: atoms.chars.at(atom),
					records,
				};
			}),
			refused,
			damage: table.damage.count,
		};
	} finally {
		await session.close();
	}
}

/** Ranges over compressible atoms, chosen by numbers: each number says how far the next range, or the next gap, goes. */
export function rangesOf(atoms: SeenArray["atoms"], steps: readonly number[]): TestRange[] {
	const ranges: TestRange[] = [];
	let at = 0;
	for (let i = 0; i + 1 < steps.length && at < atoms.length; i += 2) {
		at += steps[i];
		while (at < atoms.length && atoms[at].reason !== null) at++;
		let to = at;
		while (to + 1 < atoms.length && to - at < steps[i + 1] && atoms[to + 1].reason === null) to++;
		if (at < atoms.length) ranges.push({ from: at, to, summary: `What happened, № ${i} "so".\nEnd` });
		at = to + 2;
	}
	return ranges;
}

/** The elements that a fork must hold. */
export function forkedElements(
	elements: readonly string[],
	atoms: SeenArray["atoms"],
	ranges: readonly TestRange[],
	firstBlock = 1,
): string[] {
	const blockAt = new Map<number, string>();
	const gone = new Set<number>();
	ranges.forEach((range, i) => {
		const records = atoms.slice(range.from, range.to + 1).flatMap((atom) => atom.records);
		for (const record of records) gone.add(record);
		const content = testBlockText(`c${String(firstBlock + i).padStart(4, "0")}`, range);
		blockAt.set(Math.min(...records), JSON.stringify({ role: "user", content }));
	});
	const out: string[] = [];
	let behindBlock = false;
	elements.forEach((element, record) => {
		const block = blockAt.get(record);
		if (block) out.push(block);
		behindBlock ||= block !== undefined;
		if (gone.has(record)) return;
		const stale = behindBlock && element.endsWith(ELEMENT_USAGE);
		out.push(stale ? `${element.slice(0, -ELEMENT_USAGE.length)}${USAGE_GONE}` : element);
	});
	return out;
}

/** The atoms that a fork must have, without their places. */
export function forkedAtoms(atoms: SeenArray["atoms"], ranges: readonly TestRange[], firstBlock = 1): object[] {
	const out: object[] = [];
	atoms.forEach(({ records: _, ...atom }, i) => {
		const index = ranges.findIndex(({ from, to }) => from <= i && i <= to);
		if (index < 0) out.push(atom);
		else if (ranges[index].from === i) {
			const text = testBlockText(`c${String(firstBlock + index).padStart(4, "0")}`, ranges[index]);
			out.push({ kind: "block", protocol: "none", reason: "committed_block", chars: [...text].length });
		}
	});
	return out;
}

/**
 * Writes an array, forks it twice and holds each fork against what it must be, byte by byte; the steps choose the ranges of either fork.
 */
export async function holdForks(
	format: FormatName,
	elements: readonly string[],
	layout: Layout,
	steps: readonly (readonly number[])[],
	write: (name: string, content: string) => string,
): Promise<void> {
	let path = write(layout.shape === "lines" ? "array.jsonl" : "array.json", arrayText(elements, layout));
	let expected = [...elements];
	let firstBlock = 1;
	let seen = await seeArray(path, format);
	expect(seen.damage).toBe(0);
	let changed = false;
	for (const some of steps) {
		const ranges = rangesOf(seen.atoms, some);
		if (ranges.length === 0) continue;
		changed = true;
		const fork = await forkFile(path, ranges, { open: { format }, firstBlock });
		expected = forkedElements(expected, seen.atoms, ranges, firstBlock);
		expect(fork.text()).toBe(arrayText(expected, layout, changed));
		expect(fork).toMatchObject({ cleaned: 0, dropped: 0 });
		const again = await seeArray(fork.path, format);
		expect(again.damage).toBe(0);
		expect(again.atoms.map(({ records: _, ...atom }) => atom)).toEqual(forkedAtoms(seen.atoms, ranges, firstBlock));
		for (const [rule, n] of again.refused) expect([rule, n <= (seen.refused.get(rule) ?? 0)]).toEqual([rule, true]);
		firstBlock += ranges.length;
		path = fork.path;
		seen = again;
	}
}

/** Numbers for {@link rangesOf}, for a fork and a fork of it. */
export const forkSteps: fc.Arbitrary<number[][]> = fc.array(fc.array(fc.nat(4), { minLength: 2, maxLength: 6 }), {
	minLength: 2,
	maxLength: 2,
});
