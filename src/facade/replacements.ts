/** What the messages that replace ranges weigh: counted once a text, since a plan is shown far more often than it changes. */
import { createHash } from "node:crypto";
import { blockText, SESSION_TO_COME } from "../plan/block-text.js";
import type { PlanRange } from "../plan/plan.js";
import { breathe } from "../session/breathe.js";
import { codePoints } from "../session/code-points.js";
import type { FormatName } from "../session/record.js";
import type { Survey } from "./survey.js";

/** Code points, and tokens by the session's encoding, of a whole message. */
export interface ReplacementSize {
	chars: number;
	tokens: number;
}

/** A pending range is replaced by nothing yet. */
const NOTHING: ReplacementSize = { chars: 0, tokens: 0 };
/** Formats whose sessions have no id. */
const NAMELESS: ReadonlySet<FormatName> = new Set(["openai-chat", "anthropic"]);
/** Texts whose figures are kept, by their hash. */
const MOST_KEPT = 10_000;
/** Units of text that are worked on between two turns of the event loop (some ms), and what an empty one counts for. */
const STRETCH = 1 << 18;
const LEAST_STEP = 256;
/** Units of the texts that are counted in one go, about. */
const AT_ONCE = 1 << 18;

const kept = new WeakMap<Survey, Map<string, ReplacementSize>>();

/** The figures of the ranges' messages, in the order of the ranges. Errors: those of `countTexts`. */
export async function replacementSizes(survey: Survey, ranges: readonly PlanRange[]): Promise<ReplacementSize[]> {
	const known = kept.get(survey) ?? new Map<string, ReplacementSize>();
	kept.set(survey, known);
	const found: ReplacementSize[] = [];
	const missing: { at: number; key: string; text: string }[] = [];
	let units = 0;
	const count = async () => {
		const tokens = await survey.countTexts(missing.map(({ text }) => text));
		missing.forEach(({ at, key, text }, i) => {
			found[at] = { chars: codePoints(text), tokens: tokens[i] };
			keep(known, key, found[at]);
		});
		missing.length = 0;
		units = 0;
	};
	const pause = textPacer();
	for (const [at, range] of ranges.entries()) {
		if (pause(range.summary)) await breathe();
		found.push(NOTHING);
		if (range.summary === "") continue;
		const text = messageOf(survey, range);
		const key = createHash("sha256").update(text).digest("base64");
		const before = known.get(key);
		if (before) found[at] = before;
		else {
			missing.push({ at, key, text });
			units += text.length;
			if (units >= AT_ONCE) await count();
		}
	}
	if (missing.length > 0) await count();
	return found;
}

/** A pacer for loops whose steps are as long as a text: true when it is time for a turn of the event loop. */
export function textPacer(): (text: string) => boolean {
	let units = 0;
	return (text) => {
		units += text.length + LEAST_STEP;
		if (units < STRETCH) return false;
		units = 0;
		return true;
	};
}

/** Block and session get their ids at the commit; the ones here are as long. */
function messageOf({ format }: Survey, { topic, summary }: PlanRange): string {
	const session = NAMELESS.has(format) ? null : SESSION_TO_COME;
	return blockText({ block: "c0001", topic, summary, session });
}

function keep(known: Map<string, ReplacementSize>, key: string, figures: ReplacementSize): void {
	known.set(key, figures);
	if (known.size <= MOST_KEPT) return;
	for (const oldest of known.keys()) {
		known.delete(oldest);
		return;
	}
}
