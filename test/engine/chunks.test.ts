/** Any cut of the bytes and any number of workers give the same survey. */
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createEngine, type Engine } from "#src/index.js";
import { FORMATS, type FormatName } from "#src/session/record.js";
import { sessionBytes } from "../../bench/generate.mjs";
import { dumpSurvey } from "../helpers/dump.js";
import { scratchFolder } from "../helpers/files.js";

const files = scratchFolder();
const engines: Engine[] = [1, 2, 3].map((threads) => createEngine({ threads }));
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

/** A generated session with damage at places that the seed chooses. */
function damagedSession(format: FormatName, seed: number): Buffer {
	const bytes = Buffer.concat([...sessionBytes({ format, size: 60_000, images: 0.2, seed }).batches]);
	if (format === "openai-chat" || format === "anthropic") return bytes;
	const at = (part: number) => Math.floor(bytes.length * part);
	bytes.fill(0, at(0.3), at(0.3) + 64);
	bytes[at(0.5)] = 0xff;
	bytes[bytes.indexOf(10, at(0.7))] = 0x20;
	return bytes.subarray(0, bytes.length - 25);
}

describe.each(FORMATS)("%s", (format) => {
	it("is read alike with any chunk size, read size and number of workers", async () => {
		const path = files.write(`${format}.jsonl`, damagedSession(format, 7));
		const open = async (engine: Engine, chunkBytes: number, readBytes: number) => {
			const session = await engine.open(path, { chunkBytes, readBytes, background: { index: false } });
			try {
				await session.ready();
				return dumpSurvey(session);
			} finally {
				await session.close();
			}
		};
		const whole = await open(engines[0], 1 << 24, 1 << 20);
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...engines),
				fc.integer({ min: 300, max: 70_000 }),
				fc.integer({ min: 16, max: 70_000 }),
				async (engine, chunkBytes, readBytes) => {
					expect(await open(engine, chunkBytes, readBytes)).toEqual(whole);
				},
			),
			{ numRuns: 12 },
		);
	});
});
