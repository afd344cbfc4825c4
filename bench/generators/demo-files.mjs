/** The small project that the demo session works on, and what its tools print. */

export const QUEUE = `import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Clock } from "../clock.js";
import { log } from "../log.js";

export interface Batch<T> {
	id: number;
	items: T[];
	attempts: number;
}

export interface QueueOptions {
	batchSize: number;
	/** Milliseconds between two attempts of a batch. */
	backoff: number;
	maxAttempts: number;
	clock: Clock;
}

/** Collects items into batches and hands them to one writer, in order. */
export class BatchQueue<T> {
	#pending: Batch<T>[] = [];
	#current: T[] = [];
	#nextId = 1;
	#closed = false;
	#running: Promise<void> | null = null;

	constructor(
		private readonly target: Writable,
		private readonly serialise: (items: T[]) => string,
		private readonly options: QueueOptions,
	) {}

	push(item: T): void {
		if (this.#closed) throw new Error("the queue is closed");
		this.#current.push(item);
		if (this.#current.length >= this.options.batchSize) this.#flush();
	}

	/** Resolves when every batch is written. */
	async close(): Promise<void> {
		this.#closed = true;
		if (this.#current.length > 0) this.#flush();
		await this.#running;
		this.target.end();
	}

	#flush(): void {
		this.#pending.push({ id: this.#nextId++, items: this.#current, attempts: 0 });
		this.#current = [];
		this.#running ??= this.#drain().finally(() => {
			this.#running = null;
		});
	}

	async #drain(): Promise<void> {
		for (let batch = this.#pending.shift(); batch; batch = this.#pending.shift()) {
			try {
				await this.#write(batch);
			} catch (error) {
				batch.attempts++;
				if (batch.attempts >= this.options.maxAttempts) throw error;
				log.warn({ batch: batch.id, attempts: batch.attempts }, "batch failed, will retry");
				await this.options.clock.sleep(this.options.backoff * batch.attempts);
				this.#pending.unshift(batch);
			}
		}
	}

	async #write(batch: Batch<T>): Promise<void> {
		if (!this.target.write(this.serialise(batch.items))) await once(this.target, "drain");
	}
}
`;

export const EXPORT = `import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { BatchQueue } from "../queue/batch-queue.js";
import type { OrderSource } from "../orders/source.js";
import { toCsv } from "./csv.js";

export interface ExportResult {
	path: string;
	rows: number;
}

/** Writes all orders of a shop to a CSV file. The file appears under its final name only when it is complete. */
export async function exportOrders(source: OrderSource, path: string, options: ExportOptions): Promise<ExportResult> {
	const partial = \`\${path}.partial\`;
	const file = createWriteStream(partial);
	const queue = new BatchQueue(file, toCsv, options.queue);
	let rows = 0;
	for await (const order of source.orders(options.shop)) {
		queue.push(order);
		rows++;
	}
	await queue.close();
	await rename(partial, path);
	return { path, rows };
}
`;

export const TEST = `import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { exportOrders } from "../src/export/order-export.js";
import { manualClock } from "./helpers/clock.js";
import { shopWith } from "./helpers/shop.js";
import { tempDir } from "./helpers/temp-dir.js";

it("writes one row per order", async () => {
	const path = \`\${tempDir()}/orders.csv\`;
	const result = await exportOrders(shopWith(2_500), path, { shop: "s1", queue: { batchSize: 100, backoff: 10, maxAttempts: 3, clock: manualClock() } });
	const lines = (await readFile(path, "utf8")).trimEnd().split("\\n");
	expect(result.rows).toBe(2_500);
	expect(lines).toHaveLength(2_501);
});

it("leaves no file behind when the source fails", async () => {
	const path = \`\${tempDir()}/orders.csv\`;
	await expect(exportOrders(shopWith(50, { failAt: 20 }), path, { shop: "s1", queue: { batchSize: 100, backoff: 10, maxAttempts: 3, clock: manualClock() } })).rejects.toThrow("connection reset");
	await expect(readFile(path)).rejects.toThrow("ENOENT");
});
`;

