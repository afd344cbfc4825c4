/**
 * Worker: the trigram indexes of open sessions. It remembers them between tasks, and piscina does not say which thread gets a task: this
 * file is to be run by a pool of one thread.
 */
import { asMidcompactError, encodeThreadError } from "../src/errors.js";
import { searchTexts } from "../src/search/match.js";
import { readAtoms } from "../src/search/places.js";
import type { PagesToAdd, ShardResult, ShardState, ShardTask } from "../src/search/tasks.js";
import { TrigramIndex } from "../src/search/trigram-index.js";
import type { RowSource } from "../src/session/rows.js";

export type { ShardResult, ShardState, ShardTask } from "../src/search/tasks.js";

const shards = new Map<string, TrigramIndex>();

/** Adds run one after another, whatever the pool's `concurrentTasksPerWorker`: a page is built over several turns. */
let adding: Promise<unknown> = Promise.resolve();

export default async function shard(task: ShardTask): Promise<ShardResult> {
	try {
		switch (task.op) {
			case "add": {
				const done = adding.then(() => addPages(task.key, task.from, task.budget, task.pages));
				adding = done.catch(() => undefined);
				return await done;
			}
			case "candidates":
				return shards.get(task.key)?.candidates(task.pattern, task.pages) ?? null;
			case "drop": {
				const state = stateOf(shards.get(task.key));
				shards.delete(task.key);
				return state;
			}
		}
	} catch (thrown) {
		throw encodeThreadError(asMidcompactError(thrown));
	}
}

async function addPages(
	key: string,
	from: RowSource,
	budget: number,
	{ first, pageStart, atoms }: PagesToAdd,
): Promise<ShardState> {
	let index = shards.get(key);
	if (!index) {
		index = new TrigramIndex(budget);
		shards.set(key, index);
	}
	const pages = pageStart.length - 1;
	let page = 0;
	let current = -1;
	if (index.full || pages === 0) return stateOf(index);
	index.beginPage();
	for await (const { atom, facts } of readAtoms(from, atoms)) {
		while (atom >= pageStart[page + 1]) {
			if (!index.endPage(first + page)) return stateOf(index);
			page++;
			index.beginPage();
		}
		if (atom !== current) index.beginAtom();
		current = atom;
		for (const text of searchTexts(facts)) index.addText(text);
	}
	for (; page < pages; page++) {
		if (!index.endPage(first + page)) break;
		if (page + 1 < pages) index.beginPage();
	}
	return stateOf(index);
}

function stateOf(index: TrigramIndex | undefined): ShardState {
	if (!index) return { pages: 0, postings: 0, bytes: 0, full: false };
	return { pages: index.pages, postings: index.postings, bytes: index.bytes, full: index.full };
}
