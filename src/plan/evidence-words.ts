/** Paths, identifiers and numbers with units in a text: one pass over its characters, in time linear in its length. */

import { numberAt } from "./evidence-numbers.js";
import { fileNameIn, pathsIn } from "./evidence-paths.js";

export type WordKind = "path" | "number" | "identifier";

/** What a word is made of, as bits. */
const UPPER = 1;
const LOWER = 2;
const DIGIT = 4;
const UNDERSCORE = 8;
const SLASH = 16;
const DOT = 32;
const DASH = 64;
const HASH = 128;
const COLON = 256;
const OTHER = 512;
/** A capital letter behind a small one or a digit. */
const HUMP = 1024;

/** Units of a word that is looked at: longer ones are data. */
const WORD_MAX = 256;
const IDENTIFIER_MAX = 64;
/** Hashes on one line from which on it is a dump. */
const DUMP = 4;

const CLASS = classes();
const EURO = 0x20ac;

const NAME = /[A-Za-z_$][\w$]*/g;
const PLAIN_NAME = /^(?:_*[A-Za-z$][A-Za-z0-9$]*[_A-Za-z0-9$]*)$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const COMMIT = /^(?!0000)(?=[a-f]*\d)(?=\d*[a-f])(?:[0-9a-f]{7,12}|[0-9a-f]{40})$/;
const VERSION = /^(?:v\d{1,4}(?:\.\d{1,6}){1,3}|\d{1,4}(?:\.\d{1,6}){2,3})(?:-[A-Za-z][\w.]{0,30})?$/;
const ISSUE = /^(?!(?:UTF|SHA|ISO|MD|AES|RSA|HS|RS|ES|CP|IPV)-)[A-Z][A-Z0-9]{1,9}-\d{1,7}$/;
const ADVISORY = /^(?:CVE|GHSA|RFC)-[\w-]{4,30}$/;
const NUMBERED = /^[\w./-]{0,80}#\d{1,6}$/;
/** Ids that hosts and providers give to messages and calls: nobody reads them. */
const MESSAGE_ID = /^(?:toolu|srvtoolu|call|msg|req|resp|rs|fc|ctc|ws|chatcmpl|sess|run|thread|item)_(?=\w*\d)\w{12,}$/;

/** Calls `visit` for every item in the order of the text, as often as it occurs. */
export function wordsIn(text: string, visit: (kind: WordKind, item: string) => void): void {
	let start = -1;
	let bits = 0;
	let before = 0;
	/** Words up to here belong to a number that was seen already. */
	let taken = 0;
	const commits: string[] = [];
	const endLine = () => {
		if (commits.length < DUMP) for (const commit of commits) visit("identifier", commit);
		commits.length = 0;
	};
	for (let at = 0; at <= text.length; at++) {
		const unit = at < text.length ? text.charCodeAt(at) : 32;
		const what = unit < 128 ? CLASS[unit] : unit > 0x2000 && unit < 0x3100 && unit !== EURO ? 0 : OTHER;
		if (what !== 0) {
			if (start < 0) start = at;
			else if (what === UPPER && (before & (LOWER | DIGIT)) !== 0) bits |= HUMP;
			bits |= what;
			before = what;
			continue;
		}
		if (start >= 0) {
			if ((bits & DIGIT) !== 0 && start >= taken && mayBeNumber(text.charCodeAt(start), bits)) {
				const number = numberAt(text, start);
				if (number) {
					visit("number", number.item);
					taken = number.end;
				}
			}
			if ((bits & ~(UPPER | LOWER)) !== 0 && at - start <= WORD_MAX) word(text.slice(start, at), bits, visit, commits);
			start = -1;
			bits = 0;
			before = 0;
		}
		if (unit === 10 && commits.length > 0) endLine();
	}
	endLine();
}

/** A number starts with a digit or a sign before it, a host and its port have a colon. */
function mayBeNumber(first: number, bits: number): boolean {
	return first < 128 ? ((CLASS[first] & (DIGIT | OTHER)) | (bits & COLON)) !== 0 : first === EURO;
}

/** `bits`: what the word is made of; those of capital and small letters alone do not come here. */
function word(text: string, bits: number, visit: (kind: WordKind, item: string) => void, commits: string[]): void {
	if ((bits & SLASH) !== 0) {
		const paths = pathsIn(text);
		for (const path of paths) visit("path", path);
		if (paths.length > 0) return;
	} else if ((bits & DOT) !== 0) {
		const name = fileNameIn(text);
		if (name !== null) {
			visit("path", name);
			return;
		}
	}
	if ((bits & DIGIT) !== 0 && (bits & (DOT | DASH | HASH)) !== 0 && numbered(text, visit)) return;
	if ((bits & DIGIT) !== 0 && (bits & LOWER) !== 0 && text.length > 6 && commits.length < DUMP && COMMIT.test(text))
		commits.push(text);
	else if ((bits & (HUMP | UNDERSCORE)) !== 0)
		for (const [name] of text.matchAll(NAME)) if (isIdentifier(name)) visit("identifier", name);
}

/** Versions, issues and the like; true when the word is one, or an id that is nothing to read. */
function numbered(text: string, visit: (kind: WordKind, item: string) => void): boolean {
	if (UUID.test(text)) return true;
	const bare = text.replace(/^[~^@$.]+|[.:]+$/g, "");
	const version = bare.slice(bare.lastIndexOf("@") + 1);
	const item = VERSION.test(version) ? version : bare;
	const known = item === version ? VERSION.test(item) || isIssue(item) : isIssue(item);
	if (known) visit("identifier", item);
	return known;
}

function isIssue(text: string): boolean {
	return ISSUE.test(text) || ADVISORY.test(text) || NUMBERED.test(text);
}

/** camelCase, snake_case, CONSTANT_CASE; not what looks drawn by lot. */
function isIdentifier(name: string): boolean {
	if (name.length < 4 || name.length > IDENTIFIER_MAX || !PLAIN_NAME.test(name)) return false;
	if (!/[a-z]\d*[A-Z]|[A-Za-z0-9]_+[A-Za-z0-9]|^__[a-z]/.test(name)) return false;
	return !MESSAGE_ID.test(name) && !isRandom(name);
}

/** Whether letters and digits, capitals and small ones, change places as often as in base64 and in keys. */
function isRandom(name: string): boolean {
	if (name.length < 16 || !/\d/.test(name)) return false;
	let changes = 0;
	let last = 0;
	for (let i = 0; i < name.length; i++) {
		const what = CLASS[name.charCodeAt(i)];
		// A capital that begins a word is no change, nor is what follows it.
		if (what !== last && !(last === UPPER && what === LOWER) && what !== UNDERSCORE && last !== UNDERSCORE) changes++;
		last = what;
	}
	return changes > name.length / 4;
}

/** The bit of every ASCII character that a word may hold; 0: it ends one. */
function classes(): Uint16Array {
	const table = new Uint16Array(128);
	for (let unit = 48; unit <= 57; unit++) table[unit] = DIGIT;
	for (let unit = 65; unit <= 90; unit++) table[unit] = UPPER;
	for (let unit = 97; unit <= 122; unit++) table[unit] = LOWER;
	for (const [characters, bit] of [
		["_", UNDERSCORE],
		["/\\", SLASH],
		[".", DOT],
		["-", DASH],
		["#", HASH],
		[":", COLON],
		["@~+%$*", OTHER],
	] as const)
		for (const character of characters) table[character.charCodeAt(0)] = bit;
	return table;
}
