/** Excerpts: the surroundings of the first hit of a pattern in an atom's content, of which only a window is ever held. */
import { codePoints } from "../session/code-points.js";
import { splitCutText } from "../session/cut-text.js";
import { borderAfter, borderBefore, splitsPair } from "./borders.js";
import { inlineMark, type Landmark } from "./landmark.js";
import { Matcher, originalOffset, originalUnitsFromEnd } from "./match.js";

/** Units kept beyond the budget on each side, so that a cut can move to a safe border. */
const MARGIN = 64;

interface Span {
	from: number;
	to: number;
}

/** Takes the content texts of one atom in order, then renders. Positions are units of the texts joined by line ends. */
export class Excerpt {
	readonly #matcher: Matcher;
	readonly #budget: number;
	/** Units kept on each side of what may be shown. */
	readonly #reach: number;
	/** Joined content from position `#base` on. */
	#window = "";
	#base = 0;
	/** Positions of line ends that join texts: they are no content and are not counted. */
	#joints: number[] = [];
	/** Code points of content before and behind the window. */
	#charsBefore = 0;
	#charsBehind = 0;
	#texts = 0;
	#hit: Span | null = null;

	/** `budget`: UTF-16 units of the excerpt at most, its marks included. */
	constructor(pattern: string, budget: number) {
		this.#matcher = new Matcher(pattern);
		this.#budget = budget;
		this.#reach = Math.max(budget, this.#matcher.pattern.length) + MARGIN;
	}

	/** The next content text; what a giant record did not load of it counts as omitted. */
	add(text: string): void {
		const { head, missing } = splitCutText(text);
		this.#append(head);
		if (!missing) return;
		if (this.#hit) this.#charsBehind += missing.chars;
		else this.#charsBefore += missing.chars;
	}

	#append(text: string): void {
		if (this.#hit && this.#base + this.#window.length >= this.#hit.to + this.#reach) {
			this.#charsBehind += codePoints(text);
			return;
		}
		const found = this.#hit ? null : this.#matcher.add(text);
		const before = this.#texts === 0 ? "" : `${this.#window}\n`;
		if (this.#texts++ > 0) this.#joints.push(this.#base + before.length - 1);
		const start = this.#base + before.length;
		if (found) {
			const from =
				found.from >= 0 ? start + originalOffset(text, found.from) : start - originalUnitsFromEnd(before, -found.from);
			const to = found.to > 0 ? start + originalOffset(text, found.to - 1) + 1 : start;
			this.#hit = { from, to };
		}
		this.#window = before + text;
		this.#letGo();
	}

	/** The excerpt; null when the pattern is not in the content. */
	render(): Landmark | null {
		if (!this.#hit) return null;
		const hit = this.#wholeHit(this.#hit);
		const all = this.#charsBefore + this.#count(this.#window, this.#base) + this.#charsBehind;
		if (this.#budget < 2) return { text: "", omitted: all };
		const whole = this.#charsBefore === 0 && this.#charsBehind === 0 && this.#window.length <= this.#budget;
		if (whole) return { text: this.#window, omitted: 0 };
		const worst = inlineMark(Math.max(all, 2)).trim().length + 1;
		// Too small a budget for two worded marks goes to the hit alone.
		const worded = this.#budget >= 4 * worst;
		const [from, to] = this.#span(hit, this.#budget - 2 * (worded ? worst : 1));
		const shown = this.#window.slice(from - this.#base, to - this.#base);
		const before = this.#charsBefore + this.#count(this.#window.slice(0, from - this.#base), this.#base);
		const omitted = all - this.#count(shown, from);
		const behind = omitted - before;
		const first = before === 0 ? "" : worded ? inlineMark(before).trimStart() : "…";
		const last = behind === 0 ? "" : worded ? inlineMark(behind).trimEnd() : "…";
		return { text: first + shown + last, omitted };
	}

	/** What is shown when `room` units may be: the hit in the middle, unused room of one side given to the other. */
	#span(hit: Span, room: number): [from: number, to: number] {
		const end = this.#base + this.#window.length;
		const beside = room - (hit.to - hit.from);
		if (beside < 0) return [hit.from, Math.max(hit.from, this.#borderBefore(hit.from + room))];
		const left = hit.from - this.#base;
		const right = end - hit.to;
		const before = Math.min(left, Math.max(Math.floor(beside / 2), beside - right));
		const from = this.#borderAfter(hit.from - before, hit.from);
		const to = Math.max(hit.to, this.#borderBefore(Math.min(end, hit.to + beside - before)));
		return [from, to];
	}

	/** A pattern of half a surrogate pair hits half a character: the whole one is shown. */
	#wholeHit({ from, to }: Span): Span {
		const text = this.#window;
		return {
			from: splitsPair(text, from - this.#base) ? from - 1 : from,
			to: splitsPair(text, to - this.#base) ? to + 1 : to,
		};
	}

	#borderAfter(position: number, limit: number): number {
		return Math.min(limit, this.#base + borderAfter(this.#window, position - this.#base));
	}

	#borderBefore(position: number): number {
		return this.#base + borderBefore(this.#window, position - this.#base);
	}

	/** Forgets what can no longer be shown. */
	#letGo(): void {
		const end = this.#base + this.#window.length;
		if (this.#hit) {
			const keepTo = this.#hit.to + this.#reach - this.#base;
			if (keepTo < this.#window.length) {
				const cut = splitsPair(this.#window, keepTo) ? keepTo + 1 : keepTo;
				this.#charsBehind += this.#count(this.#window.slice(cut), this.#base + cut);
				this.#window = this.#window.slice(0, cut);
			}
		}
		const keepFrom = (this.#hit?.from ?? end) - this.#reach - this.#base;
		if (keepFrom > 0) {
			const cut = splitsPair(this.#window, keepFrom) ? keepFrom - 1 : keepFrom;
			this.#charsBefore += this.#count(this.#window.slice(0, cut), this.#base);
			this.#window = this.#window.slice(cut);
			this.#base += cut;
			this.#joints = this.#joints.filter((joint) => joint >= this.#base);
		}
	}

	/** Code points of a piece of joined content that starts at `position`, without the line ends that join. */
	#count(piece: string, position: number): number {
		let joints = 0;
		for (const joint of this.#joints) if (joint >= position && joint < position + piece.length) joints++;
		return codePoints(piece) - joints;
	}
}
