/**
 * Writes sessions of any size, the same bytes for the same options on every machine.
 *
 *     node bench/generate.mjs --format pi|claude-code|codex|openai-chat|anthropic --size 200MB --out FILE
 *         [--images 0.62]      share of the bytes that is base64 image payload; 0.05 without --size
 *         [--seed 1]
 *         [--dead-branches N]  branches that the session left again
 *         [--single-group]     one prompt, then only the agent's own work
 *         [--atoms N]          end after N atoms instead of after --size; with both, texts are scaled to fit
 *         [--compact 0.02,0.5] where the host compacted, as fractions of the session; default 0.02, with --atoms none
 *
 * MB is 1,000,000 bytes. A session ends with a finished turn, so it is a little longer than asked for.
 */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { anthropicRecords, openaiRecords } from "./generators/arrays.mjs";
import { claudeCodeRecords } from "./generators/claude-code.mjs";
import { codexRecords } from "./generators/codex.mjs";
import { piRecords } from "./generators/pi.mjs";
import { Clock, Random } from "./generators/random.mjs";
import { Progress, Story } from "./generators/story.mjs";

const LINES = { head: "", between: "\n", tail: "\n" };
const ARRAY = { head: "[\n", between: ",\n", tail: "\n]\n" };
/** Characters that Codex sends of one tool output at most; longer ones would be cut on resume. */
const CODEX_OUTPUT = 9000;

/** `atom`: bytes of a session without images per atom, measured: what is there at any scale, and what grows with it. */
const FORMATS = {
	pi: { records: piRecords, frame: LINES, atom: { fixed: 980, text: 5180 } },
	"claude-code": { records: claudeCodeRecords, frame: LINES, atom: { fixed: 5930, text: 10_890 } },
	codex: { records: codexRecords, frame: LINES, atom: { fixed: 2600, text: 5440 }, maxOutput: CODEX_OUTPUT },
	"openai-chat": { records: openaiRecords, frame: ARRAY, atom: { fixed: 385, text: 4800 } },
	anthropic: { records: anthropicRecords, frame: ARRAY, atom: { fixed: 460, text: 5100 } },
};

const BATCH = 1 << 20;
const START = Date.UTC(2026, 2, 2, 9, 0, 0);
/** Scale of the texts where only a number of atoms is asked for. */
const SMALL = 0.02;

function scaleOf({ format, size, atoms, images }) {
	if (atoms === null) return 1;
	const { fixed, text } = FORMATS[format].atom;
	return size === null ? SMALL : Math.max(SMALL / 4, ((size * (1 - images)) / atoms - fixed) / text);
}

/** The options of a session with their defaults filled in. Throws a RangeError for a format or size that makes no sense. */
export function sessionOptions(given) {
	const { format, size = null, seed = 1, deadBranches = 0, singleGroup = false, atoms = null } = given;
	if (!Object.hasOwn(FORMATS, format)) throw new RangeError(`unknown format: ${format}`);
	if (!(size > 0 || atoms > 0)) throw new RangeError("a size or a number of atoms above 0 is needed");
	const images = given.images ?? (size === null ? 0.05 : 0.62);
	if (!(images >= 0 && images < 1)) throw new RangeError("images is a fraction from 0 to below 1");
	const compact = given.compact ?? (atoms === null ? [0.02] : []);
	return { format, size, images, seed, deadBranches, singleGroup, atoms, compact };
}

/** Gathers lines into batches of about 1 MB of UTF-8. */
class Batch {
	#bytes = Buffer.allocUnsafe(BATCH);
	#used = 0;

	/** Adds a line; returns the batches that are full now. */
	*add(line) {
		const most = 3 * line.length;
		if (this.#used + most > this.#bytes.length) yield* this.flush();
		if (most > this.#bytes.length) yield Buffer.from(line);
		else this.#used += this.#bytes.write(line, this.#used);
	}

	*flush() {
		if (this.#used > 0) yield this.#bytes.subarray(0, this.#used);
		this.#bytes = Buffer.allocUnsafe(BATCH);
		this.#used = 0;
	}
}

/**
 * The session as buffers of about 1 MB, in order. `progress` holds records, atoms of the main branch, images and bytes of what was yielded so far.
 */
export function sessionBytes(given) {
	const options = sessionOptions(given);
	const { records, frame, maxOutput = Number.POSITIVE_INFINITY } = FORMATS[options.format];
	const progress = new Progress({ bytes: options.size, atoms: options.atoms });
	const random = new Random(options.seed);
	const clock = new Clock(random, START);
	const story = new Story(random, progress, { ...options, scale: scaleOf(options), maxOutput });
	const batch = new Batch();

	function* out(line) {
		for (const bytes of batch.add(line)) {
			written += bytes.length;
			yield bytes;
		}
	}
	let written = 0;
	function* batches() {
		yield* out(frame.head);
		for (const record of records({ story, random, clock, progress })) {
			const line = JSON.stringify(record);
			// A story only needs to know roughly how far it is; the true number of bytes is set at the end.
			progress.bytes += line.length + 1;
			yield* out(progress.records++ === 0 ? line : frame.between + line);
		}
		yield* out(frame.tail);
		for (const bytes of batch.flush()) {
			written += bytes.length;
			yield bytes;
		}
		progress.bytes = written;
	}
	return { batches: batches(), progress };
}

/** Writes a session to `out`. Resolves to `{bytes, records, atoms, images, imageBytes, textChars, duplicateChars}`. */
export async function generateSession(given, out) {
	const { batches, progress } = sessionBytes(given);
	const stream = createWriteStream(out, { highWaterMark: 4 * BATCH });
	const closed = once(stream, "close");
	for (const batch of batches) if (!stream.write(batch)) await once(stream, "drain");
	stream.end();
	await closed;
	return { ...progress };
}

/** Bytes of a size such as `200MB`, `1.5GB`, `64KB` or `1000`. */
export function parseSize(text) {
	const found = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)?$/i.exec(text);
	if (!found) throw new RangeError(`not a size: ${text}`);
	return Math.round(Number(found[1]) * { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }[(found[2] ?? "B").toUpperCase()]);
}

async function main() {
	const { values } = parseArgs({
		options: {
			format: { type: "string", default: "pi" },
			size: { type: "string" },
			images: { type: "string" },
			seed: { type: "string", default: "1" },
			"dead-branches": { type: "string", default: "0" },
			"single-group": { type: "boolean", default: false },
			atoms: { type: "string" },
			compact: { type: "string" },
			out: { type: "string" },
		},
	});
	if (!values.out) throw new RangeError("--out FILE is needed");
	const options = {
		format: values.format,
		size: values.size === undefined ? null : parseSize(values.size),
		images: values.images === undefined ? undefined : Number(values.images),
		seed: Number(values.seed),
		deadBranches: Number(values["dead-branches"]),
		singleGroup: values["single-group"],
		atoms: values.atoms === undefined ? null : Number(values.atoms),
		compact: values.compact?.split(",").filter(Boolean).map(Number),
	};
	const since = performance.now();
	const made = await generateSession(options, values.out);
	const seconds = (performance.now() - since) / 1000;
	console.log(JSON.stringify({ out: values.out, ...made, seconds, mb_per_s: made.bytes / 1e6 / seconds }));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
	await main().catch((error) => {
		console.error(`generate: ${error.message}`);
		process.exitCode = 2;
	});
}
