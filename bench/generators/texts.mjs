/** Texts of the kinds that agent sessions are full of: code, logs, JSON, search hits, test runs, diffs, prose. */
import {
	CJK,
	CONNECTORS,
	EMOJI,
	EXTENSIONS,
	FOLDERS,
	LEVELS,
	METHODS,
	NOUNS,
	PHRASES,
	STATUS,
	TYPES,
	VERBS,
} from "./words.mjs";

const DIFF_MARKS = [" ", " ", "+", "-"];
/** Stretches of one kind that are kept to come again, as they do when an agent looks at overlapping parts of the same files and logs. */
const KEPT_STRETCHES = 512;
/** UTF-16 units of a stretch, and how often one is new. */
const STRETCH = 1500;
const FRESH = 0.65;

/** Every maker of a kind takes a length in UTF-16 units and returns a text of about that length. */
export class TextMaker {
	#random;
	#kinds;
	#kept = new Map();

	constructor(random) {
		this.#random = random;
		this.#kinds = [
			["code", 26],
			["log", 16],
			["json", 14],
			["listing", 12],
			["hits", 12],
			["run", 9],
			["diff", 8],
			["prose", 3],
			["cjk", 1],
		].flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));
	}

	/** Output of a tool: one kind of text, chosen by weight. */
	output(length) {
		return this[this.#random.pick(this.#kinds)](length);
	}

	code(length) {
		return this.#lines("code", length, () => this.codeLine());
	}

	log(length) {
		return this.#lines("log", length, () => this.#logLine());
	}

	json(length) {
		return `[\n${this.#lines("json", length, () => this.#jsonLine())}\n]`;
	}

	hits(length) {
		return this.#lines("hits", length, () => `${this.path()}:${this.#random.int(900)}:${this.codeLine()}`);
	}

	listing(length) {
		return this.#lines("listing", length, () => this.#listingLine());
	}

	run(length) {
		return this.#lines("run", length, () => this.#runLine());
	}

	diff(length) {
		const path = this.path();
		const from = this.#random.int(700);
		const head = `diff --git a/${path} b/${path}\nindex ${this.#random.hex(7)}..${this.#random.hex(7)} 100644\n@@ -${from},9 +${from},12 @@\n`;
		return head + this.#lines("diff", length, () => this.#random.pick(DIFF_MARKS) + this.codeLine());
	}

	prose(length) {
		const r = this.#random;
		let text = capitalised(r.pick(PHRASES));
		while (text.length < length) {
			const connector = r.chance(0.08) ? ".\n\n" : r.pick(CONNECTORS);
			const phrase = r.chance(0.3) ? `\`${this.identifier()}\` in ${this.path()} ${r.pick(PHRASES)}` : r.pick(PHRASES);
			text += connector + (connector.startsWith(". ") && connector.length === 2 ? capitalised(phrase) : phrase);
		}
		return `${text}.`;
	}

	cjk(length) {
		const r = this.#random;
		return this.#lines("cjk", length, () => `${r.pick(CJK)}，${r.pick(CJK)}。 ${this.identifier()} ${r.pick(EMOJI)}`);
	}

	/** What a person types. */
	request(length) {
		const r = this.#random;
		const text = this.prose(length);
		if (r.chance(0.05)) return `${r.pick(CJK)}。\n${text}`;
		return r.chance(0.1) ? `${text} ${r.pick(EMOJI)}` : text;
	}

	identifier() {
		const r = this.#random;
		const name = r.pick(VERBS) + r.pick(TYPES);
		return r.chance(0.25) ? name + r.pick(TYPES) : name;
	}

	path() {
		const r = this.#random;
		const file = `${r.pick(NOUNS)}-${r.pick(NOUNS)}.${r.pick(EXTENSIONS)}`;
		return r.chance(0.6) ? `${r.pick(FOLDERS)}/${r.pick(FOLDERS)}/${file}` : `${r.pick(FOLDERS)}/${file}`;
	}

	command() {
		const r = this.#random;
		switch (r.int(6)) {
			case 0:
				return `npx vitest run ${this.path()}`;
			case 1:
				return `rg -n "${this.identifier()}" ${r.pick(FOLDERS)}/`;
			case 2:
				return `git diff --stat HEAD~${1 + r.int(5)} -- ${r.pick(FOLDERS)}`;
			case 3:
				return `sed -n '${r.int(200)},${200 + r.int(200)}p' ${this.path()}`;
			case 4:
				return `cat ${this.path()} | head -${r.between(20, 200)}`;
			default:
				return `node scripts/${r.pick(VERBS)}-${r.pick(NOUNS)}.mjs --limit ${r.int(1000)}`;
		}
	}

	codeLine() {
		const r = this.#random;
		const tab = r.chance(0.6) ? "\t\t" : "\t";
		const a = r.pick(NOUNS);
		const b = r.pick(NOUNS);
		switch (r.int(14)) {
			case 0:
				return `export async function ${this.identifier()}(${a}: ${r.pick(TYPES)}, options: ${r.pick(TYPES)}Options = {}): Promise<${r.pick(TYPES)}> {`;
			case 1:
				return `${tab}const ${a} = await this.${this.identifier()}(${b}.${r.pick(NOUNS)}, ${r.int(4096)});`;
			case 2:
				return `${tab}if (!${a} || ${a}.length === 0) throw new ${r.pick(TYPES)}Error("${r.pick(PHRASES)}");`;
			case 3:
				return `${tab}// ${capitalised(r.pick(PHRASES))}.`;
			case 4:
				return `${tab}return { ...${a}, ${b}: ${this.identifier()}(${a}), updatedAt: ${r.int(1e9)} };`;
			case 5:
				return `import { ${this.identifier()}, type ${r.pick(TYPES)} } from "../${r.pick(FOLDERS)}/${a}-${b}.js";`;
			case 6:
				return `${tab}for (const ${a} of ${b}.${r.pick(NOUNS)}s) ${this.identifier()}(${a}, { ${r.pick(NOUNS)}: true });`;
			case 7:
				return `${tab}this.#${a}.set(${b}.id, new Map([["${r.pick(NOUNS)}", 0x${r.hex(4)}]]));`;
			case 8:
				return `def ${r.pick(VERBS)}_${a}(self, ${b}: str, *, timeout: float = ${r.int(60)}.0) -> dict[str, int]:`;
			case 9:
				return `${tab}logger.${r.pick(["debug", "info", "warn"])}({ ${a}, ${b}: ${b}.id }, "${r.pick(VERBS)} ${a} done");`;
			case 10:
				return `func (s *${r.pick(TYPES)}) ${capitalised(this.identifier())}(ctx context.Context, ${a} *${r.pick(TYPES)}) error {`;
			case 11:
				return `${tab}expect(${a}.${b}).toEqual([${r.int(100)}, ${r.int(100)}, ${r.int(10000)}]);`;
			case 12:
				return "";
			default:
				return r.chance(0.5) ? "\t}" : "}";
		}
	}

	/** Listings and hashes: what a tokenizer finds hardest. */
	#listingLine() {
		const r = this.#random;
		if (r.chance(0.5))
			return `-rw-r--r-- 1 dev dev ${r.int(1e6)} Mar ${r.between(1, 28)} ${r.between(10, 23)}:${r.between(10, 59)} ${this.path()}`;
		return `${r.hex(40)} ${this.path()} ${r.hex(8)} v${r.int(9)}.${r.int(30)}.${r.int(60)}`;
	}

	#logLine() {
		const r = this.#random;
		const time = `2026-0${r.between(1, 9)}-1${r.int(10)}T0${r.int(10)}:${r.between(10, 59)}:${r.between(10, 59)}.${r.between(100, 999)}Z`;
		if (r.chance(0.2))
			return `${time} ${r.pick(LEVELS)} [worker-${r.int(16)}] ${this.identifier()} ${r.pick(PHRASES)} (attempt ${r.int(9)})`;
		return `${time} ${r.pick(LEVELS)} [http] ${r.pick(METHODS)} /api/v2/${r.pick(NOUNS)}s/${r.int(100000)} status=${r.pick(STATUS)} duration_ms=${r.int(2000)} request_id=${r.uuid()}`;
	}

	#jsonLine() {
		const r = this.#random;
		return `  {"id": "${r.uuid()}", "type": "${r.pick(NOUNS)}", "name": "${this.identifier()}", "path": "${this.path()}", "size": ${r.int(1e6)}, "enabled": ${r.chance(0.5)}, "tags": ["${r.pick(NOUNS)}", "${r.pick(NOUNS)}"], "score": 0.${r.int(10000)}},`;
	}

	#runLine() {
		const r = this.#random;
		const file = `test/${r.pick(FOLDERS)}/${r.pick(NOUNS)}-${r.pick(NOUNS)}.test.ts`;
		if (r.chance(0.06))
			return ` × ${file} > ${r.pick(VERBS)}s the ${r.pick(NOUNS)} ${r.int(900)}ms\n   → expected ${r.int(100)} to be ${r.int(100)} // at ${this.path()}:${r.int(400)}:${r.int(80)}`;
		return ` ✓ ${file} (${r.between(1, 40)} tests) ${r.between(2, 900)}ms`;
	}

	/** Lines of a kind up to a length: stretches of them, so that long texts share parts without being equal. */
	#lines(kind, length, line) {
		const parts = [];
		let left = length;
		for (; left > STRETCH; left -= parts[parts.length - 1].length + 1) parts.push(this.#stretch(kind, line));
		if (left > 0) parts.push(fill(left, line));
		return parts.join("\n");
	}

	#stretch(kind, line) {
		const r = this.#random;
		let kept = this.#kept.get(kind);
		if (!kept) {
			kept = [];
			this.#kept.set(kind, kept);
		}
		if (kept.length >= KEPT_STRETCHES && !r.chance(FRESH)) return r.pick(kept);
		const text = fill(STRETCH, line);
		if (kept.length < KEPT_STRETCHES) kept.push(text);
		else kept[r.int(KEPT_STRETCHES)] = text;
		return text;
	}
}

/** Lines joined at once: a text grown piece by piece costs much more to serialise. */
function fill(length, line) {
	const lines = [];
	for (let left = length; left > 0; ) {
		const next = line();
		lines.push(next);
		left -= next.length + 1;
	}
	return lines.join("\n");
}

function capitalised(text) {
	return text[0].toUpperCase() + text.slice(1);
}
