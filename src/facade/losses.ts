/** What a summary leaves out, as a reply may carry it. It informs, it gates nothing. */
import type { LossReport } from "../plan/losses.js";
import { count, oneLine, plural } from "./text.js";

/** Examples of one kind in data, and in the text, and the units of one. */
const EXAMPLES_IN_DATA = 20;
const EXAMPLES_IN_TEXT = 5;
const EXAMPLE_BOUND = 300;
const EXAMPLE_IN_TEXT = 80;

const NAMES: Readonly<Record<LossReport["kinds"][number]["kind"], string>> = {
	path: "file path",
	command: "command",
	error: "error text",
	number: "number",
	identifier: "identifier",
};

export function boundedLosses({ kinds }: LossReport): LossReport {
	return {
		kinds: kinds.map((kind) => ({
			...kind,
			examples: kind.examples.slice(0, EXAMPLES_IN_DATA).map((example) => oneLine(example, EXAMPLE_BOUND)),
		})),
	};
}

/** One line a kind of which something is lost; at most some 2,500 units. */
export function lossLines({ kinds }: LossReport): string[] {
	const lost = kinds.filter((kind) => kind.lost > 0);
	if (kinds.every(({ total }) => total === 0))
		return ["The originals name no path, command, error text, number or identifier."];
	if (lost.length === 0) {
		const counted = kinds.some(({ more }) => more) ? " that were looked for" : "";
		return [
			`All paths, commands, error texts, numbers and identifiers${counted} stand in the summary or in what is kept.`,
		];
	}
	const lines = lost.map(({ kind, total, lost: n, more: uncounted, examples }) => {
		const named = examples.slice(0, EXAMPLES_IN_TEXT).map((example) => oneLine(example, EXAMPLE_IN_TEXT));
		const more = n > named.length && named.length > 0 ? " …" : "";
		return `   ${uncounted ? "at least " : ""}${count(n)} of ${plural(total, NAMES[kind])}: ${named.join(" | ")}${more}`;
	});
	return [
		"In the originals, but neither in the summary nor in what is kept (this informs, it gates nothing):",
		...lines,
	];
}
