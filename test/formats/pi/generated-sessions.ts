/** Random Pi sessions: trees with branches, compactions, edits, labels, parallel calls, failed turns and what else real files hold. */
import fc from "fast-check";
import type { JsonObject } from "#src/session/record.js";
import { assistant, call, entry, header, message, result, text, usage, user } from "./entries.js";

const KINDS = [
	"prompt",
	"answer",
	"failed",
	"stopped",
	"cut_off",
	"bash",
	"hidden_bash",
	"note",
	"state",
	"model",
	"system",
	"label",
	"drop",
	"edit",
	"compaction",
	"keep_nothing",
	"back",
	"branch_summary",
] as const;
type Kind = (typeof KINDS)[number];

/** What versions before 3 did not know. */
const NEW: ReadonlySet<Kind> = new Set<Kind>(["label", "drop", "edit", "keep_nothing", "back", "branch_summary"]);

type Step = { kind: Kind; pick: number } | { kind: "calls"; answered: boolean[]; between: boolean; pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 2, arbitrary: fc.record({ kind: fc.constantFrom(...KINDS), pick: fc.nat(50) }) },
	{
		weight: 1,
		arbitrary: fc.record({
			kind: fc.constant("calls" as const),
			answered: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
			between: fc.boolean(),
			pick: fc.nat(50),
		}),
	},
);

export const sessionSteps = fc.array(step, { minLength: 4, maxLength: 25 });

/** The records of a session of version 3. */
export function sessionOf(steps: readonly Step[], only: "all" | "linear" = "all"): JsonObject[] {
	const tree = new Tree();
	tree.add("prompt", 0);
	for (const one of steps) {
		if (one.kind === "calls") tree.calls(one.answered, one.between, only === "linear");
		else if (only === "all" || !NEW.has(one.kind)) tree.add(one.kind, one.pick);
	}
	tree.add("prompt", 0);
	return tree.records;
}

class Tree {
	readonly records: JsonObject[] = [header()];
	#leaf: string | null = null;
	#n = 0;

	/** Adds an entry, or goes back to one; gives the leaf then. */
	add(kind: Kind, pick: number): string | null {
		const words = `words ${this.#n}`;
		const reply = (fields: JsonObject) =>
			this.#push((id, parent) =>
				assistant(id, parent, [text(words)], { usage: { ...usage(100 + this.#n, 7), cost: { total: 1 } }, ...fields }),
			);
		switch (kind) {
			case "prompt":
				return this.#push((id, parent) => user(id, parent, pick % 2 ? words : [text(words), text("")]));
			case "answer":
				return reply({});
			case "failed":
				return reply({ stopReason: "error", errorMessage: "prompt is too long" });
			case "stopped":
				return reply({ stopReason: "aborted", content: [] });
			case "cut_off":
				return reply({ stopReason: "length" });
			case "bash":
			case "hidden_bash": {
				const excludeFromContext = kind === "hidden_bash";
				const body = { role: "bashExecution", command: words, output: "out", exitCode: 0, excludeFromContext };
				return this.#push((id, parent) => message(id, parent, body));
			}
			case "note":
				return this.#push((id, parent) =>
					entry("custom_message", id, parent, { customType: "x", content: words, display: true }),
				);
			case "state":
				return this.#push((id, parent) => entry("custom", id, parent, { customType: "x", data: { n: 1 } }));
			case "model":
				return this.#push((id, parent) => entry("model_change", id, parent, { provider: "p", modelId: words }));
			case "system":
				return this.#push((id, parent) => message(id, parent, { role: "system", content: words }));
			case "label":
				return this.#about(pick, ["message", "custom_message", "custom"], (id, parent, target) =>
					entry("label", id, parent, { targetId: target.id, label: words }),
				);
			case "drop":
			case "edit":
				return this.#about(pick, ["message", "custom_message"], (id, parent, target) => {
					const isDropped = kind === "drop" && !holdsCall(target) && roleOf(target) !== "toolResult";
					if (holdsCall(target)) return null;
					return entry("context_edit", id, parent, {
						targetId: target.id,
						replacement: isDropped ? null : { content: `edited ${words}` },
					});
				});
			case "compaction":
				return this.#about(pick, ["message", "custom_message", "model_change"], (id, parent, target) =>
					roleOf(target) === "toolResult" ? null : this.#compaction(id, parent, target.id),
				);
			case "keep_nothing":
				return this.#push((id, parent) => this.#compaction(id, parent, pick % 2 ? id : "not-there"));
			case "back": {
				const path = this.#path();
				this.#leaf = String(path[pick % path.length].id);
				return this.#leaf;
			}
			case "branch_summary":
				return this.#push((id, parent) => entry("branch_summary", id, parent, { fromId: "root", summary: words }));
		}
	}

	/** A reply with calls and their results; `all`: each has one. */
	calls(answered: readonly boolean[], between: boolean, all: boolean): void {
		const ids = answered.map((_, k) => `call-${this.#n}-${k}`);
		const content = [{ type: "thinking", thinking: "" }, ...ids.map((id) => call(id))];
		this.#push((id, parent) => assistant(id, parent, content, { stopReason: "toolUse", usage: usage(500, 5) }));
		answered.forEach((isAnswered, k) => {
			if (between) this.add("state", 0);
			if (isAnswered || all) this.#push((id, parent) => result(id, parent, ids[k], [text(`result of ${ids[k]}`)]));
		});
	}

	#compaction(id: string, parent: string | null, firstKeptEntryId: unknown): JsonObject {
		return entry("compaction", id, parent, { summary: `summary ${id}`, firstKeptEntryId: String(firstKeptEntryId) });
	}

	/** An entry about one of the kinds on the path; none where there is no such entry. */
	#about(
		pick: number,
		types: readonly string[],
		make: (id: string, parent: string | null, target: JsonObject) => JsonObject | null,
	): string | null {
		const targets = this.#path().filter(({ type }) => types.includes(String(type)));
		if (targets.length === 0) return this.#leaf;
		return this.#push((id, parent) => make(id, parent, targets[pick % targets.length]));
	}

	#path(): JsonObject[] {
		const byId = new Map(this.records.map((record) => [record.id, record]));
		const path: JsonObject[] = [];
		for (let at = byId.get(this.#leaf ?? ""); at; at = byId.get(String(at.parentId))) path.unshift(at);
		return path;
	}

	#push(make: (id: string, parent: string | null) => JsonObject | null): string | null {
		const id = (0xa0000000 + this.#n++).toString(16);
		const record = make(id, this.#leaf);
		if (record === null) return this.#leaf;
		this.records.push(record);
		this.#leaf = id;
		return id;
	}
}

function roleOf(record: JsonObject): unknown {
	return (record.message as JsonObject | undefined)?.role;
}

function holdsCall(record: JsonObject): boolean {
	return JSON.stringify(record).includes('"toolCall"');
}

/** The same entries as version 1 wrote them. They stand in one line. */
export function asVersion1(records: readonly JsonObject[]): JsonObject[] {
	const numbers = new Map(records.map((record, n) => [record.id, n]));
	return records.map((record) => {
		const { id: _id, parentId: _parent, version: _version, firstKeptEntryId, ...rest } = record;
		if (record.type === "session") return { ...rest, id: record.id };
		if (record.type === "compaction") return { ...rest, firstKeptEntryIndex: numbers.get(firstKeptEntryId) ?? 0 };
		return rest;
	});
}
