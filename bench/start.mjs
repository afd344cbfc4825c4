/**
 * `npm start`: surveys the bundled demo session. `npm start -- inspect FILE` (any command of the tool) passes its arguments on; paths are relative to
 * where npm was called. Builds first when there is no build.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = fileURLToPath(new URL("../dist/src/hosts/cli/main.js", import.meta.url));
const demo = fileURLToPath(new URL("../fixtures/demo-session.jsonl", import.meta.url));

/** Runs a command with this terminal and ends with its exit code unless it was 0. */
function run(command, args, options) {
	const { status, error } = spawnSync(command, args, { stdio: "inherit", ...options });
	if (error) throw error;
	if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(main)) {
	const npm = process.env.npm_execpath;
	// Its output goes to stderr: stdout carries the survey only.
	const stdio = ["ignore", 2, 2];
	if (npm) run(process.execPath, [npm, "run", "build", "--silent"], { cwd: root, stdio });
	else run("npm", ["run", "build", "--silent"], { cwd: root, stdio, shell: process.platform === "win32" });
}

const args = process.argv.slice(2);
run(process.execPath, [main, ...(args.length > 0 ? args : ["inspect", demo])], {
	cwd: process.env.INIT_CWD ?? process.cwd(),
});
