/** The examples of the README compile against the built package, and run. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const examples = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(
	(found) => found[1],
);

// Below the project, so that the package finds itself by its name.
mkdirSync(join(root, "dist/readme"), { recursive: true });
const folder = mkdtempSync(join(root, "dist/readme/"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("README examples", () => {
	it("exist", () => expect(examples.length).toBeGreaterThan(0));

	it.each(examples.map((code, i) => [i + 1, code] as const))("number %i compiles and runs", (n, code) => {
		const source = join(folder, `example${n}.ts`);
		writeFileSync(source, code);
		const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
		const options = [
			"--module",
			"nodenext",
			"--target",
			"es2023",
			"--strict",
			"--types",
			"node",
			"--skipLibCheck",
			"--ignoreConfig",
		];
		execFileSync(process.execPath, [tsc, ...options, source], { cwd: root, stdio: "pipe" });
		const out = execFileSync(process.execPath, [source.replace(/\.ts$/, ".js")], { cwd: root, encoding: "utf8" });
		expect(out).toContain("g0001");
	});
});
