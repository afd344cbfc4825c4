import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { piCheck } from "#src/session/formats/pi/check.js";
import type { JsonObject } from "#src/session/record.js";
import { jsonLines, scratchFolder } from "../helpers/files.js";
import {
	assistant,
	call,
	compaction,
	entry,
	header,
	lines,
	message,
	result,
	text,
	user,
	withoutIds,
} from "./pi/entries.js";
import { openAtoms } from "./pi/forks.js";

const scratch = scratchFolder();
const shared = fileURLToPath(new URL("../../../shared/sessions/pi/", import.meta.url));
let serial = 0;

/** Findings as `severity rule entry`. */
async function findings(content: readonly JsonObject[] | string, scope?: "context" | "path"): Promise<string[]> {
	const text = typeof content === "string" ? content : jsonLines(content);
	const { report } = await openAtoms(scratch.write(`${serial++}.jsonl`, text), scope);
	expect(report.count).toBe(report.findings.length);
	for (const { message, offset } of report.findings) {
		expect(message).toMatch(/\.$/);
		expect(offset ?? 0).toBeLessThanOrEqual(Buffer.byteLength(text));
	}
	return report.findings.map(({ severity, rule, entry: at }) => `${severity} ${rule} ${at}`).sort();
}

const ask = (id = "u1") => user(id, null, "first");
const reply = (id = "a1") => assistant(id, null, [text("x")]);
const healthy = lines(ask(), assistant("a1", null, [call("c1")]), result("r1", null, "c1", [text("y")]), reply("a2"));
const healthyText = jsonLines(healthy);
const [headLine, ...rest] = healthyText.trimEnd().split("\n");
const system = message("s1", null, { role: "system", content: "x" });

describe("a session that Pi takes as it is", () => {
	const v1 = [header({ version: undefined }), ...withoutIds([ask(), reply()])];
	const cases: [name: string, content: readonly JsonObject[] | string][] = [
		["of version 3", healthy],
		["of version 1", v1],
		[
			"of version 1 with a compaction",
			[...v1, { type: "compaction", timestamp: "2026-01-02T03:04:05Z", summary: "s", firstKeptEntryIndex: 1 }],
		],
		["with a compaction", lines(ask(), reply(), compaction("k1", "u1"), ask("u2"))],
		["with a compaction that keeps nothing", lines(ask(), reply(), compaction("k1", "k1"), ask("u2"))],
		["with several roots", [...healthy, user("z1", null, "again")]],
		["with unreadable lines in front", `not json\n\n${healthyText}`],
		["without a line end", healthyText.trimEnd()],
		["with a message that it may not send", lines(ask(), system, assistant("a1", null, [], { stopReason: "aborted" }))],
	];
	it.each(cases)("%s", async (_, content) => {
		expect((await findings(content)).filter((one) => !one.includes("invalid_json"))).toEqual([]);
	});
});

