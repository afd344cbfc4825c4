import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Rooms from the top down (DESIGN.md, "The house"): each may import from itself and from those before it. */
const ROOMS = ["errors", "session", "atoms", "measure", "search", "plan", "facade", "engine", "hosts"];
/** `measure/chars.ts` and `measure/parts.ts` look only at session types; workers are entries and may use every room up to plan. */
const WORKER_ROOMS = ["errors", "session", "measure", "search", "plan"];

function sources(folder: string): string[] {
	return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".ts"))
		.map((name) => join(folder, name));
}

function roomOf(path: string): string {
	const [, first] = path.split("/");
	return first.replace(/\.ts$/, "");
}

/** Relative imports of a file, as paths from the root; `typesOnly` leaves out what a build erases. */
function importsOf(path: string): { to: string; typeOnly: boolean }[] {
	const text = readFileSync(join(root, path), "utf8");
	return [...text.matchAll(/^(import|export)( type)?[^;]*? from "(\.[^"]+)";/gms)].map((found) => ({
		to: relative(root, join(root, dirname(path), found[3])).replace(/\.js$/, ".ts"),
		typeOnly: found[2] !== undefined,
	}));
}

describe("imports run one way", () => {
	it.each(sources("src").filter((path) => path !== "src/index.ts"))(
		"%s imports only from its own room and those above",
		(path) => {
			const room = ROOMS.indexOf(roomOf(path));
			expect(room).toBeGreaterThanOrEqual(0);
			for (const { to, typeOnly } of importsOf(path)) {
				// The shapes of a worker's tasks are types; the code runs in another thread.
				if (to.startsWith("workers/")) expect(typeOnly, `${path} runs ${to}`).toBe(true);
				else if (to === "src/index.ts") expect(roomOf(path)).toBe("hosts");
				else expect(ROOMS.indexOf(roomOf(to)), `${path} imports ${to}`).toBeLessThanOrEqual(room);
			}
		},
	);

	it.each(sources("workers"))("%s uses no room below plan", (path) => {
		for (const { to } of importsOf(path)) expect(WORKER_ROOMS, `${path} imports ${to}`).toContain(roomOf(to));
	});
});

describe("the public API", () => {
	it("is only re-exported by src/index.ts", () => {
		const text = readFileSync(join(root, "src/index.ts"), "utf8");
		const statements = text
			.replace(/\/\*[\s\S]*?\*\//g, "")
			.split(";")
			.map((s) => s.trim())
			.filter(Boolean);
		for (const statement of statements) expect(statement).toMatch(/^export .* from "\.\/[^"]+"$/s);
	});
});
