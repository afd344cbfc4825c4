/** Codex rollouts: response items, their copies as events, contexts, token counts, compactions with a replacement history. */

const SUMMARY_PREFIX =
	"Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:";
/** User messages that a compaction keeps word for word. */
const KEPT = 6;
const WINDOW = 272_000;

const inputText = (text) => ({ type: "input_text", text });
const inputImage = (image) => ({
	type: "input_image",
	image_url: `data:${image.mime};base64,${image.data}`,
	detail: "auto",
});

function commandOf(call) {
	switch (call.tool) {
		case "bash":
			return call.command;
		case "grep":
			return `rg -n "${call.pattern}" ${call.path}`;
		default:
			return `sed -n '1,240p' ${call.path}`;
	}
}

function patchOf(call) {
	if (call.tool === "write")
		return `*** Begin Patch\n*** Add File: ${call.path}\n${call.content.replace(/^/gm, "+")}\n*** End Patch\n`;
	const change = `${call.before.replace(/^/gm, "-")}\n${call.after.replace(/^/gm, "+")}`;
	return `*** Begin Patch\n*** Update File: ${call.path}\n@@\n${change}\n*** End Patch\n`;
}

class Writer {
	constructor({ story, random, clock, progress }) {
		Object.assign(this, { story, random, clock, progress });
		this.ordinal = 0;
		this.main = true;
		this.context = 12_000;
		this.turn = "";
		this.threadId = random.uuid7(clock.now);
		this.asked = [];
		this.knowsContext = false;
	}

	line(type, payload) {
		return { timestamp: this.clock.iso(), ordinal: this.ordinal++, type, payload };
	}

	item(payload) {
		return this.line("response_item", {
			...payload,
			internal_chat_message_metadata_passthrough: { turn_id: this.turn },
		});
	}

	message(role, content) {
		return this.item({ type: "message", id: this.random.callId("msg_"), role, content });
	}

	event(payload) {
		return this.line("event_msg", payload);
	}

	completed(item) {
		return this.event({ type: "item_completed", thread_id: this.threadId, turn_id: this.turn, item });
	}

	atom() {
		if (this.main) this.progress.atoms++;
	}

	count(images) {
		for (const image of images) {
			this.progress.images++;
			this.progress.imageBytes += image.data.length;
		}
		return images;
	}
}

function* opening(w) {
	yield w.line("session_meta", {
		session_id: w.threadId,
		id: w.threadId,
		timestamp: w.clock.iso(),
		cwd: "/home/dev/checkout",
		originator: "codex_cli_rs",
		cli_version: "0.171.0",
		source: "cli",
		thread_source: "user",
		model_provider: "openai",
		base_instructions: {
			text: `You are Codex. ${w.story.texts.prose(2500)}`,
			provenance: { type: "model", model: "gpt-5.4" },
		},
		history_mode: "paginated",
	});
	yield w.line("world_state", {
		full: true,
		state: { model: "gpt-5.4", environments: { current_date: "2026-03-02", timezone: "UTC" } },
	});
}

/** The two messages by which the host tells the model where it is: at the start, and anew after a compaction. */
function* context(w) {
	if (w.knowsContext) return;
	w.knowsContext = true;
	yield w.message("developer", [
		inputText("<permissions instructions>\nThe sandbox allows every command.\n</permissions instructions>"),
	]);
	w.atom();
	yield w.message("user", [
		inputText(
			"# AGENTS.md instructions for /home/dev/checkout\n\n<INSTRUCTIONS>\nRun the tests before you finish.\n</INSTRUCTIONS>",
		),
		inputText(
			"<environment_context>\n  <cwd>/home/dev/checkout</cwd>\n  <current_date>2026-03-02</current_date>\n</environment_context>",
		),
	]);
}

function* startTurn(w) {
	w.turn = w.random.uuid7(w.clock.now);
	yield w.event({ type: "task_started", turn_id: w.turn, model_context_window: WINDOW });
}

function* ask(w, event) {
	yield* startTurn(w);
	yield* context(w);
	yield w.line("turn_context", {
		turn_id: w.turn,
		cwd: "/home/dev/checkout",
		approval_policy: "never",
		sandbox_policy: { type: "danger-full-access" },
		model: "gpt-5.4",
		summary: "auto",
	});
	const images = w.count(event.images);
	w.atom();
	yield w.message("user", [inputText(event.text), ...images.map(inputImage)]);
	if (w.main) w.asked = [...w.asked, event.text].slice(-KEPT);
	yield w.completed({ type: "UserMessage", id: w.random.uuid(), content: [{ type: "text", text: event.text }] });
}

