/** A plan that was committed, gone on with in the real hosts: what the server receives is what `project` said, message by message. How to run it: codex.test.ts, pi.test.ts. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommitOutcome, ProjectedMessage, Session } from "#src/index.js";
import { codexReader } from "#src/session/formats/codex/read.js";
import { openaiChatReader } from "#src/session/formats/openai-chat/read.js";
import type { JsonObject, Part } from "#src/session/record.js";
import { openShared } from "../helpers/engine.js";
import { scratchFolder } from "../helpers/files.js";
import { CodexHost } from "./codex/host.js";
import { run, say, think } from "./codex/server.js";
import { type FakeModel, startFakeModel } from "./pi/fake-model.js";
import { makePiHome, type PiHome } from "./pi/home.js";
import { startPi } from "./pi/rpc.js";

const { CODEX_BIN, PI_NODE, PI_CLI } = process.env;
const scratch = scratchFolder();
const NEXT = "and what is next?";

/** Plans two ranges around a kept atom, projects and commits them. */
async function commit(
	path: string,
	stateDir: string,
): Promise<{ projected: ProjectedMessage[]; outcome: CommitOutcome }> {
	const session = await openShared(path, { stateDir });
	try {
		await session.planning?.start();
		const { atoms } = session.survey;
		expect(atoms.length).toBeGreaterThan(5);
		await add(session, 1, 1, "What the first reply was.");
		await add(session, 3, 4, "What came in the middle.\nTwo lines.");
		const lines: string[] = [];
		await session.planning?.project((some) => void lines.push(some));
		const projected = lines
			.flatMap((some) => some.trim().split("\n"))
			.map((line) => JSON.parse(line) as ProjectedMessage);
		const digest = (await session.planning?.current())?.digest;
		const outcome = await session.planning?.commit({ digest });
		if (!outcome) throw new Error("nothing was committed");
		return { projected, outcome };
	} finally {
		await session.close();
	}
}

async function add(session: Session, start: number, end: number, summary: string): Promise<void> {
	const { atoms } = session.survey;
	const request = {
		action: "plan_add",
		start: atoms.refOf(start),
		end: atoms.refOf(end),
		summary,
		topic: "the middle",
	};
	const reply = await session.request({ request });
	expect(reply.ok, reply.text).toBe(true);
}

/** What both sides say of a message's content; a host writes the id of the new session into the recall call only when it commits. */
function contents(messages: readonly (readonly Part[])[]): unknown[] {
	return messages.map((parts) =>
		parts.flatMap((part) => {
			if (part.type === "text") return part.text.replace(/run midcompact recall \S+ /, "run midcompact recall ID ");
			if (part.type === "tool_call") return { name: part.name, arguments: part.arguments };
			return part.type === "tool_result" ? { result: part.id } : [];
		}),
	);
}

describe.skipIf(!CODEX_BIN)("a committed plan in the real Codex (CODEX_BIN)", () => {
	let host: CodexHost;

	beforeAll(async () => {
		host = await CodexHost.start(CODEX_BIN ?? "");
	});
	afterAll(() => host.stop());

	it("sends what project said, item by item", async () => {
		const { thread } = await host.exec("first question", [
			{ items: [say("I will look."), run("call_a", "echo alpha")] },
			{ items: [say("alpha done")] },
		]);
		await host.resume(thread, "second question", [
			{ items: [think("what is beta"), run("call_b1", "echo beta1"), run("call_b2", "echo beta2")] },
			{ items: [say("beta done")] },
		]);
		await host.resume(thread, "third question", [{ items: [say("third done")] }]);
		const { projected, outcome } = await commit(host.rollout(thread), join(scratch.path, "codex-state"));
		const { requests, thread: resumed } = await host.resume(outcome.session ?? "", NEXT, [{ items: [say("ok")] }]);
		expect(resumed).toBe(outcome.session);
		const items = requests[0].input.map(
			(payload) =>
				codexReader.read({ timestamp: "2026-01-01T00:00:00.000Z", type: "response_item", payload })?.parts ?? [],
		);
		// The base instructions stand in front, the new prompt behind.
		const sent = contents(items).slice(0, -1).flat();
		const said = contents(projected.map(({ parts }) => parts)).flat();
		expect(sent.slice(-said.length)).toEqual(said);
		expect(said.filter((text) => String(text).startsWith("[midcompact block c000"))).toHaveLength(2);
		expect(contents(items).at(-1)).toEqual([NEXT]);
	});
});

describe.skipIf(!PI_NODE || !PI_CLI)("a committed plan in the real Pi (PI_NODE, PI_CLI)", () => {
	let model: FakeModel;
	let home: PiHome;

	beforeAll(async () => {
		model = await startFakeModel();
		home = makePiHome(model.baseUrl);
	});
	afterAll(async () => {
		await model?.close();
		home?.remove();
	});

	const start = (args: string[] = []) =>
		startPi(PI_NODE ?? "", PI_CLI ?? "", { cwd: home.cwd, env: home.env, args: ["--model", "fake/fake-1", ...args] });

	it("sends what project said, message by message", async () => {
		const pi = start();
		let file = "";
		try {
			for (const word of ["one", "two", "three"]) {
				const command = { id: `call-${word}`, name: "bash", arguments: { command: `echo ${word}` } };
				model.say({ text: `I look at ${word}.`, calls: [command] }, { text: `${word} done` });
				await pi.prompt(`question ${word}`);
			}
			file = join(home.root, "session.jsonl");
			copyFileSync((await pi.command("get_state")).data?.sessionFile ?? "", file);
			expect(await pi.close()).toBe(0);
		} finally {
			pi.kill();
		}
		const original = readFileSync(file);
		const { projected, outcome } = await commit(file, join(scratch.path, "pi-state"));
		const before = model.requests.length;
		model.say({ text: "ok" });
		const next = start(["--session", outcome.path]);
		try {
			await next.prompt(NEXT);
			expect(await next.close()).toBe(0);
		} finally {
			next.kill();
		}
		const sent = model.requests[before]
			.filter(({ role }) => role !== "system" && role !== "developer")
			.map((message) => openaiChatReader.read(message as unknown as JsonObject)?.parts ?? []);
		expect(contents(sent)).toEqual([...contents(projected.map(({ parts }) => parts)), [NEXT]]);
		expect(readFileSync(file).equals(original)).toBe(true);
	});
});
