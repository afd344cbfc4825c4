/**
 * Exact token counts, one thread: ours against plain @dqbd/tiktoken on the same texts of at most 4,096 units (the tokenizer is quadratic in what it
 * cannot split, so nobody would hand it more). Millions of UTF-16 units per second of processor time, medians of interleaved runs. Ends with exit code 1 when
 * a count differs.
 *
 * node bench/tokens.mjs [o200k_base|cl100k_base] [millions of units of session text]
 */
import { ENCODINGS, tokenizerOf } from "../dist/src/measure/encodings.js";
import { TokenCounter } from "../dist/src/measure/tokens.js";
import { HARD, sessionTexts } from "./corpus.mjs";

const RUNS = 3;
const PLAIN_CUT = 4096;
const HARD_UNITS = 2_400_000;

const encoding = process.argv[2] ?? "o200k_base";
const millions = Number(process.argv[3] ?? 15);
if (!ENCODINGS.includes(encoding) || !(millions > 0)) {
	console.error("usage: node bench/tokens.mjs [o200k_base|cl100k_base] [millions of units of session text]");
	process.exit(2);
}

const tokenizer = tokenizerOf(encoding);
const corpora = { "session text": () => sessionTexts(millions * 1e6), ...HARD };

/** The texts dealt out to as many shares as there are runs: plain counts one share a run, ours all of them. */
function shares(texts) {
	const dealt = Array.from({ length: RUNS }, () => ({ texts: [], units: 0 }));
	texts.forEach((text, i) => {
		const share = dealt[i % RUNS];
		share.units += text.length;
		for (let at = 0; at < text.length; at += PLAIN_CUT) share.texts.push(text.slice(at, at + PLAIN_CUT));
	});
	return dealt;
}

/** Counts texts by `count`; answers tokens and milliseconds of processor time, which other programs on the machine change less than the clock's. */
function timed(texts, count) {
	const start = process.cpuUsage();
	let tokens = 0;
	for (const text of texts) tokens += count(text);
	const { user, system } = process.cpuUsage(start);
	return { tokens, ms: (user + system) / 1000 };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const speed = (units, ms) => units / ms / 1000;

function measure(texts) {
	const dealt = shares(texts);
	const units = dealt.reduce((sum, share) => sum + share.units, 0);
	const plain = [];
	const cold = [];
	const warm = [];
	let equal = true;
	let forced = 0;
	let tokens = 0;
	for (let run = 0; run < RUNS; run++) {
		const share = dealt[run];
		const whole = timed(share.texts, (text) => tokenizer.encode_ordinary(text).length);
		plain.push(speed(share.units, whole.ms));
		const counter = new TokenCounter(encoding);
		forced = 0;
		const count = (text) => {
			const found = counter.count(text);
			forced += found.forced;
			return found.tokens;
		};
		const ours = dealt.map((each) => timed(each.texts, count));
		if (ours[run].tokens !== whole.tokens) equal = false;
		cold.push(
			speed(
				units,
				ours.reduce((sum, each) => sum + each.ms, 0),
			),
		);
		tokens = ours.reduce((sum, each) => sum + each.tokens, 0);
		const again = dealt.map((each) => timed(each.texts, (text) => counter.count(text).tokens));
		if (again.reduce((sum, each) => sum + each.tokens, 0) !== tokens) equal = false;
		warm.push(
			speed(
				units,
				again.reduce((sum, each) => sum + each.ms, 0),
			),
		);
	}
	return { units, tokens, forced, equal, plain: median(plain), cold: median(cold), warm: median(warm) };
}

// Both ways compiled before the first measured run.
measure(sessionTexts(300_000, 99));

console.log(
	`node ${process.version}, ${encoding}, one thread, M units per second of processor time, medians of ${RUNS}`,
);
const columns = [16, 8, 10, 8, 8, 8, 8, 8];
const row = (...cells) =>
	console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(columns[0]) : cell.padStart(columns[i]))).join(" "));
row("texts", "M units", "tokens", "plain", "ours", "ratio", "again", "counts");
let failed = false;
for (const [name, make] of Object.entries(corpora)) {
	const m = measure(make(HARD_UNITS));
	const sound = m.equal && m.forced === 0;
	failed ||= !sound;
	row(
		name,
		(m.units / 1e6).toFixed(1),
		String(m.tokens),
		m.plain.toFixed(1),
		m.cold.toFixed(1),
		`${(m.cold / m.plain).toFixed(1)}x`,
		m.warm.toFixed(1),
		sound ? "equal" : m.forced > 0 ? "forced" : "DIFFER",
	);
}
console.log(
	"plain: encode_ordinary(text).length; ours: TokenCounter with an empty memo; again: the same texts with the memo it then has",
);
process.exitCode = failed ? 1 : 0;
