/** Deterministic texts for the benchmarks: what sessions are made of, and what is hard for a tokenizer's memo. */

/** A seeded source of numbers in [0, 1): xorshift32, so that every run measures the same texts. */
export function random(seed) {
	let x = seed | 0 || 1;
	return () => {
		x ^= x << 13;
		x ^= x >>> 17;
		x ^= x << 5;
		return (x >>> 0) / 4294967296;
	};
}

const SYLLABLES =
	"re con ta tion er in the al ver se pro de com ment ly ing ex port im func ar ray str ob ject val ue lo ad pa th fi le no de mo dule te st ed un is an on tr ac k b ind er sh ow up date".split(
		" ",
	);
const COMMON =
	"the of and to in a is that for it with as was on be at by this have from or an are not which but will one all there can if has would more when so no out up other about than into them then its only some could time these two may first new now over after also most".split(
		" ",
	);
const FOLDERS = ["src", "test", "lib", "packages", "core", "utils", "components", "hooks", "server", "config"];
const ENDINGS = ["ts", "tsx", "js", "json", "md", "py", "rs", "css"];
const HAN_FIRST = 0x4e00;
const HAN_COUNT = 0x51a0;

/** Words of a made-up vocabulary whose frequencies fall as 1/rank, as those of a language do. */
function vocabulary(next, size) {
	const words = [...COMMON];
	while (words.length < size) {
		let word = "";
		const parts = 1 + Math.floor(next() * 4);
		for (let i = 0; i < parts; i++) word += SYLLABLES[Math.floor(next() * SYLLABLES.length)];
		words.push(word);
	}
	return () => words[Math.floor(size ** next()) - 1];
}

/** Words of the language, names of the project: as many as make a memo of segments grow as the real sessions of 3 MB do. */
const WORDS = 12_000;
const NAMES = 8000;

const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** Kinds of passages of an agent session: a function each from a random source and a vocabulary to a text. */
function passages(next, word) {
	const int = (n) => Math.floor(next() * n);
	const pick = (list) => list[int(list.length)];
	const words = (n, glue = " ") => Array.from({ length: n }, word).join(glue);
	const names = Array.from(
		{ length: NAMES },
		() => word() + (next() < 0.6 ? capital(word()) : "") + (next() < 0.2 ? capital(word()) : ""),
	);
	const name = () => names[Math.floor(NAMES ** next()) - 1];
	const path = () =>
		`${pick(FOLDERS)}/${next() < 0.7 ? `${pick(FOLDERS)}/` : ""}${words(1 + int(2), "-")}.${pick(ENDINGS)}`;
	const lines = (n, line) => Array.from({ length: n }, (_, i) => line(i)).join("\n");
	const sentence = () => `${capital(words(6 + int(14)))}${next() < 0.3 ? `, ${words(3 + int(6))}` : ""}. `;
	const code = (indent) => {
		const tab = "  ".repeat(indent);
		return pick([
			() => `${tab}const ${name()} = ${name()}(${name()}, ${int(100)});`,
			() => `${tab}if (${name()}.${name()} !== ${pick(["null", "undefined", "0", "''"])}) return ${name()};`,
			() => `${tab}// ${sentence()}`,
			() => `${tab}import { ${name()}, ${name()} } from "../${path()}";`,
			() => `${tab}${name()}.${name()}((${word()}) => ${word()}.${name()});`,
			() => `${tab}it('doesn\\'t ${words(4)}', async () => {`,
			() => `${tab}});`,
			() => "",
		])();
	};
	const hex = (n) => Array.from({ length: n }, () => int(16).toString(16)).join("");
	return [
		[22, () => Array.from({ length: 3 + int(10) }, sentence).join("")],
		[30, () => lines(20 + int(120), (i) => `${String(i + 1).padStart(6)}\t${code(int(4))}`)],
		[14, () => lines(10 + int(60), () => code(int(5)))],
		[10, () => JSON.stringify({ path: path(), command: `grep -rn "${name()}" ${path()}`, limit: int(2000) })],
		[10, () => lines(10 + int(60), () => `${path()}:${1 + int(900)}:${code(0)}`)],
		[6, () => lines(10 + int(40), () => `${pick(["+", "-", " "])}${code(int(3))}`)],
		[
			5,
			() =>
				lines(
					10 + int(50),
					() =>
						`2025-0${1 + int(9)}-1${int(10)}T1${int(10)}:${10 + int(50)}:${10 + int(50)}.${100 + int(900)}Z [${pick(["info", "warn", "debug"])}] ${words(5)} id=${hex(8)} took ${int(5000)}ms`,
				),
		],
		[
			2,
			() =>
				JSON.stringify(
					Array.from({ length: 5 + int(20) }, () => ({ id: hex(12), [word()]: word(), size: int(1e6) })),
					null,
					2,
				),
		],
		[0.6, () => han(next, 100 + int(300))],
		[0.4, () => lines(6, () => `✅ ${words(4)} — “${words(3)}” … 👩‍💻 ${words(2)}`)],
	];
}

/** Random Chinese characters with punctuation now and then. */
function han(next, length) {
	let text = "";
	while (text.length < length) {
		text += String.fromCharCode(HAN_FIRST + Math.floor(next() * HAN_COUNT));
		if (next() < 0.08) text += next() < 0.7 ? "，" : "。";
	}
	return text;
}

/** Texts of about 4,000 units such as the contents of an agent session, `units` UTF-16 units in all. A tenth are repeats of earlier ones. */
export function sessionTexts(units, seed = 1) {
	const next = random(seed);
	const kinds = passages(next, vocabulary(next, WORDS));
	const weights = kinds.reduce((sum, [weight]) => sum + weight, 0);
	const passage = () => {
		let at = next() * weights;
		for (const [weight, make] of kinds) {
			at -= weight;
			if (at < 0) return make();
		}
		return "";
	};
	const texts = [];
	let total = 0;
	while (total < units) {
		const text = texts.length > 10 && next() < 0.1 ? texts[Math.floor(next() * texts.length)] : passage();
		texts.push(text);
		total += text.length;
	}
	return texts;
}

/** Makers of texts that repeat little: name to a function of (units, seed). Each returns one list of texts of 20,000 units. */
export const HARD = {
	"uuid lines": lined((next) => [8, 4, 4, 4, 12].map((n) => digits(next, n, 16)).join("-")),
	"hex lines": lined((next) => digits(next, 64, 16)),
	"unbroken base64": lined((next) => base64(next, 20_000), ""),
	"random words": lined((next) => letters(next, 3 + Math.floor(next() * 9)), " "),
	"unique numbers": lined((next) => String(Math.floor(next() * 1e12)), " "),
	"random CJK": lined((next) => han(next, 200), ""),
};

function lined(make, glue = "\n") {
	return (units, seed = 7) => {
		const next = random(seed);
		const texts = [];
		for (let total = 0; total < units; total += 20_000) {
			let text = "";
			while (text.length < 20_000) text += make(next) + glue;
			texts.push(text);
		}
		return texts;
	};
}

function digits(next, n, base) {
	let text = "";
	for (let i = 0; i < n; i++) text += Math.floor(next() * base).toString(base);
	return text;
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(next, n) {
	let text = "";
	for (let i = 0; i < n; i++) text += BASE64[Math.floor(next() * 64)];
	return text;
}

function letters(next, n) {
	let text = "";
	for (let i = 0; i < n; i++) text += String.fromCharCode(97 + Math.floor(next() * 26));
	return text;
}
