/** A survey with an open transaction: the real desk over entries in memory. */
import { randomUUID } from "node:crypto";
import type { Survey } from "#src/facade/survey.js";
import { Desk } from "#src/plan/desk.js";
import type { PlanLock } from "#src/plan/lock.js";
import type { PlanRange } from "#src/plan/plan.js";
import type { JournalEntry, Mode, PlanStore } from "#src/plan/store.js";

function memoryStore(): PlanStore {
	const entries: JournalEntry[] = [];
	return {
		load: async () => ({ entries: [...entries], notices: [] }),
		append: async (entry) => {
			entries.push(entry);
		},
	};
}

/** Nobody else plans: changes of this process wait for each other. */
function onlyUs(): PlanLock {
	let last: Promise<unknown> = Promise.resolve();
	return {
		holder: async () => null,
		exclusively: (work) => {
			const next = last.then(work);
			last = next.catch(() => {});
			return next;
		},
		acquire: async () => ({ notice: null }),
		release: async () => {},
	};
}

interface WithDesk {
	mode?: Mode;
	instructions?: string;
	ranges?: readonly PlanRange[];
}

/** The survey with a desk on which a transaction was started, and `ranges` added by somebody else. */
export async function withDesk(
	survey: Survey,
	{ mode = "agent", instructions = "", ranges = [] }: WithDesk = {},
): Promise<Survey & { desk: Desk }> {
	const store = memoryStore();
	const desk = new Desk({
		store,
		lock: onlyUs(),
		now: () => new Date("2026-01-02T03:04:05.000Z"),
		newId: randomUUID,
		stands: async () => false,
	});
	const { format, scope, anchor, atoms, branch } = survey;
	const hash = await survey.hashOf(0, atoms.length - 1);
	const facts = { format, scope, entry: anchor ?? "", atoms: atoms.length, messages: branch.messages.length, hash };
	const { id: transaction, startedAt: at } = await desk.start({ mode, instructions, anchor: facts }, async () => true);
	for (const [i, range] of ranges.entries()) {
		await store.append({ type: "change", transaction, at, revision: i + 1, change: { kind: "add", range } });
	}
	return { ...survey, desk };
}
