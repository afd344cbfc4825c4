import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Plans of a tester's own sessions are neither seen nor touched.
		env: { MIDCOMPACT_STATE_DIR: mkdtempSync(join(tmpdir(), "midcompact-test-state-")) },
	},
});
