/** Real session files beside an independent count of each (`test/counts`). */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSession } from "#src/index.js";
import { comparable, engineCount, expectSumsToAddUp } from "./counts/compare.js";
import { countSession } from "./counts/count.mjs";

const folder = fileURLToPath(new URL("../../shared/sessions/", import.meta.url));

function sessionFiles(): string[] {
	if (!existsSync(folder)) return [];
	const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
	return names.filter((name) => /\.(jsonl|traj\.json)$/.test(name)).sort();
}

describe.skipIf(!existsSync(folder))("real sessions (../shared/sessions)", () => {
	it.each(sessionFiles())("%s: the engine counts what a plain reading of the file counts", async (name) => {
		const session = await openSession(folder + name);
		try {
			expect(engineCount(session)).toEqual(comparable(countSession(folder + name)));
			expectSumsToAddUp(session.survey);
			await session.ready();
			for (let atom = 0; atom < session.survey.atoms.length; atom++)
				expect(session.survey.tokens.ofAtom(atom), session.survey.atoms.refOf(atom)).not.toBeNull();
		} finally {
			await session.close();
		}
	});
});
