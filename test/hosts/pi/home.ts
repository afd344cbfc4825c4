/** A home of its own for one run of Pi: nothing of the user's is read or written. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PiHome {
	root: string;
	cwd: string;
	env: NodeJS.ProcessEnv;
	remove(): void;
}

/** Keeps so little behind a compaction that a short session has something to summarise. */
const SETTINGS = {
	defaultProvider: "fake",
	defaultModel: "fake-1",
	quietStartup: true,
	compaction: { enabled: false, keepRecentTokens: 40, reserveTokens: 1000 },
};

export function makePiHome(baseUrl: string): PiHome {
	const root = mkdtempSync(join(tmpdir(), "midcompact-pi-"));
	const [agent, cwd, home, tmp] = ["agent", "work", "home", "tmp"].map((name) => join(root, name));
	for (const folder of [agent, cwd, home, tmp]) mkdirSync(folder);
	const model = {
		id: "fake-1",
		reasoning: true,
		input: ["text", "image"],
		contextWindow: 20_000,
		maxTokens: 2048,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	};
	const models = { providers: { fake: { baseUrl, api: "openai-completions", apiKey: "none", models: [model] } } };
	writeFileSync(join(agent, "models.json"), JSON.stringify(models));
	writeFileSync(join(agent, "settings.json"), JSON.stringify(SETTINGS));
	return {
		root,
		cwd,
		env: {
			PATH: process.env.PATH,
			HOME: home,
			TMPDIR: tmp,
			LANG: "C.UTF-8",
			PI_CODING_AGENT_DIR: agent,
			PI_OFFLINE: "1",
			PI_SKIP_VERSION_CHECK: "1",
			PI_TELEMETRY: "0",
		},
		remove: () => rmSync(root, { recursive: true, force: true }),
	};
}
