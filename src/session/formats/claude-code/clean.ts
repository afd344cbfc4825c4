/** What of one line goes into a fork: a message without what no host takes back, and the surroundings of a line for the block in its place. */
import type { ForkCleaner } from "../../fork.js";
import { isObject, type JsonValue } from "../../record.js";
import { mendedRecord } from "../../well-formed.js";
import { isBlank, isEmptyBlock } from "./blocks.js";

/** Fields that say where a line was written. A list of sessions goes by those of the first line (claude-code#67110). */
const SURROUNDINGS: readonly string[] = ["userType", "entrypoint", "cwd", "version", "gitBranch"];

export const claudeCodeCleaner: ForkCleaner = {
	clean(record) {
		const { type, message } = record;
		if ((type !== "user" && type !== "assistant") || !isObject(message)) return mendedRecord(record);
		const { content } = message;
		if (typeof content === "string") return isBlank(content) ? null : mendedRecord(record);
		if (!Array.isArray(content)) return mendedRecord(record);
		const kept = content.filter((block) => !isEmptyBlock(block));
		if (kept.length === 0) return null;
		return mendedRecord(
			kept.length === content.length ? record : { ...record, message: { ...message, content: kept } },
		);
	},

	/** The writer asks only for the first line of a range. */
	carry(record) {
		const surroundings: [string, JsonValue | undefined][] = SURROUNDINGS.map((key) => [key, record[key]]);
		const known = surroundings.filter(([, value]) => typeof value === "string");
		return { record: mendedRecord(Object.fromEntries(known)), edits: [] };
	},
};
