/** A survey in memory: real tables and atoms made from a short list, with texts, search and counts done naively. */
import { createHash } from "node:crypto";
import { groupAtoms } from "#src/atoms/groups.js";
import { ATOM, type AtomKind, AtomTable, type Protocol, type Reason, SOURCES, type Source } from "#src/atoms/table.js";
import type { AtomText, DamageReport, SearchQuery, SearchResult, Survey, TextView } from "#src/facade/survey.js";
import { measureParts } from "#src/measure/parts.js";
import { landmark, lineLandmark } from "#src/search/landmark.js";
import { MessageList, type RecordedUsage } from "#src/session/branch.js";
import { codePoints } from "#src/session/code-points.js";
import { GIANT_RECORD } from "#src/session/giant.js";
import { contentTexts, emptyFacts, FLAG, type Part, type Role } from "#src/session/record.js";
import { RecordTable } from "#src/session/table.js";

/** One atom: its messages with their parts, and the marks that its builder would have given it. */
export interface MadeAtom {
	messages: { role: Role; parts: Part[]; id?: string }[];
	kind: AtomKind;
	protocol?: Protocol;
	reason?: Reason;
	leads?: boolean;
	unsent?: boolean;
	host?: boolean;
	userText?: boolean;
	sources?: Source[];
	/** Its records are larger than what is loaded whole. */
	giant?: boolean;
}

export interface MadeOptions {
	/** Tokens of every atom; null while they are not counted. */
	tokens?: (atom: number) => number | null;
	ready?: number;
	usage?: RecordedUsage;
	damage?: Partial<DamageReport>;
	notices?: string[];
	system?: { messages: number; chars: number };
	desk?: Survey["desk"];
	archive?: Survey["archive"];
	losses?: Survey["losses"];
}

export function text(text: string): Part {
	return { type: "text", text, from: "own" };
}

/** A prompt that leads a group. */
export function prompt(words: string, extra: Partial<MadeAtom> = {}): MadeAtom {
	return { kind: "user", messages: [{ role: "user", parts: [text(words)] }], leads: true, sources: ["user"], ...extra };
}

export function reply(words: string, extra: Partial<MadeAtom> = {}): MadeAtom {
	return {
		kind: "assistant",
		messages: [{ role: "assistant", parts: [text(words)] }],
		sources: ["assistant"],
		...extra,
	};
}

/** A closed exchange of one call and its result. */
export function exchange(name: string, args: string, result: string, extra: Partial<MadeAtom> = {}): MadeAtom {
	return {
		kind: "tool_exchange",
		protocol: "closed",
		sources: ["tool_call", "tool_result"],
		messages: [
			{ role: "assistant", parts: [{ type: "tool_call", id: "c", name, arguments: args, answer: "result" }] },
			{
				role: "tool_result",
				parts: [
					{ type: "tool_result", id: "c", name, byName: false },
					{ type: "text", text: result, from: "result" },
				],
			},
		],
		...extra,
	};
}

export function image(mime: string, bytes: number): Part {
	return { type: "image", mime, bytes, width: 640, height: 480, from: "own" };
}

