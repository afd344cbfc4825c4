/** Codex rollouts of public repositories: everything reads, and the numbers equal a count made another way. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexReader } from "#src/session/formats/codex/read.js";
import type { JsonObject } from "#src/session/record.js";
import { build, textsOf } from "./codex-lines.js";

const FOLDER = "../shared/sessions/codex";
const present = existsSync(FOLDER);
const files = present ? readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl")) : [];

interface Payload {
	type?: string;
	role?: string;
	base_instructions?: { text?: string };
	replacement_history?: Payload[];
}
interface Line {
	type: string;
	payload: Payload;
}

const parse = (name: string): JsonObject[] =>
	readFileSync(join(FOLDER, name), "utf8")
		.split("\n")
		.filter((text) => text.trim() !== "")
		.map((text) => JSON.parse(text) as JsonObject);

/** Kinds that the model writes; a word of them in a row is one message. */
const MODEL =
	/^(message:assistant|reasoning:|function_call:|custom_tool_call:|local_shell_call:|web_search_call:|image_generation_call:|tool_search_call:|tool_call:)$/;
const NOT_SENT = /^(ghost_snapshot:|message:system)$/;

/** Messages without system ones, counted from the lines alone: one letter an item, a regular expression over the word. */
function countMessages(lines: Line[], scope: "context" | "path"): number {
	const last = lines.findLastIndex((l) => l.type === "compacted" && Array.isArray(l.payload.replacement_history));
	const start = scope === "path" ? 0 : last + 1;
	const restored = scope === "path" || last < 0 ? [] : (lines[last].payload.replacement_history ?? []);
	const letter = (p: Payload): string => {
		const kind = `${p.type}:${p.role ?? ""}`;
		if (kind === "message:developer" || NOT_SENT.test(kind)) return "";
		if (/^compaction/.test(kind)) return scope === "path" ? "|" : "s";
		return MODEL.test(kind) ? "m" : "u";
	};
	const word = [
		...restored.map(letter),
		"|",
		...lines
			.slice(start)
			.map((l) => (l.type === "response_item" ? letter(l.payload) : l.type === "compacted" ? "|" : "")),
	].join("");
	return word.match(/m+|u|s/g)?.length ?? 0;
}

describe.skipIf(!present)("public rollouts", () => {
	for (const name of files) {
		describe(name, () => {
			const records = present ? parse(name) : [];
			const lines = records as unknown as Line[];
			it.each(["context", "path"] as const)("%s scope has the messages of an independent count", async (scope) => {
				const { branch } = await build(records, { scope });
				let count = 0;
				for (let m = 0; m < branch.messages.length; m++) if (branch.messages.roleOf(m) !== "system") count++;
				expect(count).toBe(countMessages(lines, scope));
			});

			it("every line of it is recognised, and no image is read as text", () => {
				for (const record of records) {
					expect(codexReader.recognise(record)).toBeGreaterThanOrEqual(2);
					for (const text of textsOf(codexReader.read(record))) expect(text).not.toMatch(/^data:image/);
				}
			});
		});
	}

	it("record-kinds.jsonl: what each kind of item becomes", async () => {
		const roles = new Map<string, number>();
		for (const record of parse("record-kinds.jsonl")) {
			const role = codexReader.read(record)?.role;
			if (role) roles.set(role, (roles.get(role) ?? 0) + 1);
		}
		expect(Object.fromEntries(roles)).toEqual({ system: 7 + 1, user: 1 + 2, assistant: 11, tool_result: 6 });
	});

	it.each(["codex_050_legacy", "codex_051_usage", "codex_052_raw", "codex_053_rate_limit"])(
		"%s.jsonl has events alone, and a notice that says so (RULINGS 7)",
		async (name) => {
			const { branch } = await build(parse(`${name}.jsonl`));
			expect(branch.messages.length).toBe(0);
			expect(branch.notices).toEqual([expect.stringContaining("only events and bookkeeping")]);
		},
	);

	it("codex_053_rate_limit.jsonl: the one count with a last reply is the usage", async () => {
		const { usage } = (await build(parse("codex_053_rate_limit.jsonl"))).branch;
		expect(usage?.usage).toEqual({ input: 1211, cacheRead: 10880, cacheWrite: 0, output: 182, window: 258400 });
	});

	it.each(["codex_050_legacy.jsonl", "codex_051_usage.jsonl", "with-tool-call.jsonl", "compaction.jsonl"])(
		"%s has only totals: no usage",
		async (name) => {
			expect((await build(parse(name))).branch.usage).toBeNull();
		},
	);

	it("compaction.jsonl: the replacement history, and a notice that the rest is only events", async () => {
		const { shown, branch, entries } = await build(parse("compaction.jsonl"));
		expect(shown).toEqual(["user: start", "summary: [opaque]"]);
		expect(entries).toEqual([["#7.0"], ["#7.1"]]);
		expect(branch.notices.join()).toContain("only as events");
	});

	it("composed-large.jsonl: calls without ids pair by name, environment_context is the host's", async () => {
		const { shown } = await build(parse("composed-large.jsonl"));
		expect(shown.slice(0, 3)).toEqual([
			"user: Start",
			"assistant: Acknowledged. + [call null]",
			expect.stringMatching(/^tool_result: \[result null\]/),
		]);
		expect(shown).toHaveLength(15);
	});
});
