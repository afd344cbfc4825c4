/**
 * An independent count of a session file: the plainest code that can say how many records and messages it holds and how long its content is.
 * Shares nothing with the engine, reads whole files into memory, and exists to disagree with the engine when one of both is wrong.
 *
 *     node test/counts/count.mjs FILE...
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { anthropic, openaiChat } from "./arrays.mjs";
import { claudeCode } from "./claude-code.mjs";
import { codex } from "./codex.mjs";
import { pi } from "./pi.mjs";
import { isObject, parseLines, tally } from "./text.mjs";

const FORMATS = { pi, "claude-code": claudeCode, codex, "openai-chat": openaiChat, anthropic };
const ANTHROPIC_BLOCKS = /^(tool_use|tool_result|thinking|redacted_thinking|image|document|server_tool_use)$/;

function formatOfLines([first]) {
	if (first?.type === "session") return "pi";
	return first?.type === "session_meta" || isObject(first?.payload) ? "codex" : "claude-code";
}

function formatOfElements(elements) {
	const blocks = elements.flatMap((e) => (Array.isArray(e.content) ? e.content : []));
	return blocks.some((block) => ANTHROPIC_BLOCKS.test(block?.type)) ? "anthropic" : "openai-chat";
}

/** Messages of a document: a bare array, or `messages` of an object whose `system` is a message of its own. */
function elementsOf(document) {
	const list = (Array.isArray(document) ? document : document.messages).filter(isObject);
	const { system } = document;
	return { list, front: system === undefined ? [] : [{ role: "system", content: system }] };
}

/** `{format, records, damaged, messages, system, chars, systemChars, calls, results, images, unsent, roles}` of a session file. */
export function countSession(path, format) {
	const text = readFileSync(path, "utf8");
	let document = null;
	try {
		document = JSON.parse(text);
	} catch {
		// Several lines are no single document.
	}
	if (document !== null && (Array.isArray(document) || Array.isArray(document.messages))) {
		const { list, front } = elementsOf(document);
		const name = format ?? formatOfElements(list);
		return { format: name, records: list.length, damaged: 0, ...tally(FORMATS[name]([...front, ...list])) };
	}
	const { objects, damaged } = parseLines(text);
	const name = format ?? formatOfLines(objects);
	return { format: name, records: objects.length, damaged, ...tally(FORMATS[name](objects)) };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
	const files = process.argv.slice(2);
	if (files.length === 0) {
		console.error("usage: node test/counts/count.mjs FILE...");
		process.exit(2);
	}
	const rows = files.map((file) => {
		const { roles, ...count } = countSession(file);
		return { file: basename(file), ...count };
	});
	console.table(rows);
}
