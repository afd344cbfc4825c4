/** The generator and the demo session are what the benchmarks and `npm start` stand on. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession } from "#src/index.js";
import { FORMATS } from "#src/session/record.js";
import { type GeneratorOptions, generateSession, parseSize, sessionBytes } from "../bench/generate.mjs";
import { demoSession } from "../bench/generators/demo.mjs";
import { comparable, engineCount, expectSumsToAddUp } from "./counts/compare.js";
import { countSession } from "./counts/count.mjs";

let dir = "";
beforeAll(() => {
	dir = mkdtempSync(join(tmpdir(), "midcompact-fixtures-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function digest(options: GeneratorOptions): string {
	const hash = createHash("sha256");
	for (const bytes of sessionBytes(options).batches) hash.update(bytes);
	return hash.digest("hex");
}

/** A generated session in a file, opened. */
async function opened(options: GeneratorOptions, name: string) {
	const path = join(dir, name);
	const made = await generateSession(options, path);
	const session = await openSession(path, { background: { tokens: false, index: false } });
	return { path, made, session };
}

const SMALL = { size: 2_000_000, images: 0.5 };
const BUSY = { size: 3_000_000, images: 0.3, seed: 5, deadBranches: 4, compact: [0.2, 0.6] };

describe.each(FORMATS)("generated %s sessions", (format) => {
	it("are the same bytes for the same seed and other bytes for another", () => {
		const first = digest({ format, ...SMALL, seed: 3 });
		expect(digest({ format, ...SMALL, seed: 3 })).toBe(first);
		expect(digest({ format, ...SMALL, seed: 4 })).not.toBe(first);
	});

	it.each([
		["plain", SMALL],
		["with dead branches and compactions", BUSY],
	])("open without damage, %s", async (name, options) => {
		const { path, made, session } = await opened({ format, ...options }, `${format}-${name}.jsonl`);
		try {
			expect(session.survey.damage.count).toBe(0);
			expect(session.survey.notices).toEqual([]);
			expect(session.survey.bytes).toBe(made.bytes);
			expect(engineCount(session)).toEqual(comparable(countSession(path)));
			expectSumsToAddUp(session.survey);
		} finally {
			await session.close();
		}
	});

	it("hold the atoms they were asked for, all of them sound exchanges", async () => {
		const { made, session } = await opened({ format, atoms: 700, deadBranches: 2 }, `${format}-atoms.jsonl`);
		const { atoms, groups } = session.survey;
		try {
			expect(made.atoms).toBeGreaterThanOrEqual(700);
			expect(atoms.length).toBe(made.atoms);
			expect(groups.count).toBeGreaterThan(10);
			for (let atom = 0; atom < atoms.length; atom++) expect(atoms.reasonOf(atom), atoms.refOf(atom)).toBeNull();
		} finally {
			await session.close();
		}
	});

	it("have one group when only one prompt was typed", async () => {
		const { session } = await opened({ format, atoms: 300, singleGroup: true }, `${format}-single.jsonl`);
		try {
			// What the host said before the prompt is a prefix of its own.
			const leads = new Set(session.survey.groups.parts.map((part) => part.label.split(".")[0]));
			expect(session.survey.groups.parts.filter((part) => part.lead === "user").length).toBeGreaterThan(1);
			expect(
				[...leads].filter((label) =>
					session.survey.groups.parts.some((p) => p.label.startsWith(label) && p.lead === "user"),
				),
			).toHaveLength(1);
		} finally {
			await session.close();
		}
	});
});

it("the share of images and of repeated texts is as asked", async () => {
	const path = join(dir, "shares.jsonl");
	const made = await generateSession({ format: "pi", size: 12_000_000, images: 0.62 }, path);
	expect(made.imageBytes / made.bytes).toBeGreaterThan(0.55);
	expect(made.imageBytes / made.bytes).toBeLessThan(0.69);
	expect(made.duplicateChars / made.textChars).toBeGreaterThan(0.26);
	expect(made.duplicateChars / made.textChars).toBeLessThan(0.32);
});

it.each([
	["200MB", 200_000_000],
	["1.5GB", 1_500_000_000],
	["64 kb", 64_000],
	["17", 17],
])("a size of %s is %i bytes", (text, bytes) => {
	expect(parseSize(text)).toBe(bytes);
});

it("refuses options that make no session", () => {
	expect(() => parseSize("many")).toThrow(RangeError);
	expect(() => sessionBytes({ format: "pi" })).toThrow(RangeError);
	expect(() => sessionBytes({ format: "pi", size: 1000, images: 1.2 })).toThrow(RangeError);
});

describe("the demo session", () => {
	const path = fileURLToPath(new URL("../fixtures/demo-session.jsonl", import.meta.url));

	it("is what its script writes", () => {
		expect(readFileSync(path, "utf8")).toBe(demoSession());
	});

	it("surveys as a session with a summary, several prompts, an image and recorded usage", async () => {
		const session = await openSession(path);
		try {
			const { survey } = session;
			expect(survey.damage.count).toBe(0);
			expect(engineCount(session)).toEqual(comparable(countSession(path)));
			expectSumsToAddUp(survey);
			expect(survey.groups.parts.map((part) => part.lead)).toContain("summary");
			expect(survey.groups.count).toBeGreaterThanOrEqual(6);
			expect(survey.branch.usage?.usage.cacheRead).toBeGreaterThan(0);
			expect(survey.system.messages).toBe(1);
		} finally {
			await session.close();
		}
	});
});