export const FIXED_CLOSE = `	/** Resolves when every batch is on disk: \`end\` only asks the stream to finish. */
	async close(): Promise<void> {
		this.#closed = true;
		if (this.#current.length > 0) this.#flush();
		await this.#running;
		this.target.end();
		await finished(this.target);
	}`;

export const OLD_CLOSE = `	/** Resolves when every batch is written. */
	async close(): Promise<void> {
		this.#closed = true;
		if (this.#current.length > 0) this.#flush();
		await this.#running;
		this.target.end();
	}`;

const SUITES = [
	"orders/source",
	"orders/filters",
	"export/csv",
	"export/order-export",
	"queue/batch-queue",
	"queue/backoff",
	"http/routes",
	"http/errors",
	"auth/tokens",
	"auth/roles",
	"billing/invoices",
	"billing/tax",
	"search/query",
	"search/index",
	"jobs/schedule",
	"jobs/retention",
];

const CASES = [
	"accepts an empty list",
	"keeps the order of its input",
	"rejects an unknown shop",
	"reports the line of a bad row",
	"survives a cancelled request",
	"uses the clock it is given",
	"does not retry a refused batch",
	"escapes quotes and line breaks",
	"closes its handles",
	"answers within the limit",
];

/** The cases of a suite; `more` adds the one that the session writes. */
function casesOf(suite, more) {
	if (suite === "export/order-export")
		return ["writes one row per order", "leaves no file behind when the source fails", ...CASES.slice(2)];
	return suite === "queue/batch-queue" && more ? ["close waits until the stream has finished", ...CASES] : CASES;
}

/** What the runner prints, case by case. `failing` names the suite whose first case fails. */
export function testRun(seed, { failing = null, more = false } = {}) {
	const lines = [" RUN  v4.1.0 /home/maya/parcel-desk", ""];
	let tests = 0;
	SUITES.forEach((suite, s) => {
		casesOf(suite, more).forEach((name, c) => {
			tests++;
			const ms = 2 + ((seed * 37 + s * 101 + c * 53) % 148);
			const bad = suite === failing && c === 0;
			lines.push(` ${bad ? "×" : "✓"} test/${suite}.test.ts > ${name} ${ms}ms`);
			if (bad) lines.push("   → expected [ …2401 ] to have a length of 2501 but got 2401");
		});
	});
	const failed = failing ? 1 : 0;
	lines.push("", ` Test Files  ${failed ? "1 failed | " : ""}${SUITES.length - failed} passed (${SUITES.length})`);
	lines.push(
		`      Tests  ${failed ? "1 failed | " : ""}${tests - failed} passed (${tests})`,
		`   Duration  ${(4 + (seed % 7) / 10).toFixed(2)}s`,
	);
	return lines.join("\n");
}

/** A CI job's log: set-up noise around one failing run. */
export function ciLog(job, failing) {
	const lines = [];
	const stamp = (n) =>
		`2026-03-03T08:${String(14 + Math.floor(n / 60)).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}.${String((n * 7919 + job) % 1000).padStart(3, "0")}Z`;
	const add = (text) => lines.push(`${stamp(lines.length)} ${text}`);
	add(`##[group]Run actions/setup-node (job ${job})`);
	for (const tool of ["node 20.19.4", "npm 10.8.2", "git 2.49.0"]) add(`Found in cache: ${tool}`);
	add("##[endgroup]");
	add("##[group]npm ci");
	for (let n = 1; n <= 24; n++)
		add(
			`npm http fetch GET 200 registry/package-${String(n).padStart(2, "0")} ${40 + ((n * 31 + job) % 160)}ms (cache hit)`,
		);
	add("added 412 packages in 9s");
	add("##[endgroup]");
	for (const line of testRun(job % 11, { failing }).split("\n")) add(line);
	add(failing ? "##[error]Process completed with exit code 1." : "Job succeeded");
	return lines.join("\n");
}

export function repeatLog(runs, failures) {
	return Array.from({ length: runs }, (_, n) => {
		const bad = failures.includes(n + 1);
		return `run ${String(n + 1).padStart(3)}  ${bad ? "FAIL  2401 of 2501 lines" : "ok    2501 lines"}  ${180 + ((n * 47) % 90)}ms`;
	}).join("\n");
}
