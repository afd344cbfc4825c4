/** A folder for the files of one test file; removed when its tests are done. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Returns a function that writes content under a name and answers the path. */
export function scratchFolder(): { path: string; write(name: string, content: string | Uint8Array): string } {
	const path = mkdtempSync(join(tmpdir(), "midcompact-test-"));
	afterAll(() => rmSync(path, { recursive: true, force: true }));
	return {
		path,
		write(name, content) {
			const file = join(path, name);
			writeFileSync(file, content);
			return file;
		},
	};
}

/** Pi v3 entries in a line: each is the child of the one before it. */
export function piSession(messages: readonly object[]): object[] {
	const header = {
		type: "session",
		version: 3,
		id: "00000000-0000-7000-8000-000000000000",
		timestamp: "2026-01-01T00:00:00.000Z",
		cwd: "/w",
	};
	const entries = messages.map((message, i) => ({
		type: "message",
		id: hex(i + 1),
		parentId: i === 0 ? null : hex(i),
		timestamp: "2026-01-01T00:00:00.000Z",
		message,
	}));
	return [header, ...entries];
}

const hex = (n: number) => n.toString(16).padStart(8, "0");

export const jsonLines = (records: readonly object[]) => records.map((r) => `${JSON.stringify(r)}\n`).join("");

export const userMessage = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
export const assistantMessage = (text: string) => ({
	role: "assistant",
	content: [{ type: "text", text }],
	stopReason: "stop",
	timestamp: 1,
});
