import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Scope } from "#src/session/branch.js";
import type { JsonObject } from "#src/session/record.js";
import { at } from "../formats/claude-code/lines.js";
import { assistant, header, call as piCall, result as piResult, user as piUser, text } from "../formats/pi/entries.js";
import { change, type Desk, newDesk, questions, refusal, textOf } from "./planning-bench.js";

const ID = "0f0e0d0c-0b0a-4908-8706-050403020100";

/** The talk of `questions` as Pi would keep it. */
function piQuestions(count: number): JsonObject[] {
	const lines: JsonObject[] = [];
	const add = (record: JsonObject) => lines.push({ ...record, parentId: (lines.at(-1)?.id as string) ?? null });
	for (let n = 0; n < count; n++) {
		add(piUser(`u${n}`, null, `question ${n}`));
		add(assistant(`c${n}`, null, [piCall(`t${n}`)]));
		add(piResult(`r${n}`, null, `t${n}`, [text(`done t${n}`)]));
		add(assistant(`a${n}`, null, [text(`answer ${n}`)]));
	}
	return [header({ id: ID }), ...lines];
}

const linesOf = (path: string) =>
	readFileSync(path, "utf8")
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as JsonObject);

const question2In = (lines: readonly JsonObject[]) =>
	lines.findIndex((line) => JSON.stringify(line).includes('"question 2'));

/** What a host appends when it compacts; `keep`: index of the first line that it keeps whole. */
type Compact = (lines: readonly JsonObject[], keep: number) => JsonObject[];

const claudeCompacts: Compact = (lines, keep) => {
	const last = lines.at(-1) as { uuid: string; sessionId: string };
	const facts = { isSidechain: false, sessionId: last.sessionId };
	const [boundary, summary] = [randomUUID(), randomUUID()];
	const uuids = lines.slice(keep).map(({ uuid }) => uuid as string);
	const kept = uuids.length === 0 ? {} : { preservedMessages: { anchorUuid: summary, uuids, allUuids: uuids } };
	return [
		{
			type: "system",
			subtype: "compact_boundary",
			uuid: boundary,
			parentUuid: null,
			logicalParentUuid: last.uuid,
			compactMetadata: { trigger: "auto", preTokens: 100, ...kept },
			timestamp: at(100),
			...facts,
		},
		{
			type: "user",
			uuid: summary,
			parentUuid: boundary,
			isCompactSummary: true,
			message: { role: "user", content: "The host's summary." },
			timestamp: at(101),
			...facts,
		},
	];
};

const piCompacts: Compact = (lines, keep) => [
	{
		type: "compaction",
		id: "cccccccc",
		parentId: lines.at(-1)?.id as string,
		timestamp: at(100),
		summary: "The host's summary.",
		firstKeptEntryId: (lines[keep]?.id as string) ?? "cccccccc",
		tokensBefore: 100,
	},
];

const HOSTS = [
	["claude-code", questions(4).map((line): JsonObject => ({ ...line, sessionId: ID })), claudeCompacts],
	["pi", piQuestions(4), piCompacts],
] as const;

/** A session with question 1, all of it, in a block. */
async function forkOf(desk: Desk, lines: readonly JsonObject[]): Promise<string> {
	const opened = await desk.open(desk.write(`${ID}.jsonl`, textOf(lines)));
	await opened.planning.start();
	await opened.add(3, 5, "what question 1 came to");
	const { path } = await opened.planning.commit();
	await opened.close();
	return path;
}

async function allText(desk: Desk, path: string, scope: Scope): Promise<{ kinds: string[]; text: string }> {
	const opened = await desk.open(path, { scope });
	const kinds = opened.kinds();
	const texts = await Promise.all(kinds.map((_, atom) => opened.text(atom)));
	await opened.close();
	return { kinds, text: texts.join("\n") };
}

/** Words of the originals of {@link forkOf}. */
const ORIGINALS = /question 1$|done t1|answer 1/m;

