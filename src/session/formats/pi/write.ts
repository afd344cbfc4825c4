/** A fork of a Pi session: one file of version 3, the entries on the way to the anchor in a single line of parents. */
import type { BlockMessage, FieldEdit, ForkPiece, ForkRequest, FormatWriter } from "../../fork.js";
import { RecordTable } from "../../table.js";
import { mendedText } from "../../well-formed.js";
import {
	BLOCK_TYPE,
	type CompactionMeta,
	CURRENT_VERSION,
	FIRST_TREE_VERSION,
	FIRST_WITHOUT_HOOKS,
	PI_FLAG,
	TYPE,
} from "./codes.js";
import { FATE, type ForkEntries, forkEntries } from "./fork-entries.js";

export const piWriter: FormatWriter = {
	blockRole: "custom",
	shape: () => "lines",
	pieces: (request) => new PiFork(request).pieces(),
	fileName: (id, now) => `${now.toISOString().replace(/[:.]/g, "-")}_${id}.jsonl`,
	// Pi goes by the header, whatever the file is called.
	idInName: () => null,
	resumeCommand: (_id, path) => `pi --session ${PLAIN.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`,
};

/** A path that a shell takes as it is. */
const PLAIN = /^[\w./:@%+=,-]+$/;
/** Numbers of a reply's usage; its `cost` stays, because that was paid. */
const TOKENS = ["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "reasoning", "totalTokens"];
/** In place of what a failed reply says of itself: Pi compacts at once where the last reply failed because the context was too large. */
const FAILED: FieldEdit = {
	path: ["message", "errorMessage"],
	value: '"This reply failed before the session was compacted."',
};
/** Largest time that a Date can hold. */
const LAST_DATE = 8.64e15;

class PiFork {
	readonly #request: ForkRequest;
	readonly #table: RecordTable;
	readonly #entries: ForkEntries;

	constructor(request: ForkRequest) {
		this.#request = request;
		this.#table = request.table;
		this.#entries = forkEntries(request);
	}

	*pieces(): Generator<ForkPiece> {
		const { path, fates, blocks, idAt } = this.#entries;
		yield this.#header();
		let parent: string | null = null;
		for (let at = 0; at < path.length; at++) {
			const block = blocks.get(at);
			if (block) yield this.#block(block, at, parent);
			else if (fates[at] === FATE.KEPT) yield this.#entry(at, parent);
			else continue;
			parent = idAt(at);
		}
	}

	/** The session's header with what is the fork's own; without one, a header that says nothing else. */
	#header(): ForkPiece {
		const { id, now, parent } = this.#request;
		const { header } = this.#entries;
		const lineage = { parent: { session: parent.id, path: parent.path } };
		const edits: FieldEdit[] = [
			{ path: ["version"], value: String(CURRENT_VERSION), add: true },
			{ path: ["id"], value: JSON.stringify(id), add: true },
			{ path: ["timestamp"], value: JSON.stringify(now.toISOString()), add: true },
			{ path: ["parentSession"], value: JSON.stringify(parent.path), add: true },
			{ path: ["midcompact"], value: JSON.stringify(lineage), add: true },
		];
		if (header < 0) return { kind: "new", json: '{"type":"session"}', edits };
		return { kind: "record", ...this.#place(header), edits };
	}

	#entry(at: number, parent: string | null): ForkPiece {
		const row = this.#entries.path[at];
		const edits: FieldEdit[] = [{ path: ["parentId"], value: JSON.stringify(parent), add: true }];
		const { idAt, isRenamed, version } = this.#entries;
		if (isRenamed(at)) edits.push({ path: ["id"], value: JSON.stringify(idAt(at)), add: true });
		const type = this.#table.type.at(row);
		if (type === TYPE.COMPACTION) edits.push(...this.#kept(at, row));
		if (type === TYPE.CONTEXT_EDIT || type === TYPE.LABEL) edits.push(...this.#target(row));
		if (type === TYPE.BARE) edits.push({ path: ["timestamp"], value: JSON.stringify(this.#dateOf(row)), add: true });
		if (this.#table.flags.at(row) & PI_FLAG.HOOK && version < FIRST_WITHOUT_HOOKS)
			edits.push({ path: ["message", "role"], value: '"custom"' });
		edits.push(...this.#reply(at, row));
		return { kind: "record", ...this.#place(row), edits };
	}

	/** Usage that describes another context, and the reason why the last reply failed. */
	#reply(at: number, row: number): FieldEdit[] {
		const { stale, lastReply } = this.#entries;
		const flags = this.#table.flags.at(row);
		const edits: FieldEdit[] = at === lastReply && flags & PI_FLAG.FAILED ? [FAILED] : [];
		const [from, to] = RecordTable.rangeOf(this.#table.usageRow, row);
		if (from === to || at < stale) return edits;
		for (const field of TOKENS) {
			// Pi takes a last reply that was cut off before the model's limit for one that a full context cut off, and compacts.
			const isLimit = field === "output" && at === lastReply && (flags & PI_FLAG.CUT_OFF) !== 0;
			if (!isLimit) edits.push({ path: ["message", "usage", field], value: "0" });
		}
		return edits;
	}

	/** Where a compaction's kept part begins in the fork. What names no entry before it keeps nothing, as its own id says. */
	#kept(at: number, row: number): FieldEdit[] {
		const { version, place, rowOf, idAt, standsAt } = this.#entries;
		const { kept, keptIndex } = this.#table.metas.get(row) as CompactionMeta;
		const isLinear = version < FIRST_TREE_VERSION;
		const named = isLinear ? this.#rowOfRecord(keptIndex) : kept === null ? -1 : rowOf(kept);
		let first = named < 0 ? at : place[named];
		while (first < at && standsAt(first) < 0) first++;
		const id = idAt(first < at ? standsAt(first) : at);
		const edits: FieldEdit[] = isLinear ? [{ path: ["firstKeptEntryIndex"], value: null }] : [];
		if (id !== kept) edits.push({ path: ["firstKeptEntryId"], value: JSON.stringify(id), add: true });
		return edits;
	}

	#rowOfRecord(record: number | null): number {
		const { path } = this.#entries;
		return record === null ? -1 : (path.find((row) => this.#table.record.at(row) === record) ?? -1);
	}

	/** The entry that an edit or a label is about, where it has another id now. */
	#target(row: number): FieldEdit[] {
		const { rowOf, place, isRenamed, idAt } = this.#entries;
		const target = rowOf((this.#table.metas.get(row) as { target: string }).target);
		if (target < 0 || !isRenamed(place[target])) return [];
		return [{ path: ["targetId"], value: JSON.stringify(idAt(place[target])) }];
	}

	/** The message of a range, which stands where and when its first entry stood. */
	#block({ block, topic, text }: BlockMessage, at: number, parentId: string | null): ForkPiece {
		const entry = {
			type: "custom_message",
			customType: BLOCK_TYPE,
			content: mendedText(text),
			display: true,
			details: { blockId: block, topic: mendedText(topic) },
			id: this.#entries.idAt(at),
			parentId,
			timestamp: this.#dateOf(this.#entries.path[at]),
		};
		return { kind: "new", json: JSON.stringify(entry) };
	}

	#dateOf(row: number): string {
		const time = this.#table.time.at(row);
		return (Math.abs(time) <= LAST_DATE ? new Date(time) : this.#request.now).toISOString();
	}

	#place(row: number): { source: number; start: number; end: number } {
		const { source, start, end } = this.#table;
		return { source: source.at(row), start: start.at(row), end: end.at(row) };
	}
}
