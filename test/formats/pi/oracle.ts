/**
 * Pi's context on plain objects, in the simplest way, written from the description of its five steps and independent of the code under test:
 * path, newest compaction, edits, entries to messages.
 */
import type { JsonObject, JsonValue } from "#src/session/record.js";

export interface Expected {
	role: string;
	texts: string[];
	entry: string;
}

const NAMES: Record<string, string> = {
	system: "system",
	user: "user",
	assistant: "assistant",
	toolResult: "tool_result",
	bashExecution: "bash",
	custom: "custom",
};

type Entry = JsonObject & { id: string };

/** Version 1 to 3 as Pi migrates, with `#n` for the ids that it would draw at random. */
export function migrate(records: readonly JsonObject[]): Entry[] {
	const [head] = records;
	const version = Number(head.version ?? 1);
	let entries = records.slice(1) as Entry[];
	if (version < 2) {
		entries = entries.map((e, i) => ({
			...e,
			id: `#${i + 1}`,
			parentId: i === 0 ? null : `#${i}`,
			...(typeof e.firstKeptEntryIndex === "number" ? { firstKeptEntryId: `#${e.firstKeptEntryIndex}` } : {}),
		}));
	}
	if (version < 3) {
		entries = entries.map((e) => {
			const m = e.message as JsonObject | undefined;
			return m?.role === "hookMessage" ? { ...e, message: { ...m, role: "custom" } } : e;
		});
	}
	return entries;
}

export function contextAt(entries: readonly Entry[], leafId: string): Expected[] {
	const path = pathTo(entries, leafId);
	const at = path.findLastIndex((e) => e.type === "compaction");
	if (at < 0) return project(path, null);
	const first = path.slice(0, at).findIndex((e) => e.id === path[at].firstKeptEntryId);
	const kept = first < 0 ? [] : path.slice(first, at).filter((e) => roleOf(e) !== "system");
	return project([path[at], ...kept, ...path.slice(at + 1)], path[at]);
}

/** The path scope: no compaction, edits applied. */
export function originalsAt(entries: readonly Entry[], leafId: string): Expected[] {
	return project(pathTo(entries, leafId), null);
}

function pathTo(entries: readonly Entry[], leafId: string): Entry[] {
	const byId = new Map(entries.map((e) => [e.id, e]));
	const path: Entry[] = [];
	for (let e = byId.get(leafId); e && !path.includes(e); e = byId.get(String(e.parentId))) path.unshift(e);
	return path;
}

function project(selected: readonly Entry[], compaction: Entry | null): Expected[] {
	const edits = new Map<string, JsonObject>();
	for (const e of selected) if (e.type === "context_edit") edits.set(String(e.targetId), e);
	return selected.flatMap((e) => {
		const replacement = edits.get(e.id)?.replacement as JsonObject | null | undefined;
		if (replacement === null) return [];
		return messagesOf(e, compaction, replacement).map((m) => ({ ...m, entry: e.id }));
	});
}

function messagesOf(
	e: Entry,
	compaction: Entry | null,
	replacement: JsonObject | undefined,
): Omit<Expected, "entry">[] {
	if (e.type === "compaction") {
		if (e !== compaction) return [];
		const summary = { role: "summary", texts: [String(e.summary)] };
		return e.systemMessage
			? [{ role: "system", texts: systemTexts(e.systemMessage as JsonObject) }, summary]
			: [summary];
	}
	if (e.type === "branch_summary") return e.summary ? [{ role: "summary", texts: [String(e.summary)] }] : [];
	if (e.type === "custom_message")
		return [{ role: "custom", texts: textsOf(replacement ? replacement.content : e.content) }];
	if (e.type !== "message") return [];
	const m = e.message as JsonObject;
	const role = NAMES[String(m.role)] ?? "other";
	if (role === "system") return [{ role, texts: systemTexts(m) }];
	if (role === "bash") return [{ role, texts: [String(m.command), String(m.output)] }];
	return [{ role, texts: textsOf(replacement && role !== "other" ? replacement.content : m.content) }];
}

function roleOf(e: Entry): JsonValue | undefined {
	return e.type === "message" ? (e.message as JsonObject).role : null;
}

function textsOf(content: JsonValue | undefined): string[] {
	if (typeof content === "string") return [content];
	if (!Array.isArray(content)) return [];
	return (content as JsonObject[]).flatMap((p) => {
		if (p.type === "text") return [String(p.text)];
		if (p.type === "thinking") return [String(p.thinking)];
		if (p.type !== "toolCall") return [];
		return [String(p.name), typeof p.arguments === "string" ? p.arguments : JSON.stringify(p.arguments)];
	});
}

function systemTexts(m: JsonObject): string[] {
	const sections = Object.values((m.sections ?? {}) as JsonObject).filter((s) => s !== null) as string[];
	return [...textsOf(m.content), ...sections, ...(m.toolsAdded ? [JSON.stringify(m.toolsAdded)] : [])];
}
