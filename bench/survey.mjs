/**
 * Measures a cold survey beside what the same machine does with plain means, all in one run on one generated session.
 *
 *     node bench/survey.mjs [--size 200MB] [--images 0.62] [--seed 1] [--format pi] [--runs 3] [--json]
 *
 * Every figure comes from a process of its own (`peak RSS` is that process's), the median of `--runs` is shown. The session is kept in the temp folder
 * under a name that says how it was made, and used again by the next run. Needs a build.
 *
 *     survey     openSession until it resolves, no work behind it
 *     tokens     the same, then every token counted; the rate is that of the counting alone
 *     ready      the same with tokens and search index
 *     readline   node:readline and JSON.parse over the same file (JSONL formats)
 *     tiktoken   encode_ordinary of @dqbd/tiktoken, one thread, over every other message of the same file, texts cut at 4,096 units
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { generateSession, parseSize } from "./generate.mjs";

const SELF = fileURLToPath(import.meta.url);
const ENCODING = "o200k_base";
/** Characters that the plain tokenizer counts at least. */
const SAMPLE_CHARS = 30_000_000;
const CUT = 4096;

const peakRss = () => process.resourceUsage().maxRSS * 1024;
const seconds = (since) => (performance.now() - since) / 1000;

/** Runs `work` while the delay of the event loop is watched; delays in ms. */
async function watched(work) {
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	await sleep(5);
	const result = await work();
	await sleep(5);
	delay.disable();
	return { ...result, delay_max_ms: delay.max / 1e6, delay_p99_ms: delay.percentile(99) / 1e6 };
}

async function engineRun(path, background) {
	const { openSession } = await import("../dist/src/index.js");
	return watched(async () => {
		const start = performance.now();
		const session = await openSession(path, { encoding: ENCODING, background });
		const open_s = seconds(start);
		const counted = performance.now();
		if (background.tokens || background.index) await session.ready();
		const background_s = seconds(counted);
		const { survey } = session;
		let chars = survey.system.chars;
		let tokens = survey.tokens.ofSystem() ?? 0;
		for (let atom = 0; atom < survey.atoms.length; atom++) {
			chars += survey.atoms.chars.at(atom);
			tokens += survey.tokens.ofAtom(atom) ?? 0;
		}
		const { length: atoms } = survey.atoms;
		await session.close();
		return { open_s, background_s, atoms, chars, tokens, rss: peakRss() };
	});
}

async function readlineRun(path) {
	const start = performance.now();
	let records = 0;
	for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
		if (line !== "") records += JSON.parse(line) === null ? 0 : 1;
	return { seconds: seconds(start), records, rss: peakRss() };
}

/** Fields beside the words: ids, kinds, signatures, payloads. */
const NO_WORDS = new Set(
	"type id role tool_use_id call_id signature thinkingSignature data image_url media_type mimeType source".split(" "),
);

/** The words of a message's content, whatever the format. */
function textsOf(content, texts = []) {
	if (typeof content === "string") texts.push(content);
	else if (typeof content === "object" && content !== null)
		for (const [key, value] of Object.entries(content)) if (!NO_WORDS.has(key)) textsOf(value, texts);
	return texts;
}

async function tiktokenRun(path) {
	const { get_encoding } = createRequire(import.meta.url)("@dqbd/tiktoken");
	const encoder = get_encoding(ENCODING);
	const texts = [];
	let chars = 0;
	let n = 0;
	for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
		if (line.length < 3 || n++ % 2 === 1) continue;
		const record = JSON.parse(line.replace(/,$/, ""));
		const content = record.message?.content ?? record.payload?.content ?? record.payload?.output ?? record.content;
		for (const text of textsOf(content)) {
			texts.push(text);
			chars += text.length;
		}
		if (chars >= SAMPLE_CHARS) break;
	}
	const start = performance.now();
	let tokens = 0;
	for (const text of texts)
		for (let at = 0; at < text.length; at += CUT) tokens += encoder.encode_ordinary(text.slice(at, at + CUT)).length;
	return { seconds: seconds(start), chars, tokens, rss: peakRss() };
}

const MODES = {
	survey: (path) => engineRun(path, { tokens: false, index: false }),
	tokens: (path) => engineRun(path, { tokens: true, index: false }),
	ready: (path) => engineRun(path, { tokens: true, index: true }),
	readline: readlineRun,
	tiktoken: tiktokenRun,
};