function* answer(w, event, calls) {
	yield* context(w);
	w.atom();
	if (event.thinking) {
		const id = w.random.callId("rs_");
		yield w.item({
			type: "reasoning",
			id,
			summary: [{ type: "summary_text", text: event.thinking }],
			content: null,
			encrypted_content: Buffer.from(w.random.hex(600)).toString("base64"),
		});
		yield w.completed({ type: "Reasoning", id, summary_text: [event.thinking], raw_content: [] });
	}
	if (event.text) {
		yield w.message("assistant", [{ type: "output_text", text: event.text }]);
		yield w.completed({ type: "AgentMessage", id: w.random.uuid(), content: [{ type: "Text", text: event.text }] });
	}
	for (const { call, id } of calls) {
		const patch = call.tool === "edit" || call.tool === "write";
		yield patch
			? w.item({
					type: "custom_tool_call",
					id: w.random.callId("ctc_"),
					status: "completed",
					call_id: id,
					name: "apply_patch",
					input: patchOf(call),
				})
			: w.item({
					type: "function_call",
					id: w.random.callId("fc_"),
					name: "exec_command",
					arguments: JSON.stringify({ cmd: commandOf(call) }),
					call_id: id,
				});
	}
}

function* results(w, event, calls) {
	for (const [n, { text, images }] of event.results.entries()) {
		const { call, id } = calls[n];
		const patch = call.tool === "edit" || call.tool === "write";
		w.count(images);
		const output =
			images.length > 0
				? [inputText(text), ...images.map(inputImage)]
				: patch
					? text
					: `Chunk ID: ${w.random.hex(6)}\nWall time: 0.0${w.random.int(900)} seconds\nProcess exited with code 0\nOutput:\n${text}\n`;
		yield w.item({ type: patch ? "custom_tool_call_output" : "function_call_output", call_id: id, output });
		if (!patch)
			yield w.completed({
				type: "CommandExecution",
				id,
				command: commandOf(call),
				cwd: "/home/dev/checkout",
				status: "completed",
				aggregated_output: text,
				exit_code: 0,
			});
	}
}

function* tokenCount(w) {
	w.context = Math.min(250_000, w.context + w.random.between(300, 4000));
	const usage = {
		input_tokens: w.context,
		cached_input_tokens: w.context - 200,
		output_tokens: w.random.between(20, 900),
		reasoning_output_tokens: 10,
		total_tokens: w.context + 900,
	};
	yield w.event({
		type: "token_count",
		info: {
			total_token_usage: { ...usage, input_tokens: usage.input_tokens * 3 },
			last_token_usage: usage,
			model_context_window: WINDOW,
		},
		rate_limits: null,
	});
}

/** A compaction is a turn of its own without a prompt. */
function* compaction(w, event) {
	yield* startTurn(w);
	const user = (text) => ({ type: "message", role: "user", content: [inputText(text)] });
	yield w.line("compacted", {
		message: "",
		replacement_history: [...w.asked.map(user), user(`${SUMMARY_PREFIX}\n${event.summary}`)],
	});
	yield w.event({ type: "context_compacted" });
	yield w.event({ type: "task_complete", turn_id: w.turn, last_agent_message: null });
	w.knowsContext = false;
	w.context = 12_000;
}

export function* codexRecords(parts) {
	const w = new Writer(parts);
	let calls = [];
	yield* opening(w);
	for (const event of w.story.events()) {
		if (event.type === "branch") w.main = false;
		else if (event.type === "back") {
			w.main = true;
			yield w.event({ type: "thread_rolled_back", num_turns: 1 });
		} else if (event.type === "compaction") yield* compaction(w, event);
		else if (event.type === "user") yield* ask(w, event);
		else if (event.type === "results") yield* results(w, event, calls);
		else if (event.type === "assistant") {
			calls = event.calls.map((call) => ({ call, id: w.random.callId("call_") }));
			yield* answer(w, event, calls);
			yield* tokenCount(w);
			if (calls.length === 0) yield w.event({ type: "task_complete", turn_id: w.turn, last_agent_message: event.text });
		}
	}
}
