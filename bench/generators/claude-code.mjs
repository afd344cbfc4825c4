/** Claude Code sessions: one content block per line, progress lines inside the chain, UI copies of results, attachments, compaction boundaries. */

const VERSION = "2.1.332";
const MODEL = "claude-opus-4-6";
const TOOL_NAMES = { read: "Read", bash: "Bash", grep: "Grep", edit: "Edit", write: "Write" };

function inputOf(call) {
	switch (call.tool) {
		case "edit":
			return { file_path: `/home/dev/checkout/${call.path}`, old_string: call.before, new_string: call.after };
		case "write":
			return { file_path: `/home/dev/checkout/${call.path}`, content: call.content };
		case "grep":
			return { pattern: call.pattern, path: `/home/dev/checkout/${call.path}`, output_mode: "content" };
		case "bash":
			return { command: call.command, description: "Run the command" };
		default:
			return { file_path: `/home/dev/checkout/${call.path}` };
	}
}

/** The copy of a result that the host keeps for its own screen. */
function screenCopy(call, { text, images }) {
	if (images.length > 0)
		return { type: "image", file: { base64: images[0].data, type: images[0].mime, originalSize: images[0].bytes } };
	switch (call.tool) {
		case "read":
			return { type: "text", file: { filePath: call.path, content: text, numLines: 1, startLine: 1, totalLines: 1 } };
		case "edit":
			return { filePath: call.path, oldString: call.before, newString: call.after, structuredPatch: [] };
		case "write":
			return { type: "create", filePath: call.path, content: call.content, structuredPatch: [] };
		case "grep":
			return { mode: "content", numFiles: 0, filenames: [], content: text, numLines: 1 };
		default:
			return { stdout: text, stderr: "", interrupted: false, isImage: false };
	}
}

const imageBlock = (image) => ({ type: "image", source: { type: "base64", media_type: image.mime, data: image.data } });

class Writer {
	constructor({ story, random, clock, progress }) {
		Object.assign(this, { story, random, clock, progress });
		this.sessionId = random.uuid();
		this.leaf = null;
		this.main = true;
		this.context = 18_000;
	}

	/** A line of the chain; it becomes the leaf unless `aside` says that it only hangs there. */
	line(type, fields, { parent = this.leaf, aside = false, time = this.clock.tick() } = {}) {
		const uuid = this.random.uuid();
		if (!aside) this.leaf = uuid;
		return {
			parentUuid: parent,
			isSidechain: false,
			userType: "external",
			cwd: "/home/dev/checkout",
			sessionId: this.sessionId,
			version: VERSION,
			gitBranch: "main",
			type,
			...fields,
			uuid,
			timestamp: this.clock.iso(time),
		};
	}

	attachment(attachment) {
		return this.line("attachment", { attachment });
	}

	reminder(type, text) {
		return this.attachment({ type, rendered: [{ content: `<system-reminder>\n${text}\n</system-reminder>` }] });
	}

	count(images) {
		for (const image of images) {
			this.progress.images++;
			this.progress.imageBytes += image.data.length;
		}
		return images;
	}

	atom() {
		if (this.main) this.progress.atoms++;
	}

	hook(toolUseID, event) {
		return this.line("progress", {
			data: {
				type: "hook_progress",
				hookEvent: event,
				hookName: `${event}:startup`,
				command: "node .claude/hooks/check.mjs",
			},
			toolUseID,
			parentToolUseID: toolUseID,
		});
	}

	usage(output) {
		return {
			input_tokens: 4,
			cache_creation_input_tokens: 600,
			cache_read_input_tokens: this.context,
			output_tokens: output,
			service_tier: "standard",
		};
	}
}

function* opening(w) {
	yield {
		type: "file-history-snapshot",
		messageId: w.random.uuid(),
		snapshot: { trackedFileBackups: {} },
		isSnapshotUpdate: false,
	};
	yield w.hook(w.random.uuid(), "SessionStart");
	yield w.reminder("environment", `Working directory: /home/dev/checkout. ${w.story.texts.prose(300)}`);
	yield w.reminder("date", "Today's date is 2026-03-02.");
	yield w.attachment({
		type: "prompt_snapshot",
		systemPrompt: ["You are Claude Code.", w.story.texts.prose(3000)],
		tools: Object.values(TOOL_NAMES).map((name) => ({
			name,
			schema: { type: "object", description: w.story.texts.prose(80) },
		})),
		cliPrefix: "",
	});
}

