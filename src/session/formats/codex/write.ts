/** A fork of a rollout: one flat file, whatever the session was made of. What Codex sends after a resume is the history with the blocks in it. */
import { MidcompactError } from "../../../errors.js";
import {
	type BlockMessage,
	type FieldEdit,
	type ForkItem,
	type ForkPiece,
	type ForkRequest,
	type FormatWriter,
	LINES_BEFORE,
} from "../../fork.js";
import type { RecordTable } from "../../table.js";
import { blockEvent, blockItem, blockTag } from "./block.js";
import { lineRows } from "./context.js";
import { FATE, type ForkLines, forkLines } from "./fork-lines.js";
import { HEADER_DEFAULTS, MARK, ROW } from "./kinds.js";
import { fileName, idInName } from "./name.js";

export const codexWriter: FormatWriter = {
	shape: () => "lines",
	pieces: (request) => new RolloutFork(request).pieces(),
	fileName: (id, now) => fileName(id, now),
	idInName(name) {
		const id = idInName(name);
		if (id !== null) return id;
		throw new MidcompactError(
			"invalid_output",
			`Codex finds a session only by a file name of its own form, and ${name} is none.`,
			`Use a name such as ${fileName("01a22f76-ac88-7a22-b7e2-001ef2c7cd2f", new Date(0))}, in a folder below $CODEX_HOME/sessions, or leave it to the engine.`,
		);
	},
	resumeCommand: (id) => `codex resume ${id}`,
};

const ORDINAL: FieldEdit = { path: ["ordinal"], value: LINES_BEFORE, add: true };
const HISTORY = ["payload", "replacement_history"] as const;
/** Bytes between two lines that follow each other, at most. */
const LINE_END = 2;
const EMPTY_HISTORY = { type: "compacted", payload: { message: "", replacement_history: [] } };
/** Where a header says that it continues another file. */
const CONTINUES = ["history_base", "forked_from_id", "forked_from_ordinal_exclusive"] as const;

/** Bytes of a source. */
interface Gap {
	source: number;
	start: number;
	end: number;
	/** Up to here the gap holds copies of the item before it; the rest are copies of the item behind it. */
	border: number;
}

class RolloutFork {
	readonly #request: ForkRequest;
	readonly #table: RecordTable;
	readonly #lines: ForkLines;
	readonly #stamp: string;
	/** Of an event, which names the thread that it belongs to. */
	readonly #eventEdits: readonly FieldEdit[];
	/** Ids of the turns that blocks stand in. */
	readonly #turnIds = new Map<number, string>();

	constructor(request: ForkRequest) {
		this.#request = request;
		this.#table = request.table;
		this.#lines = forkLines(request);
		this.#stamp = request.now.toISOString();
		this.#eventEdits = [ORDINAL, { path: ["payload", "thread_id"], value: JSON.stringify(request.id) }];
	}

	*pieces(): Generator<ForkPiece> {
		const { end, turns } = this.#lines;
		yield this.#header();
		yield* this.#base();
		for (let from = this.#baseRow + 1; from < end; ) {
			let to = from + 1;
			while (to < end && turns[to] === turns[from]) to++;
			yield* this.#turn(from, to);
			from = to;
		}
	}

