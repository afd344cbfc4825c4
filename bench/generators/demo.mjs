/**
 * Writes the session that `npm start` surveys: a Claude Code session in which a flaky test is found and fixed.
 *
 *     node bench/generators/demo.mjs [FILE]        default: fixtures/demo-session.jsonl
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { demoStory } from "./demo-story.mjs";
import { png } from "./images.mjs";
import { Clock, Random } from "./random.mjs";

const START = Date.UTC(2026, 2, 3, 8, 21, 0);
const MODEL = "claude-opus-4-6";

/** A bar chart of failures per hour, one bit a pixel. Stored without compression, so that its bytes do not depend on the version of zlib. */
function chart(heights, width = 240, height = 96) {
	const rowBytes = width / 8;
	const rows = Buffer.alloc(height * (rowBytes + 1), 0xff);
	for (let y = 0; y < height; y++) {
		rows[y * (rowBytes + 1)] = 0;
		heights.forEach((bar, n) => {
			if (height - y <= bar) rows[y * (rowBytes + 1) + 2 + n * 2] = 0;
		});
	}
	return { data: png(width, height, 1, 0, deflateSync(rows, { level: 0 })).toString("base64"), bytes: rows.length };
}

class Demo {
	lines = [];
	#random = new Random(20260303);
	#clock = new Clock(this.#random, START);
	#session = this.#random.uuid();
	#leaf = null;
	#context = 16_400;

	chain(type, fields, parent = this.#leaf) {
		const uuid = this.#random.uuid();
		this.lines.push({
			parentUuid: parent,
			isSidechain: false,
			userType: "external",
			cwd: "/home/maya/parcel-desk",
			sessionId: this.#session,
			version: "2.1.332",
			gitBranch: "fix/flaky-export",
			type,
			...fields,
			uuid,
			timestamp: this.#clock.iso(this.#clock.tick(9000)),
		});
		this.#leaf = uuid;
		return uuid;
	}

	remind(type, text) {
		this.chain("attachment", {
			attachment: { type, rendered: [{ content: `<system-reminder>\n${text}\n</system-reminder>` }] },
		});
	}

	snapshot(systemPrompt, tools) {
		this.chain("attachment", { attachment: { type: "prompt_snapshot", systemPrompt, tools, cliPrefix: "" } });
	}

	user(text, image) {
		const content = image
			? [
					{ type: "text", text },
					{ type: "image", source: { type: "base64", media_type: "image/png", data: chart(image).data } },
				]
			: text;
		this.chain("user", {
			message: { role: "user", content },
			promptId: this.#random.uuid(),
			permissionMode: "default",
		});
	}

	/** Words that the person sent while the agent was at work. */
	queued(prompt) {
		this.chain("attachment", { attachment: { type: "queued_command", prompt, commandMode: "prompt" } });
	}

	/** One answer: thinking, text, calls, a line for each block; then the results of its calls. A call is `[tool, input, output]`. */
	agent({ thinking, text, calls = [], tokens = 160 }) {
		const id = this.#random.callId("msg_01");
		const requestId = this.#random.callId("req_01");
		const made = calls.map(([name, input, output]) => ({ id: this.#random.callId("toolu_01"), name, input, output }));
		const blocks = [
			...(thinking ? [{ type: "thinking", thinking, signature: this.#random.hex(88) }] : []),
			...(text ? [{ type: "text", text }] : []),
			...made.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
		];
		blocks.forEach((block, n) => {
			const usage = {
				input_tokens: 6,
				cache_creation_input_tokens: 412,
				cache_read_input_tokens: this.#context,
				output_tokens: n === blocks.length - 1 ? tokens : 3,
			};
			const uuid = this.chain("assistant", {
				message: {
					id,
					type: "message",
					role: "assistant",
					model: MODEL,
					content: [block],
					stop_reason: null,
					stop_sequence: null,
					usage,
				},
				requestId,
			});
			const call = made.find((c) => c.id === block.id);
			if (!call) return;
			call.line = uuid;
			for (let second = 1; second <= 2; second++)
				this.chain("progress", {
					data: {
						type: "hook_progress",
						hookEvent: "PreToolUse",
						hookName: `PreToolUse:${call.name}`,
						command: "node .claude/hooks/log.mjs",
					},
					toolUseID: call.id,
					parentToolUseID: call.id,
				});
		});
		for (const call of made) {
			const error = call.output.startsWith("Exit code");
			this.#context += Math.ceil(call.output.length / 3.2) + tokens;
			this.chain(
				"user",
				{
					message: {
						role: "user",
						content: [
							{ tool_use_id: call.id, type: "tool_result", content: call.output, ...(error ? { is_error: true } : {}) },
						],
					},
					toolUseResult:
						call.name === "Read"
							? { type: "text", file: { filePath: call.input.file_path, numLines: call.output.split("\n").length } }
							: { stdout: call.output.slice(0, 400), stderr: "", interrupted: false },
					sourceToolAssistantUUID: call.line,
				},
				call.line,
			);
		}
		if (made.length === 0)
			this.chain("system", { subtype: "turn_duration", durationMs: this.#random.between(4000, 90_000), isMeta: false });
	}

	compact(summary) {
		const logicalParentUuid = this.#leaf;
		const compactMetadata = { trigger: "manual", preTokens: this.#context };
		this.#leaf = null;
		this.chain("system", {
			logicalParentUuid,
			subtype: "compact_boundary",
			content: "Conversation compacted",
			isMeta: false,
			level: "info",
			compactMetadata,
		});
		this.#context = 18_900;
		this.chain("user", {
			message: {
				role: "user",
				content: `This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n${summary}`,
			},
			isVisibleInTranscriptOnly: true,
			isCompactSummary: true,
		});
	}
}

/** The demo session as JSONL text. */
export function demoSession() {
	const demo = new Demo();
	demoStory(demo);
	return `${demo.lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
	writeFileSync(
		process.argv[2] ?? fileURLToPath(new URL("../../fixtures/demo-session.jsonl", import.meta.url)),
		demoSession(),
	);