export function madeSurvey(list: readonly MadeAtom[], options: MadeOptions = {}): Survey {
	const table = new RecordTable();
	const messages = new MessageList();
	const atoms = new AtomTable();
	const contents: string[][] = [];
	for (const made of list) {
		const figures = { chars: 0, images: 0, imageBytes: 0 };
		const texts: string[] = [];
		for (const { role, parts, id } of made.messages) {
			const facts = emptyFacts(0);
			Object.assign(facts, { role, parts, id: id ?? `e${table.rows}`, flags: made.host ? FLAG.HOST : 0 });
			const place = {
				start: table.rows * 100,
				end: table.rows * 100 + (made.giant ? GIANT_RECORD + 1 : 99),
				record: table.rows,
				line: table.rows + 1,
				item: 0,
			};
			const measured = measureParts(facts);
			messages.push(role, [table.add(facts, place, measured)]);
			texts.push(...contentTexts(parts));
			figures.chars += measured.chars;
			for (const part of parts) {
				if (part.type !== "image") continue;
				figures.images++;
				figures.imageBytes += part.bytes;
			}
		}
		contents.push(texts);
		const marks: [boolean | undefined, number][] = [
			[!made.unsent, ATOM.SENT],
			[made.userText, ATOM.USER_TEXT],
			[made.host, ATOM.HOST],
			[made.leads, ATOM.LEADS],
		];
		atoms.push({
			kind: made.kind,
			protocol: made.protocol ?? "none",
			reason: made.reason ?? null,
			marks: marks.reduce((bits, [on, bit]) => (on ? bits | bit : bits), 0),
			sources: (made.sources ?? []).reduce((bits, source) => bits | (1 << SOURCES.indexOf(source)), 0),
			messageEnd: messages.length,
			...figures,
		});
	}
	table.records = table.rows;
	const ofAtom = options.tokens ?? ((atom: number) => Math.ceil(atoms.chars.at(atom) / 4));
	return {
		path: "/made/session.jsonl",
		format: "pi",
		scope: "context",
		bytes: table.rows * 100,
		anchor: table.rows === 0 ? null : table.entryOf(table.rows - 1),
		table,
		branch: {
			messages,
			leaf: table.rows - 1,
			walked: new Uint8Array(table.rows).fill(1),
			damage: [],
			notices: [],
			usage: options.usage ?? null,
			adjacency: "literal",
		},
		atoms,
		groups: groupAtoms(atoms),
		system: options.system ?? { messages: 0, chars: 0 },
		tokens: { encoding: "o200k_base", ready: options.ready ?? 1, approximateAtoms: 0, ofAtom, ofSystem: () => 0 },
		damage: { count: 0, onAnchor: 0, kinds: {}, first: [], ...options.damage },
		notices: options.notices ?? [],
		unsearchedAtoms: list.filter(({ giant }) => giant).length,
		texts: async (wanted, view) => wanted.map((atom) => viewOf(atom, contents[atom], view)),
		search: async (query) => naiveSearch(atoms, table, messages, contents, query),
		desk: options.desk ?? null,
		archive: options.archive ?? null,
		hashOf: async (start, end) =>
			createHash("sha256")
				.update(JSON.stringify(contents.slice(start, end + 1)))
				.digest("hex"),
		countTexts: async (wanted) => wanted.map((each) => Math.ceil(codePoints(each) / 4)),
		losses: options.losses ?? (async () => null),
	};
}

function viewOf(atom: number, texts: readonly string[], { budget, shape }: TextView): AtomText {
	const whole = texts.join("\n");
	return { atom, ...(shape === "lead" ? lineLandmark(texts[0] ?? "", budget) : landmark(whole, budget)) };
}

function naiveSearch(
	atoms: AtomTable,
	table: RecordTable,
	messages: MessageList,
	contents: readonly string[][],
	{ pattern, toolName, source, direction, limit, excerpt }: SearchQuery,
): SearchResult {
	const toolsOf = (atom: number) => {
		const names: string[] = [];
		for (let m = atoms.messageStart.at(atom); m < atoms.messageStart.at(atom + 1); m++) {
			for (const row of messages.rowsOf(m)) {
				const [from, to] = RecordTable.rangeOf(table.callRow, row);
				for (let i = from; i < to; i++) names.push((table.string(table.callName.at(i)) ?? "").toLowerCase());
			}
		}
		return names;
	};
	const found = contents.flatMap((texts, atom) => {
		if (pattern !== null && !texts.join("\n").toLowerCase().includes(pattern.toLowerCase())) return [];
		if (toolName !== null && !toolsOf(atom).includes(toolName.toLowerCase())) return [];
		return source === null || atoms.holds(atom, source) ? [atom] : [];
	});
	if (direction === "newest") found.reverse();
	const matches = found.slice(0, limit).map((atom) => ({ atom, ...landmark(contents[atom].join("\n"), excerpt) }));
	return { total: found.length, matches };
}

/** Code points of texts, for expectations. */
export function charsOf(...texts: string[]): number {
	return texts.reduce((sum, t) => sum + codePoints(t), 0);
}
