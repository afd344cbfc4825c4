/** One process of a test: does what its arguments say with the built engine, and tells its parent by lines. */
import { once } from "node:events";
import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileLock } from "#src/plan/file-lock.js";
import { makeSlot } from "#src/plan/state-folder.js";

const [deed, folder, ...more] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);
const untilTold = () => once(process.stdin, "data").then(() => process.stdin.destroy());

const deeds = {
	/** Adds 1 to a number in a file, `times` times, each time alone. */
	async count(file, times) {
		const lock = fileLock(folder);
		for (let i = 0; i < Number(times); i++) {
			await untilNotLocked(() =>
				lock.exclusively(async () => {
					const before = Number(readFileSync(file, "utf8"));
					await sleep(0);
					writeFileSync(file, String(before + 1));
				}),
			);
		}
		say("counted");
	},
	/** Goes in and out without end, and says so when it meets somebody who is still running. */
	async meet() {
		const mark = join(folder, "somebody");
		const lock = fileLock(folder);
		for (;;) {
			await untilNotLocked(() =>
				lock.exclusively(async () => {
					if (existsSync(mark) && isRunning(Number(readFileSync(mark, "utf8")))) say("met");
					writeFileSync(mark, String(process.pid));
					await sleep(Math.random() * 3);
					if (Number(readFileSync(mark, "utf8")) !== process.pid) say("met");
					unlinkSync(mark);
				}),
			);
			say("out");
		}
	},
	/** Stays inside the guard until told. */
	async inside() {
		await fileLock(folder).exclusively(async () => {
			say("inside");
			await untilTold();
		});
		say("outside");
	},
	/** Holds the planning lock until told. */
	async hold(owner) {
		await fileLock(folder).acquire(owner);
		say("held");
		await untilTold();
	},
	/** Holds the planning lock and is inside the guard, until it is killed. */
	async both(owner) {
		const lock = fileLock(folder);
		await lock.acquire(owner);
		await lock.exclusively(async () => {
			say("inside");
			await untilTold();
		});
	},
	/** Holds the planning lock and has nothing more to do. */
	async leave() {
		await fileLock(folder).acquire("ui");
	},
	/** Ends the process while it holds the planning lock and is inside the guard. */
	async quit() {
		const lock = fileLock(folder);
		await lock.acquire("ui");
		await lock.exclusively(async () => process.exit(7));
	},
	/** Asks for the slots of files, all at once. */
	async slots(...paths) {
		const made = paths.map((path) => makeSlot(folder, { format: "pi", id: "one", path }));
		say(JSON.stringify((await Promise.all(made)).map(({ number }) => number)));
	},
};

async function untilNotLocked(attempt) {
	for (;;) {
		try {
			return await attempt();
		} catch (refused) {
			if (refused.code !== "locked") throw refused;
		}
	}
}

function isRunning(pid) {
	try {
		return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
	} catch {
		return false;
	}
}

await deeds[deed](...more);