	#header(): ForkPiece {
		const { meta } = this.#lines;
		const { id, parent } = this.#request;
		const lineage = JSON.stringify({ parent: { session: parent.id, path: parent.path } });
		const edits: FieldEdit[] = [
			ORDINAL,
			{ path: ["timestamp"], value: JSON.stringify(this.#stamp), add: true },
			{ path: ["payload", "id"], value: JSON.stringify(id), add: true },
			{ path: ["payload", "session_id"], value: JSON.stringify(id) },
			{ path: ["payload", "timestamp"], value: JSON.stringify(this.#stamp), add: true },
			...CONTINUES.map((field) => ({ path: ["payload", field], value: null })),
			{ path: ["midcompact"], value: lineage, add: true },
		];
		if (meta >= 0) return this.#isFlat(meta) ? this.#wrapped(meta, edits) : this.#record(meta, edits);
		return { kind: "new", json: JSON.stringify({ type: "session_meta", payload: HEADER_DEFAULTS }), edits };
	}

	/** The compaction that the history starts with, and what stands before it that still counts. */
	*#base(): Generator<ForkPiece> {
		const { checkpoint, summary, fates } = this.#lines;
		if (summary < 0) {
			if (checkpoint < 0) return;
			yield* this.#marks([ROW.TURN_START, ROW.TURN_CONTEXT]);
			yield this.#history();
			return;
		}
		// A history in front, though empty, makes Codex tell the model of its surroundings anew, as it does after a compaction without one.
		if (checkpoint >= 0) yield this.#history();
		else yield { kind: "new", json: JSON.stringify({ timestamp: this.#stamp, ...EMPTY_HISTORY }), edits: [ORDINAL] };
		for (let row = checkpoint + 1; row < summary; row++) if (fates[row] !== FATE.GONE) yield* this.#item(row);
		yield* this.#marks([ROW.TURN_START]);
		yield this.#wrapped(summary, [ORDINAL]);
	}

	/** Row of the last compaction that counts; -1 for none. */
	get #baseRow(): number {
		return Math.max(this.#lines.checkpoint, this.#lines.summary);
	}

	/** Lines of that compaction's own turn that stand before it. */
	*#marks(types: readonly number[]): Generator<ForkPiece> {
		const { turns } = this.#lines;
		const base = this.#baseRow;
		let row = base;
		while (row > 0 && turns[row - 1] === turns[base]) row--;
		for (; row < base; row++) if (types.includes(this.#table.type.at(row))) yield this.#record(row, this.#eventEdits);
	}

	#history(): ForkPiece {
		const place = this.#place(this.#lines.checkpoint);
		return { kind: "list", ...place, list: HISTORY, items: [...this.#items()], edits: [ORDINAL] };
	}

	/** The replacement history: runs of kept items, and blocks. */
	*#items(): Generator<ForkItem> {
		const { fates, blocks, checkpoint } = this.#lines;
		const record = this.#table.record.at(checkpoint);
		/** Items `from … to - 1` are kept and not yet given out. */
		let from = 0;
		let to = 0;
		for (let row = lineRows(this.#table); row < this.#table.rows; row++) {
			if (this.#table.record.at(row) !== record) continue;
			const block = blocks.get(row);
			if (fates[row] === FATE.KEPT) {
				const k = this.#table.item.at(row) - 1;
				if (to > from && to < k) yield { from, to };
				if (to < k || to === from) from = k;
				to = k + 1;
			} else if (block) {
				if (to > from) yield { from, to };
				from = to;
				yield { json: JSON.stringify({ ...blockItem(block, this.#request.newId()), ...blockTag(block) }) };
			}
		}
		if (to > from) yield { from, to };
	}

	/** The lines of a turn, from row `from` to `to - 1`; of the compaction's own turn those behind it. */
	*#turn(from: number, to: number): Generator<ForkPiece> {
		const { fates, blocks, turns } = this.#lines;
		const base = this.#baseRow;
		let items = 0;
		let replaced = 0;
		let written = base >= 0 && turns[base] === turns[from] ? 1 : 0;
		for (let row = from; row < to; row++) {
			if (this.#table.type.at(row) === ROW.ITEM) items++;
			if (fates[row] === FATE.REPLACED) replaced++;
			if (fates[row] === FATE.KEPT || blocks.has(row)) written++;
		}
		if (written > 0) yield* this.#writtenTurn(from, to);
		// Of a turn that a range swallowed the host's surroundings stay true; what a rollback took back does not.
		else if (items === 0 || replaced > 0)
			for (let row = from; row < to; row++)
				if (this.#table.type.at(row) === ROW.WORLD_STATE) yield this.#record(row, [ORDINAL]);
	}

	*#writtenTurn(from: number, to: number): Generator<ForkPiece> {
		const { fates, blocks } = this.#lines;
		/** Pieces that wait until the next item is known. */
		let waiting: (ForkPiece | Gap)[] = [];
		let before: number | null = null;
		let gap = this.#gapBefore(from);
		const settle = (after: number | null) => {
			const settled = waiting.flatMap((one) => ("kind" in one ? [one] : this.#carried(one, before, after)));
			waiting = [];
			return settled;
		};
		for (let row = from; row < to; row++) {
			const type = this.#table.type.at(row);
			if (type === ROW.USER_EVENT || type === ROW.USER_ITEM_EVENT) gap.border = this.#table.end.at(row);
			if (type === ROW.USER_EVENT || type === ROW.USER_ITEM_EVENT || type === ROW.WORDS_EVENT || type === ROW.USAGE)
				continue;
			waiting.push({ ...gap, end: this.#table.start.at(row) });
			gap = this.#gapBefore(row + 1);
			if (type === ROW.ITEM) {
				yield* settle(fates[row]);
				before = fates[row];
				if (blocks.has(row) || fates[row] === FATE.KEPT) yield* this.#item(row);
			} else if (type === ROW.TURN_START || type === ROW.TURN_ABORTED) {
				waiting.push(this.#record(row, this.#eventEdits));
			} else if (type === ROW.TURN_END) {
				waiting.push(this.#record(row, before === FATE.REPLACED ? [...this.#eventEdits, FORGOTTEN] : this.#eventEdits));
			} else if (type === ROW.TURN_CONTEXT || type === ROW.WORLD_STATE) waiting.push(this.#record(row, [ORDINAL]));
		}
		yield* settle(null);
	}

	/** What is carried of the lines between two items: copies of those that are kept. A turn's edge goes with the item on the other side. */
	#carried({ source, start, end, border }: Gap, before: number | null, after: number | null): ForkPiece[] {
		const keepBefore = (before ?? after ?? FATE.KEPT) === FATE.KEPT;
		const keepAfter = (after ?? before ?? FATE.KEPT) === FATE.KEPT;
		const from = keepBefore ? start : border;
		const to = keepAfter ? end : border;
		return to - from > LINE_END ? [{ kind: "between", source, start: from, end: to, edits: this.#eventEdits }] : [];
	}

	/** The bytes between a row and the one before it; none where a source begins. */
	#gapBefore(row: number): Gap {
		const last = row - 1;
		const source = row < this.#table.rows ? this.#table.source.at(row) : -1;
		const follows = last >= 0 && this.#table.source.at(last) === source;
		const start = follows ? this.#table.end.at(last) : row < this.#table.rows ? this.#table.start.at(row) : 0;
		return { source, start, end: start, border: start };
	}

	/** An item on a line of its own: as it is, or the block that stands in its place. */
	*#item(row: number): Generator<ForkPiece> {
		const block = this.#lines.blocks.get(row);
		if (block) yield* this.#block(block, row);
		if (this.#lines.fates[row] !== FATE.KEPT) return;
		const stamp: FieldEdit = { path: ["timestamp"], value: JSON.stringify(this.#stamp), add: true };
		yield this.#isFlat(row) ? this.#wrapped(row, [ORDINAL, stamp]) : this.#record(row, [ORDINAL]);
	}

	/** The message, and behind it the copy for the screen. */
	*#block(block: BlockMessage, row: number): Generator<ForkPiece> {
		const { id, now } = this.#request;
		const line = (type: string, payload: object): ForkPiece => {
			const json = JSON.stringify({ timestamp: this.#stamp, type, payload, ...blockTag(block) });
			return { kind: "new", json, edits: [ORDINAL] };
		};
		yield line("response_item", blockItem(block, this.#request.newId()));
		yield line("event_msg", blockEvent(block, this.#request.newId(), id, this.#turnId(row), now));
	}

	/** Id of the turn that a line stands in; a new one where no line says it. */
	#turnId(row: number): string {
		const { turns } = this.#lines;
		const turn = turns[row];
		let id = this.#turnIds.get(turn) ?? null;
		for (let at = row; id === null && at >= 0 && turns[at] === turn; at--)
			id = this.#table.string(this.#table.group.at(at));
		id ??= this.#request.newId();
		this.#turnIds.set(turn, id);
		return id;
	}

	#place(row: number): { source: number; start: number; end: number } {
		return { source: this.#table.source.at(row), start: this.#table.start.at(row), end: this.#table.end.at(row) };
	}

	#record(row: number, edits: readonly FieldEdit[]): ForkPiece {
		return { kind: "record", ...this.#place(row), edits };
	}

	/** A line that the cleaner writes in another form. */
	#wrapped(row: number, edits: readonly FieldEdit[]): ForkPiece {
		return { kind: "between", ...this.#place(row), edits };
	}

	#isFlat(row: number): boolean {
		return (this.#table.flags.at(row) & MARK.FLAT) !== 0;
	}
}

/** Of a turn whose last reply was replaced: the copy of it in the event that ended the turn. */
const FORGOTTEN: FieldEdit = { path: ["payload", "last_agent_message"], value: "null" };