function* answer(w, event, calls) {
	const id = w.random.callId("msg_01");
	const requestId = w.random.callId("req_01");
	const blocks = [];
	if (event.thinking) blocks.push({ type: "thinking", thinking: event.thinking, signature: w.random.hex(96) });
	if (event.text) blocks.push({ type: "text", text: event.text });
	for (const { call, id: callId } of calls)
		blocks.push({ type: "tool_use", id: callId, name: TOOL_NAMES[call.tool], input: inputOf(call) });
	w.context = Math.min(190_000, w.context + w.random.between(200, 2500));
	w.atom();
	const total = w.random.between(60, 1400);
	for (const [n, block] of blocks.entries()) {
		const last = n === blocks.length - 1;
		const line = w.line("assistant", {
			message: {
				id,
				type: "message",
				role: "assistant",
				model: MODEL,
				content: [block],
				stop_reason: null,
				stop_sequence: null,
				usage: w.usage(last ? total : w.random.between(1, 8)),
			},
			requestId,
		});
		yield line;
		if (block.type !== "tool_use") continue;
		calls.find((c) => c.id === block.id).line = line.uuid;
		// The next block of the answer hangs on the progress of this call, as the host writes it.
		yield w.hook(block.id, "PreToolUse");
		for (let n = w.random.between(2, 9); n > 0; n--)
			yield w.line("progress", {
				data: {
					type: "bash_progress",
					output: w.story.texts.codeLine(),
					fullOutput: w.story.text("code", 40, 900),
					elapsedTimeSeconds: n,
					totalLines: n,
				},
				toolUseID: `bash-progress-${n}`,
				parentToolUseID: block.id,
			});
	}
}

function* results(w, event, calls) {
	for (const [n, result] of event.results.entries()) {
		const { call, id, line } = calls[n];
		const images = w.count(result.images);
		// The copy for the screen holds the payload once more.
		if (images.length > 0) w.progress.imageBytes += images[0].data.length;
		const numbered = call.tool === "read" && images.length === 0 && result.text.length < 12_000;
		const text = numbered ? result.text.replace(/^/gm, lineNumbers()) : result.text;
		yield w.line(
			"user",
			{
				message: {
					role: "user",
					content: [
						{
							tool_use_id: id,
							type: "tool_result",
							content: images.length > 0 ? images.map(imageBlock) : text,
							...(result.error ? { is_error: true } : {}),
						},
					],
				},
				toolUseResult: screenCopy(call, result),
				sourceToolAssistantUUID: line,
			},
			{ parent: line },
		);
	}
}

function lineNumbers() {
	let n = 0;
	return () => `${String(++n).padStart(6)}→`;
}

/** A short run of a sub-agent, written into the same file with its own root. */
function* sidechain(w) {
	const { leaf } = w;
	const prompt = w.line("user", { message: { role: "user", content: w.story.texts.prose(200) } }, { parent: null });
	yield { ...prompt, isSidechain: true, agentId: "a1b2c3d" };
	const reply = w.line("assistant", {
		message: {
			id: w.random.callId("msg_01"),
			type: "message",
			role: "assistant",
			model: MODEL,
			content: [{ type: "text", text: w.story.texts.prose(300) }],
			usage: w.usage(40),
		},
	});
	yield { ...reply, isSidechain: true, agentId: "a1b2c3d" };
	w.leaf = leaf;
}

function* compaction(w, event) {
	const before = w.leaf;
	yield {
		...w.line(
			"system",
			{ subtype: "compact_boundary", content: "Conversation compacted", isMeta: false, level: "info" },
			{ parent: null },
		),
		logicalParentUuid: before,
		compactMetadata: { trigger: "auto", preTokens: w.context },
	};
	w.context = 18_000;
	yield w.line("user", {
		message: {
			role: "user",
			content: `This session is being continued from a previous conversation that ran out of context.\n${event.summary}`,
		},
		isVisibleInTranscriptOnly: true,
		isCompactSummary: true,
	});
	w.atom();
	yield w.reminder("environment", "Working directory: /home/dev/checkout.");
}

export function* claudeCodeRecords(parts) {
	const w = new Writer(parts);
	let calls = [];
	let saved = null;
	yield* opening(w);
	for (const event of w.story.events()) {
		if (event.type === "branch") {
			saved = w.leaf;
			w.main = false;
		} else if (event.type === "back") {
			w.leaf = saved;
			w.main = true;
		} else if (event.type === "compaction") yield* compaction(w, event);
		else if (event.type === "user") {
			if (w.random.chance(0.05)) yield* sidechain(w);
			if (w.random.chance(0.3))
				yield {
					type: "file-history-snapshot",
					messageId: w.random.uuid(),
					snapshot: { trackedFileBackups: {} },
					isSnapshotUpdate: true,
				};
			const images = w.count(event.images);
			const content = images.length > 0 ? [{ type: "text", text: event.text }, ...images.map(imageBlock)] : event.text;
			w.atom();
			yield w.line("user", {
				message: { role: "user", content },
				promptId: w.random.uuid(),
				permissionMode: "default",
			});
			if (w.random.chance(0.2)) yield w.reminder("total_tokens_reminder", `${w.context} tokens are in use.`);
		} else if (event.type === "assistant") {
			calls = event.calls.map((call) => ({ call, id: w.random.callId("toolu_01"), line: null }));
			yield* answer(w, event, calls);
			if (calls.length === 0) {
				yield w.hook(w.random.uuid(), "Stop");
				yield w.line("system", { subtype: "turn_duration", durationMs: w.random.between(900, 90_000), isMeta: false });
			}
		} else if (event.type === "results") yield* results(w, event, calls);
	}
}
