/** One engine for all sessions of a test file: starting threads for each of them takes longer than most tests. */
import { afterAll } from "vitest";
import type { Session } from "#src/engine/session.js";
import { createEngine, type Engine, type OpenOptions } from "#src/engine.js";

let engine: Engine | null = null;

/** Opens a session without counting and indexing behind it. Close it. */
export function openShared(session: string | readonly unknown[], options: OpenOptions = {}): Promise<Session> {
	engine ??= createEngine({ threads: 2 });
	return engine.open(session, { background: { tokens: false, index: false }, ...options });
}

afterAll(async () => {
	await engine?.close();
	engine = null;
});
