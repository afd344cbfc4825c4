import { mkdtempSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** Tests that take minutes: whole stories in processes of their own, and a hundred kills. `npm run test:slow` and `.ci/run` run them. */
const SLOW = ["test/e2e/**/*.test.ts", "test/crash/**/*.test.ts"];
const slow = process.env.npm_lifecycle_event === "test:slow";

export default defineConfig({
	test: {
		include: slow ? SLOW : ["test/**/*.test.ts"],
		exclude: slow ? configDefaults.exclude : [...configDefaults.exclude, ...SLOW],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Most tests wait for threads and processes of their own: one worker for every core is not too many.
		maxWorkers: Math.max(2, availableParallelism()),
		// Plans of a tester's own sessions are neither seen nor touched.
		env: { MIDCOMPACT_STATE_DIR: mkdtempSync(join(tmpdir(), "midcompact-test-state-")) },
	},
});
