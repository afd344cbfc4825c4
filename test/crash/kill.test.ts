import { mkdirSync, readdirSync, readFileSync, watch as watchFolder, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import type { Session } from "#src/engine/session.js";
import { createEngine } from "#src/engine.js";
import type { Transaction } from "#src/plan/transaction.js";
import { scratchFolder } from "../helpers/files.js";
import {
	type Edit,
	expectKept,
	journalsIn,
	type Line,
	type Planner,
	planner,
	randomOf,
	sessionText,
} from "./planners.js";

const files = scratchFolder();
const engine = createEngine({ threads: 1 });
afterAll(() => engine.close());

const SIDE_BY_SIDE = 4;
const PLACES = 10;
/** Kills at each place, and how many of them must hit a commit where commits are aimed at. */
const KILLS = 10;
const CUT_OFF = 7;

/** One session file, killed at again and again, and all that was acknowledged of it. */
class Place {
	readonly folder: string;
	readonly path: string;
	readonly stateDir: string;
	/** Kills after which a commit was begun and not acknowledged. */
	cutOff = 0;
	readonly #text: string;
	readonly #edits: Edit[] = [];
	readonly #forks = new Map<string, string[]>();
	/** What was open when it was looked at last; the digest is null where nobody said it. */
	#open: { id: string; revision: number; digest: string | null } | null = null;

	/** All places share a state folder. */
	constructor(number: number, stateDir: string) {
		const id = `0f0e0d0c-0b0a-4908-8706-05040302010${number}`;
		this.#text = sessionText(id);
		this.folder = join(files.path, `place ${number}`);
		this.path = join(this.folder, `${id}.jsonl`);
		this.stateDir = stateDir;
		mkdirSync(this.folder);
		writeFileSync(this.path, this.#text);
	}

	async check(lines: readonly Line[]): Promise<void> {
		const begun = this.#acknowledge(lines);
		expect(readFileSync(this.path, "utf8")).toBe(this.#text);
		const appeared = this.#newFiles();
		const session = await this.openFile(this.path);
		const now = (await session.planning?.current()) ?? null;
		expect(await session.planning?.lock?.holder()).toBeFalsy();
		for (const notice of [...(now?.notices ?? []), ...session.survey.notices]) expect(notice).toMatch(/no whole entry/);
		if (begun === "commit") this.cutOff++;
		if (begun === "commit" && now === null) {
			expect(appeared).toHaveLength(1);
			this.#forks.set(appeared[0], await blocksOf(session, new Set(this.#blocks())));
		} else {
			expect(appeared).toEqual([]);
			this.#expectNow(begun, now);
		}
		this.#open = now && { id: now.id, revision: now.plan.revision, digest: now.digest };
		expect(await blocksOf(session)).toEqual(this.#blocks().sort());
		await session.close();
	}

	/** Takes in what a process said; returns what it had begun and did not say to be done. */
	#acknowledge(lines: readonly Line[]): "start" | "edit" | "commit" | null {
		let begun: "start" | "edit" | "commit" | null = null;
		for (const line of lines) {
			if ("refused" in line) throw new Error("Nobody else plans here.");
			begun = "doing" in line ? line.doing : null;
			if ("doing" in line || line.done === "nothing") continue;
			if (line.done === "start") this.#open = { id: line.transaction, revision: 0, digest: null };
			else if (line.done === "edit") {
				this.#edits.push(line);
				this.#open = { id: line.transaction, revision: line.revision, digest: line.digest };
			} else {
				this.#forks.set(line.path, line.blocks);
				this.#open = null;
			}
		}
		return begun;
	}

	/** What was acknowledged, or one change more where one was begun. */
	#expectNow(begun: "start" | "edit" | "commit" | null, now: Transaction | null): void {
		const before = this.#open;
		if (begun === "start" && now !== null) expect(now.plan.revision).toBe(0);
		else if (before === null) expect(now).toBeNull();
		else {
			expect(now?.id).toBe(before.id);
			// The journal shows later whether that one stands on all that were acknowledged.
			if (begun === "edit" && now?.plan.revision === before.revision + 1) return;
			expect(now?.plan.revision).toBe(before.revision);
			if (before.digest !== null) expect(now?.digest).toBe(before.digest);
		}
	}

	/** Forks that were not there before; anything else but what a killed writer leaves under another name is thrown. */
	#newFiles(): string[] {
		const names = readdirSync(this.folder).filter((name) => !/^\..+\.midcompact-[0-9a-f]{12}\.tmp$/.test(name));
		const known = [this.path, ...this.#forks.keys()];
		const paths = names.map((name) => join(this.folder, name));
		expect(known.filter((path) => !paths.includes(path))).toEqual([]);
		return paths.filter((path) => !known.includes(path));
	}

	#blocks(): string[] {
		return [...this.#forks.values()].flat();
	}

	/** Every fork is whole and gives its originals back; the journal holds every change that was acknowledged, and takes another one. */
	async checkAll(): Promise<void> {
		for (const [path, blocks] of this.#forks) {
			const fork = await this.openFile(path);
			expect(fork.survey.damage.count).toBe(0);
			expect(await fork.checkResume()).toMatchObject({ count: 0 });
			expect(await blocksOf(fork)).toEqual([...blocks].sort());
			for (const block of blocks) {
				const reply = await fork.request({ request: { action: "recall_read", block } });
				expect(reply.text).toMatch(/Question|text \d+/);
			}
			await fork.close();
		}
		const session = await this.openFile(this.path);
		const { planning } = session;
		if (!planning) throw new Error("There is no planning.");
		if (!(await planning.current())) await planning.start();
		const before = await planning.current();
		const at = before?.plan.ranges.at(-1);
		const fields = at
			? { action: "plan_update", range_id: at.id, topic: "after all" }
			: { action: "plan_add", start: "a0001", end: "a0001" };
		expect(await session.request({ request: fields })).toMatchObject({
			ok: true,
			data: { revision: (before?.plan.revision ?? 0) + 1 },
		});
		await session.close();
	}

	expectJournal(journals: ReturnType<typeof journalsIn>): void {
		const mine = new Set(this.#edits.map(({ transaction }) => transaction));
		const journal = journals.find((entries) => entries.some(({ transaction }) => mine.has(transaction))) ?? [];
		expectKept(journal, this.#edits);
	}

	openFile(path: string): Promise<Session> {
		return engine.open(path, { stateDir: this.stateDir, background: { tokens: false, index: false } });
	}
}

/** Blocks that a session knows, all of them readable; without `except`. */
async function blocksOf(session: Session, except: ReadonlySet<string> = new Set()): Promise<string[]> {
	const facts = (await session.survey.archive?.list()) ?? [];
	expect(facts.every(({ archived }) => archived)).toBe(true);
	return facts.map(({ id }) => id).filter((id) => !except.has(id));
}

/** Kills somewhere in the start of the process, or in what it does after its first change. */
async function killWhileEditing(child: Planner, seed: string): Promise<void> {
	const [kind, place] = [randomOf(seed, 1), randomOf(seed, 2)];
	if (kind < 0.15) await sleep(100 + place * 300);
	else {
		await child.next((line) => "done" in line && line.done === "edit");
		await sleep(place * 300);
	}
	child.kill();
}

/** Lets one commit pass, to know how long it takes, and kills in the next one: anywhere, when the intent is written, or when the new session appears. */
async function killWhileCommitting(child: Planner, seed: string, { folder, stateDir }: Place): Promise<void> {
	await child.next((line) => "doing" in line && line.doing === "commit");
	const begun = performance.now();
	await child.next((line) => "done" in line && line.done === "commit");
	const took = performance.now() - begun;
	const watch = new AbortController();
	const seen = (path: string, isIt: (name: string) => boolean) =>
		new Promise<void>((resolve) => {
			watch.signal.addEventListener("abort", () => resolve());
			const onEvent = (_event: string, name: string | null) => name !== null && isIt(name) && resolve();
			watchFolder(path, { signal: watch.signal, recursive: path === stateDir }, onEvent);
		});
	await child.next((line) => "doing" in line && line.doing === "commit");
	const aim = Math.floor(randomOf(seed, 1) * 3);
	const point =
		aim === 0
			? sleep(randomOf(seed, 2) * took)
			: aim === 1
				? seen(stateDir, (name) => name.endsWith("journal.jsonl"))
				: seen(folder, (name) => name.endsWith(".jsonl"));
	await Promise.race([point, sleep(2 * took)]);
	child.kill();
	watch.abort();
}

it("a process that is killed at any point of planning loses no change that it acknowledged, and leaves a commit done or not begun", async () => {
	const places: Place[] = [];
	const stateDir = join(files.path, "state");
	const numbers = Array.from({ length: PLACES }, (_, i) => i);
	const work = async () => {
		for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
			const place = new Place(number, stateDir);
			places.push(place);
			const commits = number % 3 === 2;
			for (let kill = 0; kill < KILLS || (commits && place.cutOff < CUT_OFF); kill++) {
				const seed = `${number}/${kill}`;
				const child = planner(commits ? "commit" : "edit", place.path, stateDir, seed);
				await (commits ? killWhileCommitting : killWhileEditing)(child, seed, place);
				expect(await child.ended).toEqual({ code: null, signal: "SIGKILL", err: "" });
				await place.check(child.lines);
			}
			await place.checkAll();
		}
	};
	await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
	const journals = journalsIn(stateDir);
	expect(journals).toHaveLength(places.length);
	for (const place of places) place.expectJournal(journals);
}, 240_000);
