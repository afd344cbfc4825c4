/** Forks of message arrays: a document of the same form, its elements copied, a user message in place of each range. */
import { basename, extname } from "node:path";
import type { FieldEdit, ForkPiece, ForkRequest, FormatWriter, Gap } from "../fork.js";
import { type DocumentFrame, endOfDocument } from "../frame.js";
import { RecordTable } from "../table.js";
import { mendedText } from "../well-formed.js";
import { ARRAY_FLAG, ARRAY_TYPE } from "./array-fields.js";

/** Usage that was recorded before its context changed: nobody knows the new one. */
const UNKNOWN_USAGE: FieldEdit = { path: ["usage"], value: "null" };
/** In place of a replacement's number. */
const LEFT_OUT = 0xffffffff;
const LIST_KEY = "messages";
const FORK_MARK = /\.compacted(-\d+)?$/;

export const arrayWriter: FormatWriter = {
	// One message a line is written as a document whose separator is a line end: so line ends, blank lines and the end of the file stay as they are.
	shape: () => "document",
	pieces: (request) => (request.table.frame ? documentPieces(request, request.table.frame) : linePieces(request)),
	fileName: (_id, _now, parentPath) => {
		const name = basename(parentPath);
		const extension = FORK_MARK.test(extname(name)) ? "" : extname(name);
		const stem = name.slice(0, name.length - extension.length).replace(FORK_MARK, "");
		return `${stem}.compacted${extension}`;
	},
	idInName: () => null,
	resumeCommand: () => null,
};

function* documentPieces(request: ForkRequest, frame: DocumentFrame): Generator<ForkPiece> {
	const { table, parent } = request;
	const first = firstElement(table);
	yield* frame.salvaged ? madeHead(table, frame.list, frame.salvaged) : copied(table, 0, frame.open);
	if (first >= 0) yield space(frame.open, table.start.at(first));
	yield* elementPieces(request, first, ",");
	if (first >= 0 && frame.close >= 0) yield space(table.end.at(table.rows - 1), frame.close);
	if (frame.salvaged || frame.close < 0) yield { kind: "text", text: endOfDocument(frame.list) };
	else yield* copied(table, frame.close, parent.sizes[0]);
}

function* linePieces(request: ForkRequest): Generator<ForkPiece> {
	const { table, parent } = request;
	const first = firstElement(table);
	if (first < 0) return;
	yield space(0, table.start.at(first));
	yield* elementPieces(request, first, "\n");
	const end = table.end.at(table.rows - 1);
	if (end < parent.sizes[0]) yield { kind: "gap", source: 0, start: end, end: parent.sizes[0], separator: "\n" };
}

/** Bytes `start … end - 1` around the elements as they are, but for the recorded usage. */
function* copied(table: RecordTable, start: number, end: number): Generator<ForkPiece> {
	const usage = usageField(table);
	if (usage < 0 || table.start.at(usage) < start || table.end.at(usage) > end) {
		yield { kind: "raw", source: 0, start, end };
		return;
	}
	yield { kind: "raw", source: 0, start, end: table.start.at(usage) };
	yield { kind: "text", text: '"usage":null' };
	yield { kind: "raw", source: 0, start: table.end.at(usage), end };
}

/** The head of a document whose own is damaged, of the fields that can be read; it ends in the list's opening bracket. */
function* madeHead(
	table: RecordTable,
	list: DocumentFrame["list"],
	{ start, end }: { start: Float64Array; end: Float64Array },
): Generator<ForkPiece> {
	if (list === "root") {
		yield { kind: "text", text: "[" };
		return;
	}
	const usage = usageField(table);
	const stale = usage < 0 ? -1 : table.start.at(usage);
	yield { kind: "text", text: "{" };
	for (let i = 0; i < start.length; i++) {
		if (start[i] === stale) continue;
		yield { kind: "raw", source: 0, start: start[i], end: end[i] };
		yield { kind: "text", text: "," };
	}
	yield { kind: "text", text: `"${LIST_KEY}":[` };
}

/** The elements up to the anchor. A block stands at the place of the first element that it replaces; system messages stay where they are (RULINGS 9). */
function* elementPieces(request: ForkRequest, first: number, separator: "," | "\n"): Generator<ForkPiece> {
	const { table, branch, replacements } = request;
	const replacedBy = replacementOfRows(request);
	const placed = new Uint8Array(replacements.length);
	let behindBlock = false;
	for (let row = first; row >= 0 && row <= branch.leaf; row++) {
		const before = row === first ? separator : gap(table.end.at(row - 1), table.start.at(row), separator);
		const replacement = replacedBy[row] - 1;
		if (replacement === LEFT_OUT - 1) yield { kind: "left_out" };
		else if (replacement < 0) {
			yield {
				kind: "record",
				source: 0,
				start: table.start.at(row),
				end: table.end.at(row),
				edits: behindBlock && hasUsage(table, row) ? [UNKNOWN_USAGE] : [],
				before,
			};
		} else if (placed[replacement] === 0) {
			const { text } = replacements[replacement].message;
			yield { kind: "new", json: JSON.stringify({ role: "user", content: mendedText(text) }), before };
			placed[replacement] = 1;
			behindBlock = true;
		}
	}
}

/** Per row 1 + the index of the replacement that it gives way to, 0 for none. */
function replacementOfRows({ table, branch, replacements }: ForkRequest): Uint32Array {
	const replacedBy = new Uint32Array(table.rows);
	replacements.forEach(({ from, to }, index) => {
		for (let message = from; message < to; message++)
			for (const row of branch.messages.rowsOf(message)) replacedBy[row] = index + 1;
	});
	for (let row = 0; row < replacedBy.length; row++)
		if (replacedBy[row] > 0 && table.roleOf(row) === "assistant") leaveThinkingOut(table, replacedBy, row);
	return replacedBy;
}

/**
 * Messages before `row` that are nothing but thinking of the turn that it went on with: no API takes thinking at the end of a turn, which the block now makes it, and without it
 * what is left of the turn is whole.
 */
function leaveThinkingOut(table: RecordTable, replacedBy: Uint32Array, row: number): void {
	for (let before = row - 1; before >= 0 && replacedBy[before] === 0; before--) {
		if ((table.flags.at(before) & ARRAY_FLAG.ONLY_THINKING) !== 0) replacedBy[before] = LEFT_OUT;
		else if (table.roleOf(before) !== "system") return;
	}
}

/** Row of the first element; -1 for none. The fields of a document come before all elements. */
function firstElement(table: RecordTable): number {
	for (let row = 0; row < table.rows; row++) if (table.record.at(row) >= 0) return row;
	return -1;
}

/** Row of the usage beside the list; -1 for none. */
function usageField(table: RecordTable): number {
	for (let row = 0; row < table.rows && table.record.at(row) < 0; row++)
		if (table.type.at(row) === ARRAY_TYPE.USAGE) return row;
	return -1;
}

function hasUsage(table: RecordTable, row: number): boolean {
	const [from, to] = RecordTable.rangeOf(table.usageRow, row);
	return to > from;
}

function gap(start: number, end: number, separator: Gap["separator"]): Gap {
	return { source: 0, start, end, separator };
}

function space(start: number, end: number): ForkPiece {
	return { kind: "gap", ...gap(start, end, "") };
}
