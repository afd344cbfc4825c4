/** A model server on loopback that speaks OpenAI's streamed chat completions and answers from a script. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedReply {
	thinking?: string;
	text?: string;
	calls?: { id: string; name: string; arguments: object }[];
	/** Prompt and completion tokens that the reply reports. */
	usage?: [prompt: number, completion: number];
	/** Answer with this HTTP status and no reply. */
	status?: number;
}

/** A chat message as Pi sends it. */
export interface WireMessage {
	role: string;
	content?: unknown;
	tool_calls?: { id: string }[];
	tool_call_id?: string;
}

export interface FakeModel {
	baseUrl: string;
	/** Replies to the requests to come, in order; when none is left the answer is "(nothing scripted)". */
	say(...replies: ScriptedReply[]): void;
	/** The messages of every request so far, as they came. */
	requests: WireMessage[][];
	close(): Promise<void>;
}

export async function startFakeModel(): Promise<FakeModel> {
	const script: ScriptedReply[] = [];
	const requests: WireMessage[][] = [];
	let served = 0;
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on("data", (chunk: Buffer) => chunks.push(chunk));
		request.on("end", () => {
			requests.push((JSON.parse(Buffer.concat(chunks).toString("utf8")) as { messages: WireMessage[] }).messages);
			served++;
			const reply = script.shift() ?? { text: "(nothing scripted)" };
			if (reply.status) {
				response.writeHead(reply.status, { "content-type": "application/json" });
				response.end(JSON.stringify({ error: { message: "scripted failure", type: "fake" } }));
			} else {
				stream(response, reply, `reply-${served}`);
			}
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		baseUrl: `http://127.0.0.1:${port}/v1`,
		requests,
		say: (...replies) => void script.push(...replies),
		close: () =>
			new Promise((resolve) => {
				server.closeAllConnections();
				server.close(() => resolve());
			}),
	};
}

function stream(response: ServerResponse, reply: ScriptedReply, id: string): void {
	response.writeHead(200, { "content-type": "text/event-stream" });
	const send = (fields: object) =>
		response.write(
			`data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model: "fake-1", ...fields })}\n\n`,
		);
	const delta = (fields: object) => send({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
	delta({ role: "assistant", content: "" });
	if (reply.thinking) delta({ reasoning_content: reply.thinking });
	if (reply.text) delta({ content: reply.text });
	reply.calls?.forEach((call, index) => {
		const body = { name: call.name, arguments: JSON.stringify(call.arguments) };
		delta({ tool_calls: [{ index, id: call.id, type: "function", function: body }] });
	});
	send({ choices: [{ index: 0, delta: {}, finish_reason: reply.calls ? "tool_calls" : "stop" }] });
	const [prompt, completion] = reply.usage ?? [100, 10];
	send({
		choices: [],
		usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
	});
	response.end("data: [DONE]\n\n");
}
