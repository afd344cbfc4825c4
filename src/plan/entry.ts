/** Journal entries as they are read back: what a line must hold to be one. Pure. */
import { FORMATS, isObject, type JsonObject, type JsonValue } from "../session/record.js";
import type { JournalEntry } from "./store.js";

const VERSION = 1;

/** The entry that a parsed line is; null for one that is incomplete, or of a kind or version that this program does not know. */
export function asEntry(value: JsonValue): JournalEntry | null {
	if (!isObject(value) || !areTexts(value, ["transaction", "at"]) || value.transaction === "") return null;
	return isWhole(value) ? (value as unknown as JournalEntry) : null;
}

function isWhole(entry: JsonObject): boolean {
	switch (entry.type) {
		case "start":
			return (
				entry.version === VERSION && isMode(entry.mode) && areTexts(entry, ["instructions"]) && isAnchor(entry.anchor)
			);
		case "change":
			return areCounts(entry, ["revision"]) && isChange(entry.change);
		case "commit":
			return (
				areTexts(entry, ["digest", "path"]) &&
				areCounts(entry, ["bytes"]) &&
				(entry.session === null || areTexts(entry, ["session"])) &&
				Array.isArray(entry.blocks) &&
				entry.blocks.every((block) => isObject(block) && areTexts(block, ["id", "range", "topic", "summary"]))
			);
		case "committed":
		case "withdrawn":
		case "abort":
			return true;
		default:
			return false;
	}
}

function isMode(mode: JsonValue | undefined): boolean {
	return mode === "agent" || mode === "manual";
}

function isAnchor(anchor: JsonValue | undefined): boolean {
	return (
		isObject(anchor) &&
		FORMATS.some((format) => format === anchor.format) &&
		(anchor.scope === "context" || anchor.scope === "path") &&
		areTexts(anchor, ["entry", "hash"]) &&
		areCounts(anchor, ["atoms", "messages"])
	);
}

function isChange(change: JsonValue | undefined): boolean {
	if (!isObject(change)) return false;
	switch (change.kind) {
		case "add": {
			const { range } = change;
			return (
				isObject(range) && areTexts(range, ["id", "topic", "summary", "hash"]) && areCounts(range, ["start", "end"])
			);
		}
		case "update":
			return (
				areTexts(change, ["id"]) &&
				(change.topic === undefined || areTexts(change, ["topic"])) &&
				(change.summary === undefined || areTexts(change, ["summary"]))
			);
		case "remove":
			return areTexts(change, ["id"]);
		default:
			return change.kind === "undo";
	}
}

function areTexts(object: JsonObject, keys: readonly string[]): boolean {
	return keys.every((key) => typeof object[key] === "string");
}

function areCounts(object: JsonObject, keys: readonly string[]): boolean {
	return keys.every((key) => Number.isSafeInteger(object[key]) && Number(object[key]) >= 0);
}