/** Name of a session that is the same whenever the generator and its options are. */
function sessionPath(options) {
	const hash = createHash("sha256").update(JSON.stringify(options));
	const folder = new URL("./generators/", import.meta.url);
	for (const name of readdirSync(folder).sort()) hash.update(readFileSync(new URL(name, folder)));
	hash.update(readFileSync(new URL("./generate.mjs", import.meta.url)));
	return join(tmpdir(), `midcompact-bench-${options.format}-${hash.digest("hex").slice(0, 12)}.jsonl`);
}

/** Path of the generated session, made now unless it is there. */
export async function benchSession(options) {
	const path = sessionPath(options);
	if (existsSync(path)) return path;
	const partial = `${path}.${process.pid}`;
	await generateSession(options, partial);
	renameSync(partial, path);
	return path;
}

async function child(mode, path) {
	const { stdout } = await promisify(execFile)(process.execPath, [SELF, "--child", mode, path], { maxBuffer: 1 << 24 });
	return JSON.parse(stdout);
}

/** Field-wise median of runs. */
function median(runs) {
	return Object.fromEntries(
		Object.keys(runs[0]).map((key) => [key, runs.map((run) => run[key]).sort((a, b) => a - b)[runs.length >> 1]]),
	);
}

async function measure(options, runs) {
	const path = await benchSession(options);
	const bytes = statSync(path).size;
	const modes = Object.keys(MODES).filter((mode) => mode !== "readline" || !/openai|anthropic/.test(options.format));
	const results = Object.fromEntries(modes.map((mode) => [mode, []]));
	// Round by round, so that a slow minute of the machine meets all of them.
	for (let run = 0; run < runs; run++) for (const mode of modes) results[mode].push(await child(mode, path));
	const of = Object.fromEntries(Object.entries(results).map(([mode, list]) => [mode, median(list)]));
	const mbs = (s) => bytes / 1e6 / s;
	const figures = {
		survey: { s: of.survey.open_s, mb_per_s: mbs(of.survey.open_s) },
		tokens: { s: of.tokens.background_s, m_chars_per_s: of.tokens.chars / 1e6 / of.tokens.background_s },
		ready: { s: of.ready.open_s + of.ready.background_s, mb_per_s: mbs(of.ready.open_s + of.ready.background_s) },
		...(of.readline && { readline: { s: of.readline.seconds, mb_per_s: mbs(of.readline.seconds) } }),
		tiktoken: { s: of.tiktoken.seconds, m_chars_per_s: of.tiktoken.chars / 1e6 / of.tiktoken.seconds },
	};
	for (const [mode, figure] of Object.entries(figures)) {
		figure.peak_rss_mb = of[mode].rss / 1e6;
		if (of[mode].delay_max_ms === undefined) continue;
		figure.delay_max_ms = of[mode].delay_max_ms;
		figure.delay_p99_ms = of[mode].delay_p99_ms;
	}
	const ratios = {
		survey_to_readline: figures.readline ? figures.survey.mb_per_s / figures.readline.mb_per_s : null,
		tokens_to_tiktoken: figures.tokens.m_chars_per_s / figures.tiktoken.m_chars_per_s,
	};
	const { atoms, chars, tokens } = of.tokens;
	return {
		session: { ...options, bytes, atoms, chars, tokens },
		machine: { node: process.version, cores: availableParallelism(), runs },
		figures,
		ratios,
	};
}

async function main() {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			child: { type: "string" },
			format: { type: "string", default: "pi" },
			size: { type: "string", default: "200MB" },
			images: { type: "string", default: "0.62" },
			seed: { type: "string", default: "1" },
			runs: { type: "string", default: "3" },
			json: { type: "boolean", default: false },
		},
	});
	if (values.child) {
		console.log(JSON.stringify(await MODES[values.child](positionals[0])));
		return;
	}
	const options = {
		format: values.format,
		size: parseSize(values.size),
		images: Number(values.images),
		seed: Number(values.seed),
	};
	const report = await measure(options, Number(values.runs));
	if (values.json) {
		console.log(JSON.stringify(report, null, "\t"));
		return;
	}
	const rounded = (figure) =>
		Object.fromEntries(Object.entries(figure).map(([k, v]) => [k, Math.round(v * 100) / 100]));
	console.log(report.session, report.machine);
	console.table(Object.fromEntries(Object.entries(report.figures).map(([mode, figure]) => [mode, rounded(figure)])));
	console.log(report.ratios);
}

if (process.argv[1] === SELF) await main();
