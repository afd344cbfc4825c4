/** The folder that keeps what the engine remembers of file sessions: where it is, how its names are made, and what is said when it cannot be used. */
import { createHash } from "node:crypto";
import { chmod, mkdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, posix, win32 } from "node:path";
import { MidcompactError } from "../errors.js";

/** What decides where the state is kept. */
export interface Surroundings {
	env: Readonly<Record<string, string | undefined>>;
	platform: NodeJS.Platform;
	home(): string;
}

const OURS: Surroundings = { env: process.env, platform: process.platform, home: homedir };

/**
 * `$MIDCOMPACT_STATE_DIR`, by default `midcompact` in `$XDG_STATE_HOME`, `~/.local/state` or, on Windows, `%LOCALAPPDATA%` (CONTRACT section 8). An absolute path;
 * nothing is created. Errors: `state_unavailable` where there is no home folder to keep it in.
 */
export function stateRoot({ env, platform, home }: Surroundings = OURS): string {
	const { isAbsolute, join, resolve } = platform === "win32" ? win32 : posix;
	if (env.MIDCOMPACT_STATE_DIR) return resolve(env.MIDCOMPACT_STATE_DIR);
	// The XDG rules tell programs to ignore a relative path.
	const given = platform === "win32" ? env.LOCALAPPDATA : env.XDG_STATE_HOME;
	if (given && isAbsolute(given)) return join(given, "midcompact");
	const folder = join(homeFolder(home), ...(platform === "win32" ? ["AppData", "Local"] : [".local", "state"]));
	if (!isAbsolute(folder)) throw noHome();
	return join(folder, "midcompact");
}

function homeFolder(home: () => string): string {
	try {
		return home();
	} catch (cause) {
		throw noHome(cause);
	}
}

function noHome(cause?: unknown): MidcompactError {
	return new MidcompactError(
		"state_unavailable",
		"There is no home folder to keep plans in.",
		"Set MIDCOMPACT_STATE_DIR to a folder that can be written.",
		cause,
	);
}

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
/** Windows takes these for devices, whatever follows the first dot, and drops a dot at the end. */
const RESERVED_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.$/i;

/** A folder name for a session id, which comes out of a file and may be anything. Different ids have different names. */
export function safeName(id: string): string {
	if (PLAIN_NAME.test(id) && !RESERVED_NAME.test(id)) return id;
	// UTF-16, because UTF-8 makes all lone surrogates equal. No plain name begins with `_`.
	return `_${createHash("sha256").update(Buffer.from(id, "utf16le")).digest("hex").slice(0, 40)}`;
}

/** Makes a folder and those above it that are missing, all for the user alone (0700) whatever the umask. Errors: `state_unavailable`. */
export async function makeFolder(path: string): Promise<void> {
	try {
		await makeMissing(path);
	} catch (cause) {
		throw stateUnavailable(`The folder ${path} cannot be made`, cause);
	}
}

async function makeMissing(path: string, above = true): Promise<void> {
	try {
		await mkdir(path, { mode: 0o700 });
	} catch (refused) {
		if (systemCode(refused) === "ENOENT" && above && dirname(path) !== path) {
			await makeMissing(dirname(path));
			return makeMissing(path, false);
		}
		// Windows and read-only file systems may refuse before they look whether the folder is there.
		const there = await stat(path).catch(() => null);
		if (there?.isDirectory()) return;
		throw refused;
	}
	await chmod(path, 0o700);
}

/** Code of a system error, such as `ENOENT`; null for anything else. */
export function systemCode(thrown: unknown): string | null {
	return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
}

/** Whether a system error says that there is nothing at the path. */
export function isMissing(thrown: unknown): boolean {
	const code = systemCode(thrown);
	return code === "ENOENT" || code === "ENOTDIR";
}

const REASONS: Readonly<Record<string, string>> = {
	EACCES: "permission is denied",
	EPERM: "the system does not permit it",
	EROFS: "the file system is read-only",
	ENOSPC: "the disk is full",
	EDQUOT: "the disk quota is used up",
	ENOTDIR: "a file stands where a folder should be",
	EEXIST: "a file stands where a folder should be",
	EISDIR: "a folder stands where a file should be",
	ENOENT: "the folder it belongs in is not there and cannot be made",
	ENAMETOOLONG: "its path is too long",
	ELOOP: "its symbolic links go in a circle",
	EMFILE: "too many files are open",
	ENFILE: "too many files are open",
	EFBIG: "the file may not grow any more",
	EIO: "the disk reports an error",
};

/** The error for a refusal of the system. `failure` is the sentence without its reason: "The folder X cannot be made". */
export function stateUnavailable(failure: string, cause: unknown): MidcompactError {
	if (cause instanceof MidcompactError) return cause;
	const code = systemCode(cause);
	const reason = (code && REASONS[code]) ?? (cause instanceof Error ? cause.message : String(cause));
	return new MidcompactError("state_unavailable", `${failure}: ${reason}.`, undefined, cause);
}
