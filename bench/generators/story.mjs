/**
 * What happens in a generated session, free of any format: a person asks, an agent thinks, calls tools and answers. The formats turn these events
 * into records. Sizes follow what real sessions show: most texts are short, a few are long, file dumps come again word for word.
 */
import { ImageMaker } from "./images.mjs";
import { TextMaker } from "./texts.mjs";

/** Share of the characters that stand in texts seen before. */
const DUPLICATES = 0.29;
/** File dumps remembered for repetition. */
const REMEMBERED = 96;

const TOOLS = ["read", "read", "read", "bash", "bash", "bash", "grep", "edit", "edit", "write"];

/** What the writing side reports back, so that the story can keep to its shares and its length. */
export class Progress {
	bytes = 0;
	records = 0;
	/** Atoms on the main branch. */
	atoms = 0;
	images = 0;
	imageBytes = 0;
	textChars = 0;
	duplicateChars = 0;
	#target;
	#atoms;

	constructor({ bytes, atoms }) {
		this.#target = bytes;
		this.#atoms = atoms;
	}

	/** Fraction of the session that is written; 1 or more when it is long enough. */
	get done() {
		return this.#atoms === null ? this.bytes / this.#target : this.atoms / this.#atoms;
	}
}

export class Story {
	#random;
	#texts;
	#pictures;
	#progress;
	#options;
	#dumps = [];

	/** `options`: images (share of the bytes), deadBranches, singleGroup, compact (fractions), scale (of all lengths), maxOutput (chars of one result). */
	constructor(random, progress, options) {
		this.#random = random;
		this.#progress = progress;
		this.#options = options;
		this.#texts = new TextMaker(random);
		this.#pictures = new ImageMaker(random);
	}

	get texts() {
		return this.#texts;
	}

	/** Events: user, assistant, results, bash, compaction, branch, back. */
	*events() {
		const { deadBranches, singleGroup, compact } = this.#options;
		const branches = Array.from({ length: deadBranches }, (_, k) => (k + 1) / (deadBranches + 1));
		const compactions = [...compact].sort((a, b) => a - b);
		let first = true;
		// The turn that passes the target is finished, so that the session ends as a session does.
		while (first || this.#progress.done < 1) {
			if (!first && branches.length > 0 && this.#progress.done >= branches[0]) {
				branches.shift();
				yield { type: "branch" };
				yield* this.#turn(true);
				yield { type: "back" };
			}
			if (!first && compactions.length > 0 && this.#progress.done >= compactions[0]) {
				compactions.shift();
				yield { type: "compaction", summary: this.#text("prose", 800, 4000) };
			}
			yield* this.#turn(first || !singleGroup);
			first = false;
		}
	}

	*#turn(asked) {
		const r = this.#random;
		if (asked) yield { type: "user", text: this.#userText(), images: this.#imagesDue() };
		if (r.chance(0.03)) yield { type: "bash", command: this.#texts.command(), output: this.#text("output", 40, 6000) };
		for (let step = r.skewed(1, 14); step > 0; step--) {
			if (step > 1 && this.#progress.done >= 1) break;
			const calls = Array.from({ length: r.chance(0.2) ? r.between(2, 4) : 1 }, () => this.#call());
			yield {
				type: "assistant",
				thinking: this.#thinking(),
				text: r.chance(0.45) ? this.#text("prose", 40, 900) : "",
				calls,
			};
			yield { type: "results", results: calls.map((call) => this.#result(call)) };
		}
		yield { type: "assistant", thinking: this.#thinking(), text: this.#text("prose", 80, 2400), calls: [] };
	}

	#thinking() {
		return this.#random.chance(0.4) ? this.#text("prose", 60, 2500) : "";
	}

	#userText() {
		const r = this.#random;
		return r.chance(0.04)
			? `${this.#text("request", 40, 300)}\n\n${this.#text("log", 800, 20000)}`
			: this.#text("request", 30, 1500);
	}

	#call() {
		const path = this.#texts.path();
		switch (this.#random.pick(TOOLS)) {
			case "read":
				return { tool: "read", path };
			case "grep":
				return { tool: "grep", pattern: this.#texts.identifier(), path };
			case "edit":
				return { tool: "edit", path, before: this.#text("code", 60, 1500), after: this.#text("code", 60, 1800) };
			case "write":
				return { tool: "write", path, content: this.#text("code", 300, 9000) };
			default:
				return { tool: "bash", command: this.#texts.command() };
		}
	}

	#result(call) {
		const error = this.#random.chance(0.05);
		if (call.tool === "edit" || call.tool === "write")
			return {
				call,
				text: error ? `Could not ${call.tool} ${call.path}: the file changed` : `Changed ${call.path}`,
				images: [],
				error,
			};
		if (call.tool === "read") {
			const images = this.#imagesDue();
			if (images.length > 0)
				return { call, text: `Read image ${call.path.replace(/\.\w+$/, ".png")}`, images, error: false };
		}
		return { call, text: this.#dump(call.tool === "read" ? "code" : "output"), images: [], error };
	}

	/** A long text, new or one that stood in the session before. */
	#dump(kind) {
		const p = this.#progress;
		if (this.#dumps.length > 8 && p.duplicateChars < DUPLICATES * p.textChars) {
			const text = this.#random.pick(this.#dumps);
			p.duplicateChars += text.length;
			p.textChars += text.length;
			return text;
		}
		const text = this.#text(kind, 120, 60000);
		if (this.#dumps.length < REMEMBERED) this.#dumps.push(text);
		else this.#dumps[this.#random.int(REMEMBERED)] = text;
		return text;
	}

	/** A text of a kind; counts as content of the session only where an event carries it. */
	text(kind, low, high) {
		const length = Math.max(8, Math.round(this.#random.skewed(low, high) * this.#options.scale));
		return this.#texts[kind](Math.min(length, this.#options.maxOutput));
	}

	#text(kind, low, high) {
		const text = this.text(kind, low, high);
		this.#progress.textChars += text.length;
		return text;
	}

	/** One image when the session holds fewer image bytes than its share, else none. */
	#imagesDue() {
		const p = this.#progress;
		if (p.imageBytes >= this.#options.images * p.bytes) return [];
		const length = this.#random.skewed(20_000, 600_000) * Math.min(1, this.#options.scale);
		return [this.#pictures.make(Math.max(400, Math.round(length)))];
	}
}
