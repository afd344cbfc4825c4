/**
 * What Claude Code sends of a session file, by the rule that was seen to predict it, on plain JSON objects and in the simplest way that can be
 * written down. Quadratic, without any code of the engine: it is there to disagree with it.
 */
type Json = Record<string, unknown>;

export interface Predicted {
	role: string;
	uuids: unknown[];
	texts: string[];
}

const CHAIN = ["user", "assistant", "attachment", "system", "progress"];

const isObject = (value: unknown): value is Json =>
	typeof value === "object" && value !== null && !Array.isArray(value);
const messageOf = (line: Json): Json => (isObject(line.message) ? line.message : {});
const attachmentOf = (line: Json): Json => (isObject(line.attachment) ? line.attachment : {});
const blocksOf = (content: unknown): Json[] => (Array.isArray(content) ? content.filter(isObject) : []);
const idsOf = (line: Json, type: string, key: string) =>
	blocksOf(messageOf(line).content)
		.filter((block) => block.type === type && typeof block[key] === "string")
		.map((block) => block[key]);

/** `scope` as in the engine: `path` goes on behind a boundary and leaves its summary out. */
export function predict(all: readonly Json[], scope: "context" | "path" = "context"): Predicted[] {
	const chain = all.filter((line) => CHAIN.includes(String(line.type)));
	const talk = chain.filter((line) => line.type === "user" || line.type === "assistant");
	const sidechainOnly = talk.every((line) => line.isSidechain === true);
	const mine = chain.filter((line) => sidechainOnly || line.isSidechain !== true);
	const byUuid = new Map(chain.map((line) => [line.uuid, line]));
	const current = mine.filter((line) => line.uuid === undefined || byUuid.get(line.uuid) === line);

	let sent: Json[];
	if (!current.some((line) => byUuid.has(line.parentUuid))) sent = current;
	else {
		const linking = chain.filter((line) => byUuid.get(line.parentUuid) !== line);
		const pointedTo = new Set(linking.map((line) => line.parentUuid));
		const leaf = current.filter((line) => !pointedTo.has(line.uuid)).at(-1);
		const way = walk(leaf, byUuid, current, scope);
		sent = withSiblings(way, current);
	}
	return merge(
		sent.filter((line) => mine.includes(line)),
		scope,
	);
}

function walk(leaf: Json | undefined, byUuid: Map<unknown, Json>, current: Json[], scope: string): Json[] {
	const way: Json[] = [];
	let at = leaf;
	while (at) {
		way.push(at);
		const link = scope === "path" && at.subtype === "compact_boundary" ? at.logicalParentUuid : at.parentUuid;
		let next = byUuid.get(link);
		if (typeof link === "string" && (!next || way.includes(next))) {
			const time = Date.parse(String(at.timestamp));
			const earlier = current.filter((line) => !way.includes(line) && Date.parse(String(line.timestamp)) < time);
			earlier.sort((a, b) => Date.parse(String(a.timestamp)) - Date.parse(String(b.timestamp)));
			next = earlier.at(-1);
		}
		at = next;
	}
	return way;
}

function withSiblings(way: Json[], current: Json[]): Json[] {
	const ids = new Set(way.filter((line) => line.type === "assistant").map((line) => messageOf(line).id));
	ids.delete(undefined);
	const lines = new Set([
		...way,
		...current.filter((line) => line.type === "assistant" && ids.has(messageOf(line).id)),
	]);
	const answered = new Set(way.flatMap((line) => idsOf(line, "tool_result", "tool_use_id")));
	const open = new Set([...lines].flatMap((line) => idsOf(line, "tool_use", "id")).filter((id) => !answered.has(id)));
	for (const line of current) {
		if (line.type === "user" && idsOf(line, "tool_result", "tool_use_id").some((id) => open.has(id))) lines.add(line);
	}
	return current.concat(way.filter((line) => !current.includes(line))).filter((line) => lines.has(line));
}

function merge(lines: Json[], scope: string): Predicted[] {
	const messages: Predicted[] = [];
	const answers = new Map<unknown, Predicted>();
	for (const line of lines) {
		const queued = attachmentOf(line).type === "queued_command";
		if (line.type !== "user" && line.type !== "assistant" && !queued) continue;
		if (line.isCompactSummary === true && scope === "path") continue;
		const content = queued ? attachmentOf(line).prompt : messageOf(line).content;
		const { id } = messageOf(line);
		const known = line.type === "assistant" && id !== undefined ? answers.get(id) : undefined;
		const message = known ?? { role: roleOf(line), uuids: [], texts: [] };
		message.uuids.push(line.uuid);
		message.texts.push(...textsOf(content));
		if (known) continue;
		messages.push(message);
		if (line.type === "assistant") answers.set(id, message);
	}
	return messages;
}

function roleOf(line: Json): string {
	if (line.type === "assistant") return "assistant";
	if (line.isCompactSummary === true) return "summary";
	return blocksOf(messageOf(line).content).some((block) => block.type === "tool_result") ? "tool_result" : "user";
}

function textsOf(content: unknown): string[] {
	if (typeof content === "string") return content === "" ? [] : [content];
	return blocksOf(content).flatMap((block) => {
		if (block.type === "text") return textsOf(block.text);
		if (block.type === "thinking") return textsOf(block.thinking);
		if (block.type === "tool_use") return [String(block.name), JSON.stringify(block.input)];
		return block.type === "tool_result" ? textsOf(block.content) : [];
	});
}
