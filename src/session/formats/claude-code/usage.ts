/** The usage that the host recorded last and that still describes its context (RULINGS 19). */
import type { RecordedUsage } from "../../branch.js";
import { breathe, pacer } from "../../breathe.js";
import { FLAG, type Usage } from "../../record.js";
import { RecordTable } from "../../table.js";
import { LINE } from "./kinds.js";
import type { Lines } from "./lines.js";

/**
 * Field-wise maximum over the lines of the last valid reply; its last line that holds usage is the entry. `order` is the host's context; null when
 * no valid reply is newer than the compaction it starts with. `kept` rows were sent before that compaction.
 */
export async function recordedUsage(
	lines: Lines,
	order: Int32Array,
	kept: ReadonlySet<number>,
): Promise<RecordedUsage | null> {
	const { table } = lines;
	const pause = pacer();
	let boundary = -1;
	for (const row of order) {
		if (pause()) await breathe();
		if (table.type.at(row) === LINE.BOUNDARY) boundary = row;
	}
	let found: RecordedUsage | null = null;
	for (let i = order.length - 1; i >= 0; i--) {
		if (pause()) await breathe();
		const row = order[i];
		if (row < boundary || kept.has(row)) continue;
		const usage = usageOf(lines, row);
		if (usage === null) continue;
		if (found === null) {
			found = { usage, row };
			if (table.group.at(row) < 0) break;
		} else if (table.group.at(row) === table.group.at(found.row)) found.usage = larger(found.usage, usage);
	}
	return found;
}

function usageOf(lines: Lines, row: number): Usage | null {
	const { table } = lines;
	if (table.type.at(row) !== LINE.ASSISTANT || !lines.isOwn(row)) return null;
	if (table.flags.at(row) & FLAG.INVALID_USAGE) return null;
	const [from, to] = RecordTable.rangeOf(table.usageRow, row);
	return from < to ? table.usageAt(from) : null;
}

function larger(a: Usage, b: Usage): Usage {
	return {
		input: Math.max(a.input, b.input),
		output: Math.max(a.output, b.output),
		cacheRead: Math.max(a.cacheRead, b.cacheRead),
		cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
		window: null,
	};
}
