/** A Responses API on loopback that answers from a script and keeps what it was asked. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import type { JsonObject } from "#src/session/record.js";

/** One scripted reply: the output items, in order, and the usage that goes with them. */
export interface Reply {
	items: JsonObject[];
	input_tokens?: number;
}

export interface RequestBody {
	input: JsonObject[];
}

export interface ScriptedServer {
	baseUrl: string;
	/** Bodies of the requests for a reply, in order. */
	requests: RequestBody[];
	/** Any other request, as `METHOD path`: there must be none. */
	others: string[];
	/** Replaces what is left of the script. */
	script(replies: Reply[]): void;
	close(): Promise<void>;
}

export async function startServer(): Promise<ScriptedServer> {
	const requests: RequestBody[] = [];
	const others: string[] = [];
	let queue: Reply[] = [];
	const server = createServer(async (request, response) => {
		const body = await bytesOf(request);
		if (request.method !== "POST" || !request.url?.endsWith("/responses")) {
			others.push(`${request.method} ${request.url}`);
			response.writeHead(404).end();
			return;
		}
		const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
		requests.push(JSON.parse(plain.toString("utf8")) as RequestBody);
		const reply = queue.shift() ?? { items: [say("nothing more to say")] };
		response.writeHead(200, { "content-type": "text/event-stream" });
		for (const event of streamOf(reply, requests.length))
			response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
		response.end();
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const { port } = server.address() as AddressInfo;
	return {
		baseUrl: `http://127.0.0.1:${port}/v1`,
		requests,
		others,
		script(replies) {
			queue = [...replies];
		},
		close() {
			server.closeAllConnections();
			return new Promise((done) => server.close(() => done()));
		},
	};
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}

/** The smallest stream that Codex accepts. */
function streamOf({ items, input_tokens = 100 }: Reply, n: number): JsonObject[] {
	const usage = {
		input_tokens,
		input_tokens_details: { cached_tokens: 0 },
		output_tokens: 10,
		output_tokens_details: { reasoning_tokens: 0 },
		total_tokens: input_tokens + 10,
	};
	return [
		{ type: "response.created", response: { id: `resp_${n}` } },
		...items.map((item, index) => ({ type: "response.output_item.done", output_index: index, item })),
		{ type: "response.completed", response: { id: `resp_${n}`, usage } },
	];
}

let made = 0;

export const say = (text: string): JsonObject => ({
	type: "message",
	role: "assistant",
	id: `msg_${++made}`,
	status: "completed",
	content: [{ type: "output_text", text, annotations: [] }],
});

export const run = (call_id: string, cmd: string): JsonObject => ({
	type: "function_call",
	id: `fc_${++made}`,
	call_id,
	name: "exec_command",
	arguments: JSON.stringify({ cmd }),
});

export const think = (text: string): JsonObject => ({
	type: "reasoning",
	id: `rs_${++made}`,
	summary: text === "" ? [] : [{ type: "summary_text", text }],
	encrypted_content: `ENCRYPTED-${made}`,
});
