/** A fork of a Claude Code session: a new file with one unbroken chain of parent links in sending order. What goes into it and what not: NOTES.md. */
import { basename, dirname } from "node:path";
import { MidcompactError } from "../../../errors.js";
import type { FieldEdit, ForkPiece, ForkRequest, FormatWriter, Replacement } from "../../fork.js";
import { GIANT_RECORD } from "../../giant.js";
import { RecordTable } from "../../table.js";
import { isBroken, mendedText } from "../../well-formed.js";
import { LINE, MARK, type TitleMeta } from "./kinds.js";
import { idInName } from "./name.js";

/** Paths that a shell takes as one word. */
const PLAIN_PATH = /^[\w@%+=:,./-]+$/;
/** Milliseconds that a date can hold. */
const LAST_DATE = 8.64e15;

export const claudeCodeWriter: FormatWriter = {
	shape: () => "lines",
	pieces: (request) => new ClaudeCodeFork(request).pieces(),
	fileName: (id) => `${id}.jsonl`,
	idInName(name) {
		const id = idInName(name);
		if (id !== null) return id;
		throw new MidcompactError(
			"invalid_output",
			`Claude Code finds a session by a file name that is a UUID with .jsonl behind it, and ${name} is none.`,
			"Choose a folder below $CLAUDE_CONFIG_DIR/projects and leave the name to the engine, or give a name of that form.",
		);
	},
	/** By its id the host finds a file only in a folder of its projects. */
	resumeCommand(id, path) {
		if (basename(dirname(dirname(path))) === "projects") return `claude --resume ${id}`;
		return `claude --resume ${PLAIN_PATH.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`;
	},
};

/**
 * Recorded usage behind the first block is that of another context. Taken whole, with everything that newer versions put into it: what is left of it would be read as the size of
 * this one, and would make the host compact at once.
 */
const NO_USAGE: FieldEdit = {
	path: ["message", "usage"],
	value: '{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}',
};

class ClaudeCodeFork {
	readonly #request: ForkRequest;
	readonly #table: RecordTable;
	readonly #session: FieldEdit;
	/** 1 for ids (string indexes) that a line of the fork has. */
	readonly #used: Uint8Array;
	/** Of the lines so far: the last uuid and the last time; null and NaN where there is none. */
	#uuid: string | null = null;
	#time = Number.NaN;
	#behindBlock = false;

	constructor(request: ForkRequest) {
		this.#request = request;
		this.#table = request.table;
		this.#session = { path: ["sessionId"], value: JSON.stringify(request.id), add: true };
		this.#used = new Uint8Array(request.table.strings.length);
	}

	*pieces(): Generator<ForkPiece> {
		const { branch, replacements, system } = this.#request;
		for (const row of system) yield this.#line(row);
		let from = 0;
		for (const replacement of replacements) {
			yield* this.#kept(from, replacement.from);
			yield this.#block(replacement);
			from = replacement.to;
		}
		yield* this.#kept(from, branch.messages.length);
		yield* this.#titles();
	}

