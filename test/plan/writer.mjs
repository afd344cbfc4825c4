/** One process of a test: works on a journal with the built engine, and tells its parent what came of it as one line of JSON. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Desk } from "#src/plan/desk.js";
import { fileLock } from "#src/plan/file-lock.js";
import { FileJournal } from "#src/plan/journal.js";

const [deed, folder, ...more] = process.argv.slice(2);
const store = new FileJournal(join(folder, "journal.jsonl"));

// Where a file may not grow any more, a write is refused and the process lives on.
process.on("SIGXFSZ", () => {});

const deeds = {
	/** Appends an entry with a summary of so many characters. */
	async append(size) {
		const at = "2026-01-02T03:04:05.000Z";
		const change = { kind: "update", id: "d1", summary: "x".repeat(Number(size)) };
		try {
			await store.append({ type: "change", transaction: "t1", at, revision: 2, change });
			return "appended";
		} catch (refused) {
			return { code: refused.code, message: refused.message, cause: refused.cause?.code };
		}
	},
	/** Adds so many ranges of one atom, each at the first atom behind all others. */
	async edit(transaction, times) {
		const desk = new Desk(
			{ store, lock: fileLock(folder), now: () => new Date(), newId: randomUUID, stands: async () => false },
			transaction,
		);
		const made = [];
		while (made.length < Number(times)) {
			await desk
				.change(({ plan: { ranges, nextRange: id } }) => {
					const at = ranges.length === 0 ? 0 : ranges[ranges.length - 1].end + 1;
					return { kind: "add", range: { id, start: at, end: at, topic: "", summary: `by ${process.pid}`, hash: "" } };
				})
				.then(
					({ plan }) => made.push(plan.revision),
					(refused) => {
						if (refused.code !== "locked") throw refused;
					},
				);
		}
		return made;
	},
};

process.stdout.write(`${JSON.stringify(await deeds[deed](...more))}\n`);