describe.each(HOSTS)("a host compaction of a %s fork (DCP#521, DCP#440)", (_format, lines, compacts) => {
	it.each([
		["behind everything", "whole talk", ["summary"]],
		["with the block among what it keeps", "block", ["summary", "block", "user", "tool_exchange", "assistant"]],
		["with the block behind its summary", "after", ["summary", "user", "tool_exchange", "assistant"]],
	])("%s: the originals never come back, and recall still gives them", async (_name, where, kinds) => {
		const desk = newDesk();
		const path = await forkOf(desk, lines);
		const before = linesOf(path);
		const block = before.findIndex((line) => JSON.stringify(line).includes("[midcompact block c0001"));
		expect(block).toBeGreaterThan(0);
		const keep = where === "block" ? block : where === "after" ? question2In(before) : before.length;
		change(path, (old) => old + textOf(compacts(before, keep)));
		const context = await allText(desk, path, "context");
		expect(context.kinds.slice(0, kinds.length)).toEqual(kinds);
		expect(context.text).not.toMatch(ORIGINALS);
		expect(context.text.includes("what question 1 came to")).toBe(where === "block");
		const whole = await allText(desk, path, "path");
		expect(whole.text).not.toMatch(ORIGINALS);
		expect(whole.text).toContain("what question 1 came to");
		const opened = await desk.open(path);
		expect((await opened.ask({ action: "recall_read", block: "c0001" })).text).toMatch(ORIGINALS);
		const { blocks } = await opened.ask({ action: "recall_list" });
		expect(blocks).toMatchObject([{ id: "c0001", archived: true }]);
		await opened.close();
	});

	it("gives the number of a block behind its summary to no other, with the state folder or without", async () => {
		const desk = newDesk();
		const path = await forkOf(desk, lines);
		const before = linesOf(path);
		change(path, (old) => old + textOf(compacts(before, question2In(before))));
		for (const stateDir of [desk.stateDir, `${desk.stateDir} of another machine`]) {
			const opened = await desk.open(path, { stateDir });
			await opened.planning.start();
			await opened.add(1, 2);
			expect((await opened.planning.commit()).blocks).toMatchObject([{ id: "c0002" }]);
			await opened.close();
		}
	});

	it("leaves the next fork with the originals of every block that stands in its file", async () => {
		const desk = newDesk();
		const path = await forkOf(desk, lines);
		const before = linesOf(path);
		change(path, (old) => old + textOf(compacts(before, question2In(before))));
		const opened = await desk.open(path);
		await opened.planning.start();
		await opened.add(1, 2);
		const { path: fork, notices } = await opened.planning.commit();
		expect(notices).toEqual([]);
		await opened.close();
		const made = await desk.open(fork, { scope: "path" });
		const blocks = [...readFileSync(fork, "utf8").matchAll(/\[midcompact block (c\d+)/g)].map(([, block]) => block);
		expect(blocks).toContain("c0002");
		for (const block of blocks)
			expect((await made.ask({ action: "recall_read", block })).text).toMatch(/question [12]/);
		await made.close();
	});

	it("lets the next commit go around the block where it stands, and writes from the originals in path scope", async () => {
		const desk = newDesk();
		const path = await forkOf(desk, lines);
		const before = linesOf(path);
		change(path, (old) => old + textOf(compacts(before, before.length)));
		const opened = await desk.open(path, { scope: "path" });
		expect(opened.kinds()[3]).toBe("block");
		await opened.planning.start();
		await expect(opened.add(2, 4)).rejects.toEqual(refusal("protected_atom", "a0004.*committed_block"));
		await opened.add(4, 5, "what question 2 came to");
		const { path: fork, blocks } = await opened.planning.commit();
		await opened.close();
		expect(blocks.map(({ id }) => id)).toEqual(["c0002"]);
		const made = await allText(desk, fork, "context");
		expect(made.kinds.join(" ")).toBe(
			"user tool_exchange assistant block block assistant user tool_exchange assistant",
		);
		expect(made.text).not.toMatch(/The host's summary|done t2/);
		expect(made.text).not.toMatch(ORIGINALS);
	});
});
