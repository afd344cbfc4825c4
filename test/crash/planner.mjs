/**
 * One process that plans, as its arguments say, with the built engine. Before and after everything it does it says so in a line of JSON: what is said to be done must outlive a kill.
 */
import { createHash } from "node:crypto";
import { openSession } from "#src/engine.js";

const [deed, path, stateDir, seed, times = "Infinity"] = process.argv.slice(2);

// A pipe takes a line before the call returns.
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
let drawn = 0;
/** A number 0 … below - 1; the same ones for the same seed. */
const random = (below) => {
	const digest = createHash("sha256").update(`${seed}/${drawn++}`).digest();
	return Math.floor((digest.readUInt32BE() / 2 ** 32) * below);
};

const session = await openSession(path, {
	stateDir,
	threads: 1,
	// Of the two, the one that loads faster.
	encoding: "cl100k_base",
	background: { tokens: false, index: false },
});
const { planning } = session;
const refOf = (atom) => session.survey.atoms.refOf(atom);
const free = Array.from({ length: session.survey.atoms.length }, (_, atom) => atom).filter(
	(atom) => session.survey.atoms.reasonOf(atom) === null,
);

async function start() {
	say({ doing: "start" });
	const { id } = await planning.start();
	say({ done: "start", transaction: id });
}

async function request(fields) {
	const reply = await session.request({ request: fields });
	if (!reply.ok) throw Object.assign(new Error(reply.error.message), reply.error);
	return reply.data;
}

/** One change that the plan as it was seen last allows; `summary` is of this process and this change alone. */
function choose({ ranges }, summary) {
	const kind = ["add", "add", "update", "update", "update", "remove", "undo"][random(7)];
	const range = ranges[random(ranges.length)];
	if (kind === "undo") return { kind };
	if (kind === "remove" && ranges.length > 3) return { kind, range_id: range.id };
	if (kind === "update" && range) return { kind, range_id: range.id, summary };
	const open = free.filter((atom) => ranges.every(({ start, end }) => atom < start || atom > end));
	if (open.length === 0) return { kind: "remove", range_id: range.id };
	const ref = refOf(open[random(open.length)]);
	return { kind: "add", start: ref, end: ref, summary };
}

async function change({ kind, ...fields }) {
	if (kind !== "undo") return request({ action: `plan_${kind}`, ...fields });
	const { plan, digest } = await planning.undo();
	return { revision: plan.revision, digest };
}

/** What another process, or an undo, may have made impossible since the plan was seen. */
const OVERTAKEN = ["overlap", "unknown_range", "empty_plan"];

/** Makes one change; only `locked` is tried again. */
async function edit(number) {
	const { id, plan } = await planning.current();
	const chosen = choose(plan, `${seed}, change ${number}`);
	say({ doing: "edit", transaction: id, ...chosen });
	for (;;) {
		try {
			const { revision, digest } = await change(chosen);
			say({ done: "edit", transaction: id, revision, digest, ...chosen });
			return true;
		} catch (refused) {
			if (OVERTAKEN.includes(refused.code)) {
				say({ done: "nothing" });
				return false;
			}
			if (refused.code !== "locked") throw refused;
			say({ refused: "locked" });
		}
	}
}

async function commit() {
	say({ doing: "commit" });
	const { path: fork, blocks } = await planning.commit();
	say({ done: "commit", path: fork, blocks: blocks.map(({ id }) => id) });
}

const deeds = {
	/** Starts where nothing is open, changes the plan without end, and now and then commits. */
	async edit() {
		if (random(2) === 0 && planning.lock) await planning.lock.acquire("agent");
		for (let number = 0; ; ) {
			if (!(await planning.current())) await start();
			if (!(await edit(number))) continue;
			if (++number % 15 > 0) continue;
			const { plan } = await planning.current();
			if (plan.ranges.length > 0) await commit();
		}
	},
	/** Starts, adds two ranges and commits, without end. */
	async commit() {
		for (let number = 0; ; number++) {
			const open = await planning.current();
			if (!open) await start();
			if (!open || open.plan.ranges.length === 0) {
				const at = random(free.length - 8);
				for (const from of [at, at + 4]) {
					const added = {
						kind: "add",
						start: refOf(free[from]),
						end: refOf(free[from + 2]),
						summary: `commit ${number}`,
					};
					say({ doing: "edit", ...added });
					const { revision, digest } = await change(added);
					const { id } = await planning.current();
					say({ done: "edit", transaction: id, revision, digest, ...added });
				}
			}
			await commit();
		}
	},
	/** Makes so many changes of a plan that another process changes too. */
	async share() {
		for (let made = 0; made < Number(times); ) if (await edit(made)) made++;
		await session.close();
	},
};

await deeds[deed]();
