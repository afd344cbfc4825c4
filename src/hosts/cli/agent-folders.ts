/** The sessions that lie in the known agents' own folders. */
import type { Dirent, Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { MidcompactError } from "../../errors.js";
import type { FormatName } from "../../session/record.js";

export interface FoundSession {
	id: string;
	format: FormatName;
	path: string;
	/** Bytes. */
	size: number;
	/** Milliseconds since 1970. */
	modified: number;
}

interface Folder {
	format: FormatName;
	root: string;
	/** Levels of folders below the root that are looked into. */
	depth: number;
	/** Group 1 is the session's id. */
	name: RegExp;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Files looked at at the same time. */
const AT_ONCE = 64;
/** Sessions named in a message at most. */
const NAMED = 5;

/** Where the agents keep their sessions: CLAUDE_CONFIG_DIR, CODEX_HOME, PI_CODING_AGENT_DIR and PI_CODING_AGENT_SESSION_DIR count. */
export function agentFolders(env: Environment = process.env, home = homedir()): Folder[] {
	const place = (value: string | undefined, ...otherwise: string[]) =>
		value ? resolve(value.replace(/^~(?=$|[/\\])/, home)) : join(home, ...otherwise);
	const codex = place(env.CODEX_HOME, ".codex");
	// `agent-….jsonl` beside the sessions are sub-agents of older versions.
	const claude = { format: "claude-code", depth: 1, name: /^(?!agent-)(.+)\.jsonl$/ } as const;
	const rollout = { format: "codex", depth: 3, name: /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)\.jsonl$/ } as const;
	const pi = { format: "pi", depth: 1, name: /^(?:\d{4}-\d\d-[\dTZ-]+_)?(.+)\.jsonl$/ } as const;
	const folders: Folder[] = [
		{ ...claude, root: join(place(env.CLAUDE_CONFIG_DIR, ".claude"), "projects") },
		{ ...rollout, root: join(codex, "sessions") },
		{ ...rollout, root: join(codex, "archived_sessions") },
		{ ...pi, root: join(place(env.PI_CODING_AGENT_DIR, ".pi", "agent"), "sessions") },
	];
	if (env.PI_CODING_AGENT_SESSION_DIR) folders.push({ ...pi, root: place(env.PI_CODING_AGENT_SESSION_DIR) });
	return folders;
}

/** All sessions of the folders, newest first. What cannot be read is left out. */
export async function findSessions(folders: readonly Folder[] = agentFolders()): Promise<FoundSession[]> {
	const found = new Map<string, { id: string; format: FormatName }>();
	for (const { root, depth, name, format } of folders) {
		for (const path of await filesBelow(root, depth)) {
			const id = name.exec(basename(path))?.[1];
			if (id !== undefined) found.set(path, { id, format });
		}
	}
	const paths = [...found];
	const sessions: FoundSession[] = [];
	for (let i = 0; i < paths.length; i += AT_ONCE) {
		const some = paths.slice(i, i + AT_ONCE);
		const stats = await Promise.all(some.map(([path]) => stat(path).catch((): Stats | null => null)));
		some.forEach(([path, known], k) => {
			const facts = stats[k];
			if (facts?.isFile()) sessions.push({ ...known, path, size: facts.size, modified: facts.mtimeMs });
		});
	}
	return sessions.sort((a, b) => b.modified - a.modified || (a.path < b.path ? -1 : 1));
}

/**
 * The path of what a user named: a path that exists, or the id or unique prefix of a known session. Something that looks like a path is taken as
 * one. Errors: `unreadable` when nothing or more than one session has that name.
 */
export async function resolveSession(name: string, folders: readonly Folder[] = agentFolders()): Promise<string> {
	if (/[\\/]|\.jsonl?$/i.test(name) || (await exists(name))) return name;
	if (name === "")
		throw new MidcompactError("unreadable", "The session's name is empty.", "Give a path or a session id.");
	const all = await findSessions(folders);
	const same = all.filter(({ id }) => id === name);
	const matches = same.length > 0 ? same : all.filter(({ id }) => id.startsWith(name));
	if (matches.length === 1) return matches[0].path;
	if (matches.length === 0) {
		const hint = "Give a path, or an id that `midcompact sessions` lists.";
		throw new MidcompactError(
			"unreadable",
			`There is no file ${name}, and no known session has an id that starts so.`,
			hint,
		);
	}
	const listed = matches.slice(0, NAMED).map(({ id, path }) => `${id} (${path})`);
	const more = matches.length > NAMED ? ` and ${matches.length - NAMED} more` : "";
	throw new MidcompactError(
		"unreadable",
		`${matches.length} sessions have an id that starts with ${name}: ${listed.join(", ")}${more}.`,
		"Give more characters of the id, or the path.",
	);
}

async function exists(path: string): Promise<boolean> {
	return stat(path).then(
		() => true,
		(error: NodeJS.ErrnoException) =>
			error.code !== "ENOENT" && error.code !== "ENOTDIR" && error.code !== "ENAMETOOLONG",
	);
}

/** Files up to `depth` levels of folders below `folder`; links to folders are not followed, so there are no cycles. */
async function filesBelow(folder: string, depth: number): Promise<string[]> {
	const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
	const paths: string[] = [];
	for (const entry of entries) {
		const path = join(folder, entry.name);
		if (entry.isFile() || entry.isSymbolicLink()) paths.push(path);
		else if (entry.isDirectory() && depth > 0) for (const below of await filesBelow(path, depth - 1)) paths.push(below);
	}
	return paths;
}
