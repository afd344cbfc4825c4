/**
 * What Claude Code sends of a session file: the rule that predicted every request of the real program, written down a second time on plain parsed
 * lines, in the simplest way. Quadratic, without any code of the engine: it is there to disagree with it.
 */
export type Line = Record<string, unknown>;

export interface Block extends Record<string, unknown> {
	type: string;
}

export interface ApiMessage {
	role: "user" | "assistant";
	content: Block[];
}

const CHAIN = ["user", "assistant", "attachment", "system", "progress"];

const isObject = (value: unknown): value is Line =>
	typeof value === "object" && value !== null && !Array.isArray(value);
const messageOf = (line: Line): Line => (isObject(line.message) ? line.message : {});
const attachmentOf = (line: Line): Line => (isObject(line.attachment) ? line.attachment : {});
const timeOf = (line: Line) => Date.parse(String(line.timestamp));
const text = (value: string): Block => ({ type: "text", text: value });

function blocksOf(content: unknown): Block[] {
	if (typeof content === "string") return [text(content)];
	return Array.isArray(content) ? content.filter((block): block is Block => isObject(block)) : [];
}

/** The messages of a resumed file, without the new prompt. */
export function hostMessages(all: readonly Line[]): ApiMessage[] {
	return mergeLines(sentLines(all));
}

/** The lines that are sent, in order, and those between them that are not messages. */
export function sentLines(all: readonly Line[]): Line[] {
	const chain = all.filter((line) => CHAIN.includes(String(line.type)));
	const talk = chain.filter((line) => line.type === "user" || line.type === "assistant");
	const mine = chain.filter((line) => line.isSidechain !== true || talk.every((other) => other.isSidechain === true));
	const byUuid = new Map(chain.map((line) => [line.uuid, line]));
	const current = mine.filter((line) => line.uuid === undefined || byUuid.get(line.uuid) === line);
	const pointedTo = new Set(chain.map((line) => line.parentUuid));
	const leaf = current.findLast((line) => !pointedTo.has(line.uuid));
	const way = leaf ? walk(leaf, byUuid, current, all) : [];
	const place = new Map(all.map((line, at) => [line, at]));
	const runOf = new Map<Line, number>();
	let run = 0;
	way.forEach((line, at) => {
		if (at > 0 && (place.get(line) ?? 0) < (place.get(way[at - 1]) ?? 0)) run++;
		runOf.set(line, run);
	});
	addSiblings(way, current, runOf);
	const order = (line: Line) => (runOf.get(line) ?? 0) * all.length + (place.get(line) ?? 0);
	return current.filter((line) => runOf.has(line)).sort((a, b) => order(a) - order(b));
}

function walk(leaf: Line, byUuid: Map<unknown, Line>, current: Line[], all: readonly Line[]): Line[] {
	const { parents, tails } = keptMessages(all.slice(0, all.indexOf(leaf) + 1));
	const way: Line[] = [];
	let at: Line | undefined = byUuid.get(tails.get(leaf.uuid)) ?? leaf;
	while (at) {
		way.unshift(at);
		const link: unknown = parents.get(at.uuid) ?? tails.get(at.parentUuid) ?? at.parentUuid;
		let next = byUuid.get(link);
		if (typeof link === "string" && (!next || way.includes(next))) {
			const time = timeOf(at);
			const earlier = current.filter((line) => !way.includes(line) && timeOf(line) < time);
			next = earlier.sort((a, b) => timeOf(a) - timeOf(b)).at(-1);
		}
		at = next;
	}
	return way;
}

/** Messages that a compaction kept sit behind its anchor; what hung on the anchor hangs on the last of them. */
function keptMessages(all: readonly Line[]): { parents: Map<unknown, unknown>; tails: Map<unknown, unknown> } {
	const parents = new Map<unknown, unknown>();
	const tails = new Map<unknown, unknown>();
	for (const line of all) {
		const about = isObject(line.compactMetadata) ? line.compactMetadata.preservedMessages : undefined;
		if (!isObject(about) || !Array.isArray(about.uuids)) continue;
		about.uuids.forEach((uuid, at, uuids) => {
			parents.set(uuid, at === 0 ? about.anchorUuid : uuids[at - 1]);
		});
		tails.set(about.anchorUuid, about.uuids.at(-1));
	}
	return { parents, tails };
}

/** Lines of the same answers, and results of their calls that have none on the way. */
function addSiblings(way: Line[], current: Line[], runOf: Map<Line, number>): void {
	const runOfAnswer = new Map<unknown, number>();
	for (const line of way) {
		const { id } = messageOf(line);
		if (line.type === "assistant" && id !== undefined && !runOfAnswer.has(id))
			runOfAnswer.set(id, runOf.get(line) ?? 0);
	}
	for (const line of current) {
		const run = line.type === "assistant" ? runOfAnswer.get(messageOf(line).id) : undefined;
		if (run !== undefined && !runOf.has(line)) runOf.set(line, run);
	}
	const answered = new Set(way.flatMap(resultIds));
	const runOfCall = new Map<unknown, number>();
	for (const [line, run] of runOf) {
		for (const block of blocksOf(messageOf(line).content)) if (block.type === "tool_use") runOfCall.set(block.id, run);
	}
	for (const line of current) {
		if (line.type !== "user" || runOf.has(line)) continue;
		const open = resultIds(line).find((id) => runOfCall.has(id) && !answered.has(id));
		if (open !== undefined) runOf.set(line, runOfCall.get(open) ?? 0);
	}
}

