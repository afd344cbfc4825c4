/** The lines that are sent, in the order in which they are sent: a walk, and what it loses beside itself (RULINGS 2). */
import { breathe, pacer } from "../../breathe.js";
import { LINE } from "./kinds.js";
import type { Lines } from "./lines.js";

/** Not among the lines that are sent. */
const NOWHERE = -1;
/** A copy of a line that is among them already. */
const COPY = -2;

/**
 * Adds to a walk every assistant line that shares its `message.id` with one on it, and the results of calls that have none on it. The order is the
 * file's. Only where the walk itself goes against the file (kept messages, a reversed file) does it stand in the walk's own order; a line that
 * was added then stands with the lines of its answer. `frozen`: nothing is added from behind the walk's last line in the file, so that what the host writes later does not
 * change what stood there.
 */
export async function orderLines(lines: Lines, walk: readonly number[], frozen: boolean): Promise<Int32Array> {
	const { table } = lines;
	const pause = pacer();
	const runOf = new Int32Array(table.rows).fill(NOWHERE);
	let runs = 0;
	for (let i = 0; i < walk.length; i++) {
		if (pause()) await breathe();
		if (i === 0 || walk[i] < walk[i - 1]) runs++;
		runOf[walk[i]] = runs - 1;
	}
	if (lines.chain.duplicates.length > 0) await keepFirstCopies(lines, walk, runOf);
	const end = frozen ? walk.reduce((last, row) => Math.max(last, row), -1) + 1 : table.rows;
	await addAnswerLines(lines, walk, runOf, end);
	await addResults(lines, walk, runOf, end);
	return sortByRun(runOf, runs);
}

/** A message that the walk met in two copies stands once, at its first. */
async function keepFirstCopies({ table }: Lines, walk: readonly number[], runOf: Int32Array): Promise<void> {
	const pause = pacer();
	const first = new Map<number, number>();
	for (const row of walk) {
		if (pause()) await breathe();
		const id = table.id.at(row);
		if (id < 0) continue;
		const other = first.get(id);
		if (other !== undefined) runOf[Math.max(row, other)] = COPY;
		if (other === undefined || row < other) first.set(id, row);
	}
}

async function addAnswerLines(lines: Lines, walk: readonly number[], runOf: Int32Array, end: number): Promise<void> {
	const { table } = lines;
	const pause = pacer();
	const runOfAnswer = new Int32Array(table.strings.length).fill(NOWHERE);
	for (const row of walk) {
		if (pause()) await breathe();
		const answer = table.group.at(row);
		if (answer < 0 || runOf[row] < 0 || runOfAnswer[answer] >= 0 || !lines.isOwn(row)) continue;
		runOfAnswer[answer] = runOf[row];
	}
	for (let row = 0; row < end; row++) {
		if (pause()) await breathe();
		const answer = table.group.at(row);
		if (answer < 0 || runOfAnswer[answer] < 0 || runOf[row] !== NOWHERE) continue;
		if (lines.lost[row] === 1 || !lines.isOwn(row)) continue;
		runOf[row] = runOfAnswer[answer];
	}
}

/** Adds the results of all calls so far, unless the walk holds a result of that call already. */
async function addResults(lines: Lines, walk: readonly number[], runOf: Int32Array, end: number): Promise<void> {
	const { table } = lines;
	const pause = pacer();
	const onWalk = new Uint8Array(table.rows);
	for (const row of walk) {
		if (pause()) await breathe();
		onWalk[row] = 1;
	}
	const runOfCall = new Int32Array(table.strings.length).fill(NOWHERE);
	for (let call = 0; call < table.callRow.length; call++) {
		if (pause()) await breathe();
		const row = table.callRow.at(call);
		const id = table.callId.at(call);
		if (id >= 0 && runOf[row] >= 0 && lines.isOwn(row) && runOfCall[id] < 0) runOfCall[id] = runOf[row];
	}
	const answered = new Uint8Array(table.strings.length);
	for (let result = 0; result < table.resultRow.length; result++) {
		if (pause()) await breathe();
		const row = table.resultRow.at(result);
		const id = table.resultId.at(result);
		if (id >= 0 && onWalk[row] === 1 && lines.isOwn(row)) answered[id] = 1;
	}
	for (let result = 0; result < table.resultRow.length; result++) {
		if (pause()) await breathe();
		const row = table.resultRow.at(result);
		const id = table.resultId.at(result);
		if (row >= end || id < 0 || runOfCall[id] < 0 || answered[id] === 1 || runOf[row] !== NOWHERE) continue;
		if (table.type.at(row) !== LINE.USER || lines.lost[row] === 1 || !lines.isOwn(row)) continue;
		runOf[row] = runOfCall[id];
	}
}

/** Rows by run, those of one run in file order. */
async function sortByRun(runOf: Int32Array, runs: number): Promise<Int32Array> {
	const pause = pacer();
	const end = new Int32Array(runs + 1);
	for (const run of runOf) {
		if (pause()) await breathe();
		if (run >= 0) end[run + 1]++;
	}
	for (let run = 0; run < runs; run++) {
		if (pause()) await breathe();
		end[run + 1] += end[run];
	}
	const sorted = new Int32Array(end[runs]);
	for (let row = 0; row < runOf.length; row++) {
		if (pause()) await breathe();
		if (runOf[row] >= 0) sorted[end[runOf[row]]++] = row;
	}
	return sorted;
}
