/** Random Claude Code sessions: chains with parallel calls, attachments, compactions, rewinds and what else real files hold. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "#src/session/record.js";

type Step =
	| { kind: "prompt"; reminders: number; blocks: boolean }
	| { kind: "answer"; thinking: "none" | "full" | "hollow"; blank: boolean; calls: Call[]; ends: boolean }
	| { kind: "queued" | "progress" | "error" | "snapshot" | "title" | "compaction" | "reminder" }
	| { kind: "rewind"; to: number };

interface Call {
	answered: boolean;
	/** The result's parent is the line of its call, as parallel calls have it; else the line before it. */
	beside: boolean;
	reminder: boolean;
	/** The result comes at once, before the next line of the answer. */
	early: boolean;
}

const call: fc.Arbitrary<Call> = fc.record({
	answered: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
	beside: fc.boolean(),
	reminder: fc.boolean(),
	early: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({ kind: fc.constant("prompt" as const), reminders: fc.nat(2), blocks: fc.boolean() }),
	},
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant("answer" as const),
			thinking: fc.constantFrom("none", "full", "hollow"),
			blank: fc.boolean(),
			calls: fc.array(call, { maxLength: 3 }),
			ends: fc.boolean(),
		}),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			kind: fc.constantFrom("queued", "progress", "error", "snapshot", "title", "reminder"),
		}),
	},
	{ weight: 1, arbitrary: fc.constant({ kind: "compaction" as const }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("rewind" as const), to: fc.nat(30) }) },
);

export const sessionSteps = fc.array(step, { minLength: 4, maxLength: 25 });

/** The lines of a session. */
export function sessionOf(steps: readonly Step[]): JsonObject[] {
	const writer = new SessionLines();
	writer.prompt(0, false);
	for (const one of steps) writer.take(one);
	return writer.lines;
}

class SessionLines {
	readonly lines: JsonObject[] = [];
	/** Lines behind which a conversation can go on. */
	readonly #stops: string[] = [];
	#tip: string | null = null;
	#serial = 0;

	take(one: Step): void {
		if (one.kind === "prompt") this.prompt(one.reminders, one.blocks);
		else if (one.kind === "answer") this.#answer(one);
		else if (one.kind === "rewind") this.#tip = this.#stops[one.to % this.#stops.length];
		else if (one.kind === "compaction") this.#compaction();
		else if (one.kind === "progress") this.#line("progress", { data: { type: "hook_progress" } });
		else if (one.kind === "error") this.#error();
		else if (one.kind === "title") this.lines.push({ type: "ai-title", aiTitle: this.#next("title"), sessionId: "s" });
		else this.#attachment(one.kind);
	}

	prompt(reminders: number, blocks: boolean): void {
		const words = this.#next("prompt");
		this.#user(
			blocks
				? [
						{ type: "text", text: words },
						{ type: "text", text: "and more" },
					]
				: words,
		);
		for (let i = 0; i < reminders; i++) this.#attachment("reminder");
		this.#stop();
	}

	#answer({ thinking, blank, calls, ends }: Extract<Step, { kind: "answer" }>): void {
		const id = this.#next("msg");
		if (thinking !== "none")
			this.#block(id, { type: "thinking", thinking: thinking === "full" ? this.#next("thought") : "", signature: "x" });
		if (blank) this.#block(id, { type: "text", text: "\n\n" });
		if (!ends || calls.length === 0) this.#block(id, { type: "text", text: this.#next("answer") });
		const late: { call: Call; id: string; parent: string }[] = [];
		for (const one of calls) {
			const callId = this.#next("call");
			const parent = this.#block(id, { type: "tool_use", id: callId, name: "Bash", input: { command: callId } });
			if (one.early) this.#result(one, callId, parent);
			else late.push({ call: one, id: callId, parent });
		}
		for (const one of late) this.#result(one.call, one.id, one.parent);
		this.#stop();
	}

	#result(one: Call, id: string, parent: string): void {
		if (!one.answered) return;
		if (one.beside) this.#tip = parent;
		this.#user([{ type: "tool_result", tool_use_id: id, content: `done ${id}` }], { toolUseResult: { stdout: id } });
		if (one.reminder) this.#attachment("reminder");
	}

	#compaction(): void {
		this.#line("system", { subtype: "compact_boundary", logicalParentUuid: this.#tip, parentUuid: null });
		this.#user(this.#next("summary"), { isCompactSummary: true });
		this.#stops.length = 0;
		this.#stop();
	}

	#error(): void {
		const content = [{ type: "text", text: "API Error" }];
		this.#line("assistant", {
			isApiErrorMessage: true,
			message: { id: this.#next("err"), role: "assistant", content },
		});
		this.#stop();
	}

	#attachment(kind: string): void {
		const words = this.#next(kind);
		const held: Record<string, JsonObject> = {
			reminder: { type: "date", rendered: [{ content: words }] },
			queued: { type: "queued_command", prompt: words },
			snapshot: { type: "prompt_snapshot", systemPrompt: [words], tools: [] },
		};
		this.#line("attachment", { attachment: held[kind] });
	}

	#block(id: string, block: JsonObject): string {
		const usage = {
			input_tokens: 7,
			output_tokens: 5,
			cache_read_input_tokens: 1000,
			iterations: [{ input_tokens: 7 }],
		};
		return this.#line("assistant", { message: { id, role: "assistant", model: "m", content: [block], usage } });
	}

	#user(content: JsonValue, extra: JsonObject = {}): void {
		this.#line("user", { message: { role: "user", content }, ...extra });
	}

	#line(type: string, extra: JsonObject): string {
		const uuid = this.#next("u");
		const timestamp = new Date(Date.UTC(2026, 0, 1) + this.#serial * 1000).toISOString();
		const cwd = "/w";
		this.lines.push({
			parentUuid: this.#tip,
			isSidechain: false,
			cwd,
			sessionId: "s",
			type,
			uuid,
			timestamp,
			...extra,
		});
		this.#tip = uuid;
		return uuid;
	}

	#stop(): void {
		if (this.#tip !== null) this.#stops.push(this.#tip);
	}

	#next(name: string): string {
		this.#serial++;
		return `${name}-${this.#serial}`;
	}
}
