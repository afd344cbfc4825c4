/** `locate_search` answers as the definition does, with the index and without it. */
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createEngine } from "#src/index.js";
import { assistantMessage, jsonLines, piSession, scratchFolder, userMessage } from "../helpers/files.js";

const files = scratchFolder();
const engine = createEngine({ threads: 2 });
afterAll(() => engine.close());

const piece = fc.constantFrom(
	"a",
	"B",
	"ab",
	"the index",
	"=> {",
	"İ",
	"Σ",
	"ς",
	"σ",
	"漢字",
	"語",
	"😀",
	"\ud83d",
	"\udc00",
	"\n",
	" ",
	".",
	"ß",
	"é",
	"zz top",
);
const text = fc.array(piece, { minLength: 0, maxLength: 12 }).map((p) => p.join(""));
const call = fc.record({ command: text }).map((args) => ({ type: "toolCall", args }));

/** Messages of a session: words, or a reply with a call and its result. */
const turn = fc.oneof(
	text.map((words) => [userMessage(words)]),
	text.map((words) => [assistantMessage(words)]),
	fc.tuple(text, call, text, fc.nat()).map(([words, { args }, output, n]) => [
		{
			role: "assistant",
			content: [
				{ type: "text", text: words },
				{ type: "toolCall", id: `c${n}`, name: "bash", arguments: args },
			],
			stopReason: "toolUse",
			timestamp: 1,
		},
		{
			role: "toolResult",
			toolCallId: `c${n}`,
			toolName: "bash",
			content: [{ type: "text", text: output }],
			isError: false,
			timestamp: 1,
		},
	]),
);

/** Content of every atom by the words of the contract: the texts of a turn in order. */
function contentOf(
	messages: { role: string; content: { type: string; text?: string; name?: string; arguments?: object }[] }[],
): string {
	const texts: string[] = [];
	for (const part of messages.flatMap((m) => m.content)) {
		if (part.type === "toolCall") texts.push(part.name ?? "", JSON.stringify(part.arguments));
		else texts.push(part.text ?? "");
	}
	return texts.join("\n");
}

describe("search of a session", () => {
	it("equals the definition on random sessions and patterns, index or not", async () => {
		let run = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.uniqueArray(turn, { minLength: 1, maxLength: 14, selector: (t) => JSON.stringify(t) }),
				fc.array(
					text.filter((t) => t !== ""),
					{ minLength: 1, maxLength: 6 },
				),
				fc.constantFrom(1, 1 << 28),
				async (turns, patterns, indexBudget) => {
					// JSON text carries lone surrogates only as escapes, which is how a host writes them.
					const path = files.write(`s${run++}.jsonl`, jsonLines(piSession(turns.flat())));
					const session = await engine.open(path, { background: { tokens: false }, indexBudget });
					try {
						const contents = turns.map((t) => contentOf(t as never).toLowerCase());
						const ask = async (pattern: string) => {
							const reply = await session.request({ request: { action: "locate_search", pattern, limit: 3 } });
							if (!reply.ok) throw new Error(reply.text);
							return reply.data as { total: number; matches: { ref: string }[] };
						};
						for (const round of ["while the index is built", "with the index"]) {
							for (const pattern of patterns) {
								const { total, matches } = await ask(pattern);
								const wanted = contents.flatMap((c, i) => (c.includes(pattern.toLowerCase()) ? [i] : []));
								expect(total, `${round}: ${JSON.stringify(pattern)}`).toBe(wanted.length);
								expect(matches.map((m) => Number(m.ref.slice(1)) - 1)).toEqual(wanted.slice(0, 3));
							}
							await session.ready();
						}
					} finally {
						await session.close();
					}
				},
			),
			{ numRuns: 40 },
		);
	});
});
