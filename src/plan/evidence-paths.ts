/** File paths and addresses among the words of a text. */

/** Units of a path at most: a longer one is no name that anybody would repeat. */
const PATH_MAX = 200;
/** Endings by which a name without a folder is known to be a file. */
const ENDINGS = new Set(
	(
		"astro bash bat bzl c cc cfg cjs clj conf cpp cs css csv cts cxx dart db diff dockerfile ex exs fish gif go gradle graphql h hpp hs html ico ini ipynb java " +
		"jpeg jpg js json jsonl jsx kt kts less lock log lua md mdx mjs ml mts patch pdf php pl plist png proto ps1 py pyi rb rs rst sass scala scss sh sql " +
		"sqlite svelte svg swift tar tf toml ts tsv tsx txt vue wasm webp xml yaml yml zig zip zsh gz"
	).split(" "),
);
const ADDRESS = /^[a-z][a-z0-9+.-]{1,15}:\/\/[^\s/]/i;
const DRIVE = /^[A-Za-z]:\\/;
const ANCHORED = /^(?:\/|~\/|\.{1,2}\/|\$\w{1,40}\/)/;
/** Line and column behind a path: `:12`, `:12:5`, `#L12-L20`. */
const PLACE = /(?::\d{1,7}){1,2}$|#L\d{1,7}(?:-L?\d{1,7})?$/;
const ENDING = /^[^.].*\.([A-Za-z][A-Za-z0-9]{0,9})$|^\.[A-Za-z][\w.-]*$/;
const MEDIA_TYPE = /^(?:application|audio|font|image|message|model|multipart|text|video)\//;
const BASE64 = /^[A-Za-z0-9+/]{40,}$/;
/** What stands for a line end, a tab or a quote in JSON within JSON. */
const ESCAPED = /\\+[nrt"']/;

/** Paths in a word that has a `/` or a `\`: without the line number, a leading `./` and a slash at the end. None for a word that is something else. */
export function pathsIn(word: string): string[] {
	if (DRIVE.test(word)) return one(windowsPath(word));
	const paths: string[] = [];
	for (const piece of word.split(ESCAPED)) paths.push(...one(pathOf(piece)));
	return paths;
}

/** A file name without a folder, such as `package.json`; null for any other word with a dot. */
export function fileNameIn(word: string): string | null {
	const name = word.replace(/[.:]+$/, "").replace(PLACE, "");
	const found = /^[\w@+-][\w.@+-]*\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(name);
	if (!found || !ENDINGS.has(found[1].toLowerCase()) || name === "console.log" || name.length > PATH_MAX) return null;
	return /^\d+\./.test(name) && found[1].length < 2 ? null : name;
}

/**
 * Shorter names by which a summary may speak of a path: its last two segments, and its last one where that has an ending.
 */
export function shorterNames(path: string): string[] {
	const separator = path.includes("/") ? "/" : "\\";
	const segments = path.split(separator).filter((segment) => segment !== "");
	const last = segments.at(-1) ?? "";
	const names = segments.length > 1 ? [segments.slice(-2).join(separator)] : [];
	if (separator === "\\" && segments.length > 1) names.push(segments.slice(-2).join("/"));
	if (ENDING.test(last)) names.push(last);
	return names;
}

function pathOf(piece: string): string | null {
	const text = piece.replace(/^[.:*]+(?=[\w~$@/])(?<!\.)/, "").replace(/[.:*]+$/, "");
	if (text.startsWith("file:///")) return pathOf(text.slice("file://".length));
	if (ADDRESS.test(text)) return addressOf(text);
	if (text.includes("\\") || text.length > PATH_MAX || BASE64.test(text)) return null;
	const bare = text.replace(PLACE, "");
	// `error:src/a.ts`, `HEAD:src/a.ts`
	const path = bare.slice(bare.lastIndexOf(":") + 1).replace(/^(?:\.\/)+/, "");
	if (path.startsWith("//") || path === "/dev/null" || !isPath(path)) return null;
	return path.length > 1 ? path.replace(/\/+$/, "") : null;
}

function isPath(path: string): boolean {
	const segments = path.split("/").filter((segment) => segment !== "");
	const last = segments.at(-1) ?? "";
	// Dates and fractions; `.sh/.bash/.zsh`; `/sessions/#`
	if (!segments.some((segment) => /[A-Za-z\u0080-\uffff]/.test(segment))) return false;
	if (!/[\w\u0080-\uffff*]/.test(last) || segments.every((segment) => /^\.\w/.test(segment))) return false;
	const ending = ENDING.exec(last);
	if (ending) return ending[1] === undefined || !MEDIA_TYPE.test(path) || ENDINGS.has(ending[1].toLowerCase());
	if (ANCHORED.test(path)) return segments.length > 1;
	return (
		segments.length > 2 && segments.every((segment) => /^[\w@.$*~-]{2,}$/.test(segment) && /[A-Za-z]/.test(segment))
	);
}

function addressOf(text: string): string | null {
	const address = text.replace(/#.*$/, "").replace(/\/+$/, "");
	return address.length <= PATH_MAX && address.length > address.indexOf("://") + 3 ? address : null;
}

function windowsPath(word: string): string | null {
	const path = word
		.replace(/\\{2,}/g, "\\")
		.replace(/[.:*\\]+$/, "")
		.replace(PLACE, "");
	return path.length > 3 && path.length <= PATH_MAX ? path : null;
}

function one(path: string | null): string[] {
	return path === null ? [] : [path];
}