	*#kept(from: number, to: number): Generator<ForkPiece> {
		const { messages } = this.#request.branch;
		for (let message = from; message < to; message++) {
			for (const row of messages.rowsOf(message)) {
				// The cleaner would drop it, and the next line would name a parent that is not there.
				yield this.#table.flags.at(row) & MARK.HOLLOW ? { kind: "left_out" } : this.#line(row);
			}
		}
	}

	#line(row: number): ForkPiece {
		const table = this.#table;
		const edits: FieldEdit[] = [this.#session, this.#parent(), { path: ["logicalParentUuid"], value: null }];
		const kept = this.#keptUuid(row);
		this.#uuid = kept ?? this.#request.newId();
		if (kept === null) edits.push({ path: ["uuid"], value: JSON.stringify(this.#uuid), add: true });
		if (table.flags.at(row) & MARK.SIDECHAIN) {
			// The fork of a sub-agent's file is a session of its own.
			edits.push({ path: ["isSidechain"], value: "false" }, { path: ["agentId"], value: null });
		}
		if (this.#behindBlock && this.#hasUsage(row)) edits.push(NO_USAGE);
		const time = table.time.at(row);
		if (isDate(time)) this.#time = time;
		return { kind: "record", ...this.#place(row), edits };
	}

	/** The uuid of a row, if the line may keep it. */
	#keptUuid(row: number): string | null {
		const index = this.#table.id.at(row);
		const uuid = this.#table.string(index);
		if (uuid === null || this.#used[index] === 1 || isBroken(uuid)) return null;
		this.#used[index] = 1;
		return uuid;
	}

	#hasUsage(row: number): boolean {
		const [from, to] = RecordTable.rangeOf(this.#table.usageRow, row);
		return from < to;
	}

	/** The message of a range, as a user line that stands where and when the range's first line stood. */
	#block({ from, message: { block, topic, text } }: Replacement): ForkPiece {
		const { parent, branch, id } = this.#request;
		const row = branch.messages.rowsOf(from)[0];
		const uuid = this.#request.newId();
		const fields: FieldEdit[] = [
			this.#parent(),
			{ path: ["isSidechain"], value: "false", add: true },
			this.#session,
			{ path: ["type"], value: '"user"', add: true },
			{
				path: ["message"],
				value: JSON.stringify({ role: "user", content: mendedText(text) }),
				add: true,
			},
			{ path: ["uuid"], value: JSON.stringify(uuid), add: true },
			{ path: ["timestamp"], value: JSON.stringify(this.#dateOf(row)), add: true },
			{
				path: ["midcompact"],
				value: JSON.stringify({
					block,
					topic: mendedText(topic),
					parent: { session: parent.id, path: parent.path },
				}),
				add: true,
			},
		];
		this.#uuid = uuid;
		this.#behindBlock = true;
		const place = this.#place(row);
		if (place.end - place.start <= GIANT_RECORD) return { kind: "between", ...place, edits: fields };
		return { kind: "new", json: JSON.stringify({ sessionId: id }), edits: fields };
	}

	/** When a row was written; where it does not say so, the line before it. */
	#dateOf(row: number): string {
		const time = this.#table.time.at(row);
		const known = isDate(time) ? time : this.#time;
		return (isDate(known) ? new Date(known) : this.#request.now).toISOString();
	}

	/** The last line of each kind that names the session, at the end: a list of sessions looks at the ends of a file only (claude-code#53264). */
	*#titles(): Generator<ForkPiece> {
		if (this.#uuid === null) return;
		const last = new Map<string, number>();
		const onBranch = this.#idsOnBranch();
		for (const [row, meta] of this.#table.metas) {
			if (this.#table.type.at(row) !== LINE.TITLE) continue;
			const { title, leaf } = meta as TitleMeta;
			// Old files begin with the summaries of other sessions.
			const isOwn = leaf === null || onBranch.has(this.#table.lookup(leaf));
			if (isOwn) last.set(title, row);
		}
		const leaf: FieldEdit = { path: ["leafUuid"], value: JSON.stringify(this.#uuid) };
		const session: FieldEdit = { ...this.#session, add: false };
		for (const row of last.values()) yield { kind: "record", ...this.#place(row), edits: [session, leaf] };
	}

	/** Which of the uuids that a title is about are on the branch, as string indexes. */
	#idsOnBranch(): ReadonlySet<number> {
		const table = this.#table;
		const wanted = new Set<number>();
		for (const [row, meta] of table.metas) {
			const leaf = table.type.at(row) === LINE.TITLE ? (meta as TitleMeta).leaf : null;
			if (leaf !== null) wanted.add(table.lookup(leaf));
		}
		const found = new Set<number>();
		if (wanted.size === 0) return found;
		for (const row of this.#request.branch.messages.rows.view()) {
			if (wanted.has(table.id.at(row))) found.add(table.id.at(row));
		}
		found.delete(-1);
		return found;
	}

	#parent(): FieldEdit {
		return { path: ["parentUuid"], value: JSON.stringify(this.#uuid), add: true };
	}

	#place(row: number): { source: number; start: number; end: number } {
		const { source, start, end } = this.#table;
		return { source: source.at(row), start: start.at(row), end: end.at(row) };
	}
}

function isDate(time: number): boolean {
	return Math.abs(time) <= LAST_DATE;
}
