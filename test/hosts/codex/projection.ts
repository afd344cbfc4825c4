/** What a fork must make Codex send: the items of the session, with a block in place of each range. */
import type { Engine } from "#src/index.js";
import type { Scope } from "#src/session/branch.js";
import { codexContext } from "#src/session/formats/codex/context.js";
import { words } from "../../formats/codex-lines.js";
import { type TestRange, testBlockText } from "../../helpers/fork.js";
import { recordAt } from "./host.js";
import { type Sent, sentOf } from "./prediction.js";

/** The last of the files is the session, those before it are the ones it continues. */
export async function projected(
	engine: Engine,
	ranges: readonly TestRange[],
	paths: readonly string[],
	{ scope = "context", firstBlock = 1 }: { scope?: Scope; firstBlock?: number } = {},
): Promise<Sent[]> {
	const session = await engine.open(paths[paths.length - 1], { scope, background: { tokens: false, index: false } });
	const { table, atoms, branch: own } = session.survey;
	/** The block of every replaced row. */
	const blocks = new Map<number, string>();
	ranges.forEach((range, i) => {
		for (let m = atoms.messageStart.at(range.from); m < atoms.messageStart.at(range.to + 1); m++)
			for (const row of own.messages.rowsOf(m)) blocks.set(row, testBlockText(`c000${firstBlock + i}`, range));
	});
	const branch = await codexContext.branch(table, { scope, leaf: null, memory: false });
	const sent: Sent[] = [];
	const done = new Set<string>();
	for (let message = 0; message < branch.messages.length; message++)
		for (const row of branch.messages.rowsOf(message)) {
			const block = blocks.get(row);
			if (block === undefined)
				sent.push(
					sentOf(recordAt(paths[table.source.at(row)], table.start.at(row), table.end.at(row)), table.item.at(row)),
				);
			else if (!done.has(block)) sent.push({ item: words("user", block), texts: [block] });
			if (block !== undefined) done.add(block);
		}
	await session.close();
	return sent;
}
