/** Reads a fork back before it gets its name: what was written must be what was planned, and its host must take it. */
import { MidcompactError } from "../errors.js";
import type { PlanRange } from "../plan/plan.js";
import { breathe, pacer } from "../session/breathe.js";
import type { ReadOptions } from "./read.js";
import { ReadSource } from "./read.js";
import { checkResume } from "./resume.js";
import { fileSource } from "./sources.js";
import type { OpenSurvey } from "./survey.js";

/** The fork as it reads back, for the numbers. */
export interface CheckedFork {
	/** Its session id; null where the format has none. */
	session: string | null;
	read: ReadSource;
	survey: OpenSurvey;
	/** What the original has wrong and the fork has too, in sentences. */
	inherited: string[];
}

/**
 * Checks the fork at `path`, which will be called `name`; `dropped` records of the original are not in it. What its host would refuse is no failure where the original has the same. Errors: `invalid_output` with the smallest
 * excerpt of what is wrong.
 */
export async function checkFork(
	original: OpenSurvey,
	ranges: readonly PlanRange[],
	{ path, name, dropped }: { path: string; name: string; dropped: number },
	options: ReadOptions,
	signal: AbortSignal,
): Promise<CheckedFork> {
	const read = await ReadSource.open(original.pool, await fileSource(path), options, signal);
	const survey = await read.survey({ scope: "context", leaf: null });
	const [damage] = survey.damage.first;
	if (damage) throw wrong(`${damage.kind} at byte ${damage.offset}`);
	await compareAtoms(original, ranges, survey, dropped);
	const found = await checkResume(survey, name, signal);
	const before = await checkResume(original, null, signal);
	const inherited: string[] = [];
	for (const { rule, severity, count, message } of found.rules) {
		if (severity !== "refused") continue;
		const same = before.rules.find((one) => one.rule === rule && one.severity === severity);
		if (count > (same?.count ?? 0)) throw wrong(`${rule}: ${message}`);
		inherited.push(`As in the original (${rule}): ${message}`);
	}
	return { session: read.loaded.session, read, survey, inherited };
}

/** Messages that can be left out by themselves: blank text, thinking that nothing follows any more. */
const LEFT_OUT: ReadonlySet<string> = new Set(["user none", "assistant none"]);

/** Kinds and pairs must be those of the projection; atoms without any content may be left out by the writer, and as many single messages as it dropped records. */
async function compareAtoms(
	original: OpenSurvey,
	ranges: readonly PlanRange[],
	fork: OpenSurvey,
	dropped: number,
): Promise<void> {
	const pause = pacer();
	const found = await shapes(fork, []);
	let left = dropped;
	let at = 0;
	for (const { shape, ref } of await shapes(original, ranges)) {
		if (pause()) await breathe();
		if (shape === found[at]?.shape) at++;
		else if (left > 0 && LEFT_OUT.has(shape)) left--;
		else throw wrong(`${shape} (${ref}) was to be written, ${nameOf(found[at])} reads back`);
	}
	if (at < found.length) throw wrong(`nothing was to be written at the end, ${nameOf(found[at])} reads back`);
}

function nameOf(found: { shape: string; ref: string } | undefined): string {
	return found ? `${found.shape} (${found.ref})` : "nothing";
}

async function shapes({ atoms }: OpenSurvey, ranges: readonly PlanRange[]): Promise<{ shape: string; ref: string }[]> {
	const pause = pacer();
	const list: { shape: string; ref: string }[] = [];
	let next = 0;
	for (let atom = 0; atom < atoms.length; atom++) {
		if (pause()) await breathe();
		const range = ranges[next];
		if (range?.start === atom) {
			list.push({ shape: "block none", ref: range.id });
			atom = range.end;
			next++;
		} else if (atoms.chars.at(atom) > 0 || atoms.images.at(atom) > 0) {
			list.push({ shape: `${atoms.kindOf(atom)} ${atoms.protocolOf(atom)}`, ref: atoms.refOf(atom) });
		}
	}
	return list;
}

function wrong(what: string): MidcompactError {
	return new MidcompactError(
		"invalid_output",
		`The new session would not be valid, so it was not written: ${what}.`,
		"Nothing was changed. Plan without the atoms beside this place, and please report it.",
	);
}
