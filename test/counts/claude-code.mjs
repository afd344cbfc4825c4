/** Claude Code: the host's prediction rule, written down again from its description, over all lines in memory. */
import { addBlocks, blocksOf, callIds, resultIds } from "./blocks.mjs";
import { emptyContent, isObject } from "./text.mjs";

const CHAIN = new Set(["user", "assistant", "attachment", "system", "progress"]);
const isConversation = (line) => line.type === "user" || line.type === "assistant";

/** Lines of the context, in file order. */
function contextLines(objects) {
	const all = objects.map((line, place) => ({ line, place })).filter(({ line }) => CHAIN.has(line.type));
	const main = all.filter(({ line }) => line.isSidechain !== true);
	const chain = main.some(({ line }) => isConversation(line)) ? main : all;
	const byId = new Map();
	for (const node of chain) if (typeof node.line.uuid === "string") byId.set(node.line.uuid, node);
	const parents = new Map(chain.map((node) => [node, byId.get(node.line.parentUuid)]));

	// No link names a line: the file is read from top to bottom, from the last boundary on.
	const linked = chain.some((node) => parents.get(node) && parents.get(node) !== node);
	if (!linked && chain.filter(({ line }) => isConversation(line)).length > 1)
		return chain.slice(
			Math.max(
				0,
				chain.findLastIndex(({ line }) => line.subtype === "compact_boundary"),
			),
		);

	relinkPreserved(chain, byId, parents);
	const pointedAt = new Set(
		[...parents].filter(([node, parent]) => parent && parent !== node).map(([, parent]) => parent),
	);
	const live = chain.filter((node) => typeof node.line.uuid !== "string" || byId.get(node.line.uuid) === node);
	const leaf = live.filter((node) => !pointedAt.has(node)).at(-1) ?? live.at(-1);

	const walk = new Set();
	for (let node = leaf; node && !walk.has(node); ) {
		walk.add(node);
		let parent = parents.get(node);
		const broken = typeof node.line.parentUuid === "string" && (!parent || walk.has(parent));
		if (broken) parent = nearestEarlier(node, live, walk);
		node = parent;
	}
	addSiblings(chain, walk);
	return [...walk].sort((a, b) => a.place - b.place);
}

/** What the last boundary preserved sits behind its anchor, whatever its old parents say. */
function relinkPreserved(chain, byId, parents) {
	const boundary = chain.findLast(({ line }) => line.subtype === "compact_boundary");
	const { preservedMessages, preservedSegment } = boundary?.line.compactMetadata ?? {};
	let kept = (preservedMessages?.uuids ?? []).map((id) => byId.get(id)).filter(Boolean);
	const anchor = byId.get((preservedMessages ?? preservedSegment)?.anchorUuid);
	if (!preservedMessages && preservedSegment) {
		kept = [];
		for (let node = byId.get(preservedSegment.tailUuid); node && !kept.includes(node); node = parents.get(node)) {
			kept.unshift(node);
			if (node.line.uuid === preservedSegment.headUuid) break;
		}
	}
	if (!anchor || kept.length === 0) return;
	for (const [node, parent] of parents) if (parent === anchor && !kept.includes(node)) parents.set(node, kept.at(-1));
	kept.forEach((node, k) => {
		parents.set(node, kept[k - 1] ?? anchor);
	});
}

function nearestEarlier(node, live, walk) {
	const time = Date.parse(node.line.timestamp);
	if (Number.isNaN(time)) return undefined;
	let best;
	for (const other of live) {
		const t = Date.parse(other.line.timestamp);
		if (walk.has(other) || !(t < time || (t === time && other.place < node.place))) continue;
		if (!best || t >= Date.parse(best.line.timestamp)) best = other;
	}
	return best;
}

/** Parallel lines that a walk over parents loses: the other lines of an answer, and the results of its calls. */
function addSiblings(chain, walk) {
	const onWalk = [...walk].map(({ line }) => line);
	const answers = new Set(onWalk.filter((l) => l.type === "assistant" && l.message?.id).map((l) => l.message.id));
	for (const node of chain) if (node.line.type === "assistant" && answers.has(node.line.message?.id)) walk.add(node);
	const calls = new Set(
		[...walk].flatMap(({ line }) => (line.type === "assistant" ? callIds(line.message?.content) : [])),
	);
	const answered = new Set(onWalk.flatMap((l) => (l.type === "user" ? resultIds(l.message?.content) : [])));
	for (const node of chain) {
		if (node.line.type !== "user") continue;
		if (resultIds(node.line.message?.content).some((id) => calls.has(id) && !answered.has(id))) walk.add(node);
	}
}

/** Texts of an attachment: what was rendered, else the text it stores, wherever it stores it. */
function attachmentContent(attachment) {
	const content = emptyContent();
	if (Array.isArray(attachment.rendered)) {
		for (const part of attachment.rendered) addBlocks(content, part?.content);
		return content;
	}
	const stored = isObject(attachment.content) ? (attachment.content.file ?? attachment.content) : attachment;
	for (const key of ["content", "text", "snippet", "prompt", "addedLines"]) addBlocks(content, stored[key]);
	// Lists of tasks: their titles.
	const tasks = Array.isArray(attachment.content) ? attachment.content : [];
	for (const task of tasks) if (task.type === undefined) addBlocks(content, task.subject ?? task.content);
	return content;
}

/** Prompt and tool declarations of a snapshot. */
function snapshotContent(attachment) {
	const content = emptyContent();
	for (const part of [attachment.systemPrompt ?? []].flat())
		content.texts.push(typeof part === "string" ? part : (part?.text ?? ""));
	if (attachment.tools) content.texts.push(JSON.stringify(attachment.tools));
	return content;
}

export function claudeCode(objects) {
	const messages = [];
	const answers = new Map();
	for (const { line } of contextLines(objects)) {
		const sent = line.isApiErrorMessage !== true;
		if (line.type === "attachment" && isObject(line.attachment)) {
			const { attachment } = line;
			if (attachment.type === "prompt_snapshot") continue;
			const role = attachment.type === "queued_command" ? "user" : "attachment";
			messages.push({ role, sent: true, content: attachmentContent(attachment) });
		} else if (line.type === "assistant") {
			const id = line.message?.id;
			const known = id && answers.get(id);
			if (known) addBlocks(known.content, line.message.content);
			else {
				const message = { role: "assistant", sent, content: blocksOf(line.message?.content) };
				if (id) answers.set(id, message);
				messages.push(message);
			}
		} else if (line.type === "user") {
			const content = blocksOf(line.message?.content);
			const role = line.isCompactSummary === true ? "summary" : content.results > 0 ? "tool_result" : "user";
			messages.push({ role, sent, content });
		}
	}
	const snapshot = objects.findLast((line) => line.attachment?.type === "prompt_snapshot" && line.isSidechain !== true);
	if (snapshot) messages.push({ role: "system", sent: true, content: snapshotContent(snapshot.attachment) });
	return messages;
}