function resultIds(line: Line): unknown[] {
	return blocksOf(messageOf(line).content)
		.filter((block) => block.type === "tool_result")
		.map((block) => block.tool_use_id);
}

/** Lines in sending order to messages, mended as the host mends them. */
export function mergeLines(lines: readonly Line[]): ApiMessage[] {
	const messages: (ApiMessage | Line[])[] = [];
	const answers = new Map<unknown, ApiMessage>();
	for (const line of lines) {
		if (line.type === "assistant" && line.isApiErrorMessage !== true) {
			const { id, content } = messageOf(line);
			const known = id === undefined ? undefined : answers.get(id);
			const answer = known ?? { role: "assistant" as const, content: [] };
			answer.content.push(...blocksOf(content).filter((block) => !isBlank(block)));
			if (known) continue;
			messages.push(answer);
			answers.set(id, answer);
		} else if (line.type === "user" || (line.type === "attachment" && attachmentOf(line).type !== "prompt_snapshot")) {
			const last = messages.at(-1);
			if (Array.isArray(last)) last.push(line);
			else messages.push([line]);
		}
	}
	const sent = messages.map((one) => (Array.isArray(one) ? userMessage(one) : withoutLoneThinking(one)));
	return finished(paired(sent.filter(({ content }) => content.length > 0)));
}

function isBlank(block: Block): boolean {
	return block.type === "text" && typeof block.text === "string" && block.text.trim() === "";
}

const isThinking = (block: Block) => block.type === "thinking" || block.type === "redacted_thinking";

function withoutLoneThinking(message: ApiMessage): ApiMessage {
	return message.content.every(isThinking) ? { ...message, content: [] } : message;
}

/** A run of user lines and attachments: reminders, then texts; or results, the reminders behind the last of them, then texts. */
function userMessage(lines: readonly Line[]): ApiMessage {
	const reminders: Block[][] = [];
	const results: Block[] = [];
	const texts: Block[][] = [];
	for (const line of lines) {
		const attachment = attachmentOf(line);
		if (line.type === "attachment" && attachment.type !== "queued_command") {
			const { rendered } = attachment;
			const said = Array.isArray(rendered)
				? rendered.flatMap((item) => blocksOf(item.content))
				: [text(JSON.stringify(attachment))];
			if (said.length > 0) reminders.push(said);
			continue;
		}
		const blocks = blocksOf(line.type === "user" ? messageOf(line).content : attachment.prompt);
		results.push(...blocks.filter((block) => block.type === "tool_result").map((block) => ({ ...block })));
		const words = blocks.filter((block) => block.type !== "tool_result" && !isBlank(block));
		if (words.length > 0) texts.push(words);
	}
	const last = results.at(-1);
	if (!last) return { role: "user", content: joined([...reminders, ...texts]) };
	for (const block of reminders.flat()) {
		if (typeof last.content === "string") last.content = `${last.content}\n\n${block.text}`;
		else last.content = [...blocksOf(last.content), block];
	}
	return { role: "user", content: [...results, ...joined(texts)] };
}

/** Wherever two parts meet, the last text of the left one ends its line. */
function joined(parts: readonly Block[][]): Block[] {
	return parts.flatMap((part, at) => {
		const end = part[part.length - 1];
		if (at === parts.length - 1 || end.type !== "text") return part;
		return [...part.slice(0, -1), text(`${end.text}\n`)];
	});
}

/** Calls without a result behind them and second calls of one id are left out; a result without its call becomes a text. */
function paired(messages: readonly ApiMessage[]): ApiMessage[] {
	const known = new Set<unknown>();
	let open = new Set<unknown>();
	const out: ApiMessage[] = [];
	messages.forEach((message, at) => {
		if (message.role === "assistant") {
			const next = messages[at + 1];
			const answers = new Set(next?.role === "user" ? next.content.map((block) => block.tool_use_id) : []);
			open = new Set();
			const content = message.content.filter((block) => {
				if (block.type !== "tool_use") return true;
				if (known.has(block.id) || (next && !answers.has(block.id))) return false;
				known.add(block.id);
				open.add(block.id);
				return true;
			});
			if (content.length > 0) out.push({ ...message, content });
			return;
		}
		const content = message.content.map((block) => {
			if (block.type !== "tool_result" || open.delete(block.tool_use_id)) return block;
			return text("(no content)");
		});
		out.push({ ...message, content });
	});
	return out;
}

/** What the host puts behind a conversation that is not finished. */
function finished(messages: ApiMessage[]): ApiMessage[] {
	const last = messages.at(-1);
	if (!last) return messages;
	const open = last.content.filter((block) => last.role === "assistant" && block.type === "tool_use");
	if (last.role === "assistant" && open.length === 0) {
		const end = last.content.findLastIndex((block) => !isThinking(block));
		return [...messages.slice(0, -1), { ...last, content: last.content.slice(0, end + 1) }];
	}
	const behind: ApiMessage[] = [{ role: "assistant", content: [text("No response requested.")] }];
	if (open.length > 0) {
		const errors = open.map(({ id }) => ({
			type: "tool_result",
			tool_use_id: id,
			is_error: true,
			content: "[Tool call interrupted",
		}));
		behind.unshift({ role: "user", content: errors });
	}
	return [...messages, ...behind];
}
