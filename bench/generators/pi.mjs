/** Pi sessions, version 3. */

const MODEL = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };

function argumentsOf(call) {
	switch (call.tool) {
		case "edit":
			return { path: call.path, oldText: call.before, newText: call.after };
		case "write":
			return { path: call.path, content: call.content };
		case "grep":
			return { pattern: call.pattern, path: call.path };
		case "bash":
			return { command: call.command };
		default:
			return { path: call.path };
	}
}

const imagePart = (image) => ({ type: "image", data: image.data, mimeType: image.mime });
const textParts = (text, images) => [...(text ? [{ type: "text", text }] : []), ...images.map(imagePart)];

/** Entries of a session for the events of a story. Counts atoms and images into `progress`. */
export function* piRecords({ story, random, clock, progress }) {
	let leaf = null;
	let main = true;
	let saved = null;
	let lastUser = null;
	let context = 4000;
	let calls = [];
	const entry = (type, fields, id = random.uniqueId()) => {
		const line = { type, id, parentId: leaf, timestamp: clock.iso(), ...fields };
		leaf = id;
		return line;
	};
	const message = (fields) => entry("message", { message: { ...fields, timestamp: clock.now } });
	const atom = () => {
		if (main) progress.atoms++;
	};
	const counted = (images) => {
		for (const image of images) {
			progress.images++;
			progress.imageBytes += image.data.length;
		}
		return images;
	};

	const start = clock.tick();
	yield {
		type: "session",
		version: 3,
		id: random.uuid7(start),
		timestamp: clock.iso(start),
		cwd: "/home/dev/checkout",
	};
	yield entry("model_change", { provider: MODEL.provider, modelId: MODEL.model });
	yield entry("thinking_level_change", { thinkingLevel: "medium" });
	const system = {
		role: "system",
		content: `You are a coding agent. ${story.texts.prose(1200)}`,
		sections: { tools: "Use read, bash, edit, write and grep.", style: "Answer in short sentences." },
		toolsAdded: ["read", "bash", "edit", "write", "grep"].map((name) => ({
			name,
			description: story.texts.prose(120),
			parameters: { type: "object", properties: { path: { type: "string" } } },
		})),
	};
	yield message(system);

	for (const event of story.events()) {
		if (event.type === "branch") {
			saved = leaf;
			main = false;
		} else if (event.type === "back") {
			leaf = saved;
			main = true;
		} else if (event.type === "compaction") {
			yield entry("compaction", {
				summary: `## Goal\n${event.summary}`,
				firstKeptEntryId: lastUser,
				tokensBefore: context,
				details: { readFiles: [story.texts.path()], modifiedFiles: [story.texts.path()] },
				fromHook: false,
				systemMessage: { ...system, timestamp: clock.now },
			});
			context = 9000;
		} else if (event.type === "user") {
			if (random.chance(0.02))
				yield entry("custom", { customType: "todo-state", data: { items: [story.texts.identifier()] } });
			if (random.chance(0.01)) yield entry("session_info", { name: story.texts.identifier() });
			const line = message({ role: "user", content: textParts(event.text, counted(event.images)) });
			if (main) lastUser = line.id;
			atom();
			yield line;
		} else if (event.type === "bash") {
			atom();
			yield message({
				role: "bashExecution",
				command: event.command,
				output: event.output,
				exitCode: 0,
				cancelled: false,
				truncated: false,
			});
		} else if (event.type === "assistant") {
			calls = event.calls.map((call) => ({ call, id: random.callId("toolu_01") }));
			const content = [];
			if (event.thinking)
				content.push({ type: "thinking", thinking: event.thinking, thinkingSignature: random.hex(64) });
			if (event.text) content.push({ type: "text", text: event.text });
			for (const { call, id } of calls)
				content.push({ type: "toolCall", id, name: call.tool, arguments: argumentsOf(call) });
			context = Math.min(190_000, context + random.between(200, 2500));
			const output = random.between(30, 1200);
			atom();
			yield message({
				role: "assistant",
				content,
				...MODEL,
				usage: {
					input: random.between(3, 40),
					output,
					cacheRead: context,
					cacheWrite: random.between(0, 900),
					totalTokens: context + output,
					cost: { input: 0.0001, output: 0.004, cacheRead: 0.01, cacheWrite: 0.002, total: 0.0161 },
				},
				stopReason: calls.length > 0 ? "toolUse" : "stop",
			});
		} else {
			for (const [n, { text, images, error }] of event.results.entries()) {
				yield message({
					role: "toolResult",
					toolCallId: calls[n].id,
					toolName: calls[n].call.tool,
					content: textParts(text, counted(images)),
					isError: error,
					durationMs: random.between(2, 3000),
				});
			}
		}
	}
}
