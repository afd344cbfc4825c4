/** A part of a table as it crosses a thread border: plain columns, to be appended in the order of the file. */
import type { DamageLogData } from "./damage.js";
import type { JsonObject } from "./record.js";

/** The columns of a chunk as they cross a thread border. String columns hold indexes into `strings`, -1 for none. */
export interface TableChunk {
	rows: number;
	records: number;
	lines: number;
	damage: DamageLogData;
	strings: string[];
	/** Source of each row among those of the chunk (see `RecordTable.source`). */
	source: Uint8Array;
	start: Float64Array;
	end: Float64Array;
	record: Int32Array;
	line: Uint32Array;
	item: Uint32Array;
	type: Uint8Array;
	role: Uint8Array;
	flags: Uint32Array;
	id: Int32Array;
	parent: Int32Array;
	group: Int32Array;
	time: Float64Array;
	chars: Float64Array;
	callRow: Int32Array;
	callId: Int32Array;
	callName: Int32Array;
	callAnswer: Uint8Array;
	resultRow: Int32Array;
	resultId: Int32Array;
	resultName: Int32Array;
	resultByName: Uint8Array;
	imageRow: Int32Array;
	imageMime: Int32Array;
	imageBytes: Float64Array;
	imageWidth: Float64Array;
	imageHeight: Float64Array;
	usageRow: Int32Array;
	/** Five numbers a row: input, output, cacheRead, cacheWrite, window; NaN for none. */
	usage: Float64Array;
	metas: [row: number, meta: JsonObject][];
}