describe("what Pi refuses or loses", () => {
	const image: JsonObject = { type: "image", mimeType: "image/png", data: "" };
	const cases: [finding: string, content: readonly JsonObject[] | string][] = [
		["refused header null", rest.join("\n")],
		["refused header null", `${rest[0]}\n${headLine}\n${rest.slice(1).join("\n")}`],
		["refused header null", `"a line"\n${healthyText}`],
		["refused header null", [{ ...header(), id: 5 }, ...healthy.slice(1)]],
		["refused byte_order_mark #0", `\ufeff${healthyText}`],
		["refused missing_parent u2", lines(ask(), reply()).concat({ ...ask("u2"), parentId: "gone" })],
		["refused parent_cycle u1", [header(), { ...ask(), parentId: "a1" }, { ...reply(), parentId: "u1" }]],
		["refused duplicate_id a1", [...lines(ask(), reply(), reply()), user("u2", "a1", "x")]],
		["refused missing_id #2", [header(), ask(), { ...reply(), id: undefined, parentId: "u1" }]],
		["refused kept_entry k1", lines(ask(), reply(), compaction("k1", "gone"), ask("u2"))],
		["refused kept_entry k1", lines(ask(), compaction("k1", "u2"), ask("u2"))],
		["refused orphan r1", lines(ask(), result("r1", null, "c1", [text("y")]))],
		[
			"refused ambiguous a1",
			lines(ask(), assistant("a1", null, [call("c1"), call("c1")]), result("r1", null, "c1", [text("y")])),
		],
		[
			"refused result_of_failed_reply r1",
			lines(
				ask(),
				assistant("a1", null, [call("c1")], { stopReason: "aborted" }),
				result("r1", null, "c1", [text("y")]),
			),
		],
		["refused content r1", lines(ask(), assistant("a1", null, [call("c1")]), result("r1", null, "c1", "y"))],
		["refused empty_text u1", lines(user("u1", null, ""))],
		["refused content a1", lines(ask(), assistant("a1", null, "a string"))],
		[
			"refused empty_text r1",
			lines(ask(), assistant("a1", null, [call("c1")]), result("r1", null, "c1", [text(""), image])),
		],
		["refused glued r1", healthyText.replace(`}\n${rest[3]}`, `}${rest[3]}`)],
	];
	it.each(cases)("%s", async (finding, content) => {
		expect(await findings(content)).toContain(finding);
	});

	it("where a line in the middle is torn, because the next one hangs on it", async () => {
		const torn = [headLine, rest[0], rest[1].slice(0, 40), ...rest.slice(2)].join("\n");
		const found = await findings(torn);
		expect(found).toContain("refused missing_parent r1");
		expect(found).toContain("repaired invalid_json null");
	});
});

describe("what Pi mends, and sends otherwise than it stands", () => {
	const hollow: JsonObject = { type: "thinking", thinking: "" };
	const cases: [finding: string, content: readonly JsonObject[] | string][] = [
		["repaired version #0", [header({ version: 4 }), ...healthy.slice(1)]],
		["repaired torn_tail null", healthyText.slice(0, -30)],
		["repaired abandoned a1", lines(ask(), assistant("a1", null, [call("c1")]), ask("u2"))],
		["repaired lone_surrogate u1", lines(user("u1", null, "a\ud800b"))],
		["repaired empty_text u1", lines(user("u1", null, [text("")]))],
		["repaired empty_text a1", lines(ask(), assistant("a1", null, [text(""), text("x")]))],
		["repaired hollow_thinking a1", lines(ask(), assistant("a1", null, [hollow, text("x")]))],
		["repaired unknown_role x1", lines(ask(), message("x1", null, { role: "hookMessage", content: "x" }))],
		["repaired empty_text n1", lines(entry("custom_message", "n1", null, { customType: "x", content: [text("")] }))],
	];
	it.each(cases)("%s", async (finding, content) => {
		expect(await findings(content)).toEqual([finding]);
	});
});

describe("what is beside the conversation", () => {
	it("is no finding: links of dead branches, an older compaction", async () => {
		const dead = [user("d1", "gone", "x"), user("d1", "u1", "y")];
		expect(await findings([healthy[0], ...dead, ...healthy.slice(1)])).toEqual([]);
		expect(
			await findings(lines(ask(), compaction("k1", "gone"), ask("u2"), compaction("k2", "u2"), ask("u3"))),
		).toEqual([]);
	});

	it("is what a list in memory holds: its messages are looked at all the same", () => {
		expect(piCheck.record({ role: "user", content: "x" })).toEqual([]);
		expect(piCheck.record({ role: "assistant", content: "x" })).toMatchObject([{ rule: "content" }]);
	});
});

describe.skipIf(!existsSync(shared))("real sessions", () => {
	it.each(["v1-large-session.jsonl", "v3-small.jsonl"])("%s has nothing that Pi would refuse", async (name) => {
		for (const scope of ["context", "path"] as const) {
			const { report } = await openAtoms(`${shared}${name}`, scope);
			expect(report.findings.filter(({ severity }) => severity === "refused")).toEqual([]);
		}
	});
});
