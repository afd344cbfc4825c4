/** What the planning commands write: through pipes, into full disks and read-only folders. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { RangeData } from "#src/facade/plan-figures.js";
import { Machine } from "../cli/machine.js";
import { piLines, type Said } from "../cli/run-cli.js";

/** About 700 KB, of which the plan leaves all but one message. */
const LONG = Array.from({ length: 700 }, (_, i): Said => ["user", `Prompt ${i} ${"some words ".repeat(90)}`]);

async function planned(): Promise<{ machine: Machine; session: string; digest: string }> {
	const machine = new Machine();
	const session = machine.write("session.jsonl", piLines(LONG));
	await machine.ok(["start", session]);
	const { digest } = await machine.ok<RangeData>(["plan", session, "add", "a0002", "--summary", "One."]);
	return { machine, session, digest };
}

describe("project --out", () => {
	it("ccusage PR#984: - prints every message into a pipe, however slow its reader", async () => {
		const { machine, session } = await planned();
		const { out, err } = await machine.bash('$MIDCOMPACT project "$FILE" --out - | { sleep 1; cat; }', {
			FILE: session,
		});
		expect(err).toBe("");
		expect(out.length).toBeGreaterThan(500_000);
		const lines = out.trimEnd().split("\n");
		expect(lines).toHaveLength(LONG.length);
		expect(JSON.parse(lines[1])).toMatchObject({ role: "custom", atom: null, block: "c0001" });
		expect((await machine.projected(session, "file.jsonl")).messages).toEqual(lines.map((line) => JSON.parse(line)));
	});

	it("a reader that goes away is no failure", async () => {
		const { machine, session } = await planned();
		const { out, err } = await machine.bash(`$MIDCOMPACT project "$FILE" --out - | head -1; echo "\${PIPESTATUS[0]}"`, {
			FILE: session,
		});
		const [line, code] = out.trimEnd().split("\n");
		expect(JSON.parse(line)).toMatchObject({ role: "user", atom: "a0001" });
		expect({ code, err }).toEqual({ code: "0", err: "" });
	});

	it("takes no name that is in use and no folder that is not there, and leaves nothing behind", async () => {
		const { machine, session } = await planned();
		const taken = machine.write("taken.jsonl", ["taken"]);
		const before = machine.snapshot();
		for (const [out, code] of [
			[taken, "output_exists"],
			[session, "output_exists"],
			[machine.at("nowhere/p.jsonl"), "invalid_output"],
		])
			expect(await machine.refused(["project", session, "--out", out])).toMatchObject({ code });
		expect(machine.snapshot()).toEqual(before);
	});

	it("is readable for nobody who cannot read the session", async () => {
		const { machine, session } = await planned();
		await machine.bash('chmod 600 "$FILE"', { FILE: session });
		await machine.projected(session, "private.jsonl");
		expect(statSync(machine.at("private.jsonl")).mode & 0o777).toBe(0o600);
	});
});

/** A mount of one's own, where the system grants it: the only full disk and read-only folder that root meets too. */
const MOUNT = ["-rm", "sh", "-c", 'mount -t tmpfs -o size=256k tmpfs "$0" && test -d "$0"', "/mnt"];
const hasMounts = process.platform === "linux" && spawnSync("unshare", MOUNT).status === 0;

/** Runs a line of bash in a mount namespace in which `$DIR` is an empty disk of 256 KB. */
function onSmallDisk(machine: Machine, line: string, env: Record<string, string>) {
	mkdirSync(machine.at("disk"), { recursive: true });
	const inside = `mount -t tmpfs -o size=256k tmpfs "$DIR" && { ${line}; }`;
	return machine.bash(`unshare -rm bash -c '${inside}'`, { DIR: machine.at("disk"), ...env });
}

describe.skipIf(!hasMounts)("a disk that is full, a folder that is read-only", () => {
	it.each([
		["commit", 'commit "$FILE" --plan "$DIGEST" --out "$DIR"'],
		["project", 'project "$FILE" --out "$DIR/projected.jsonl"'],
	])("%s to a full disk is refused with the reason, and leaves nothing on it", async (_name, args) => {
		const { machine, session, digest } = await planned();
		const { out } = await onSmallDisk(machine, `$MIDCOMPACT ${args} --json; echo "code $?"; ls -A "$DIR"; echo end`, {
			FILE: session,
			DIGEST: digest,
		});
		const [reply, code, ...rest] = out.trimEnd().split("\n");
		expect(JSON.parse(reply).error).toMatchObject({
			code: "invalid_output",
			message: expect.stringMatching(/no space left|disk is full/i),
		});
		expect([code, ...rest]).toEqual(["code 1", "end"]);
		expect(await machine.digest(session)).toBe(digest);
	});

	it("commit into a read-only folder is refused, and the plan stays as it was", async () => {
		const { machine, session, digest } = await planned();
		const before = machine.snapshot();
		const line = 'mount -o remount,ro "$DIR" && $MIDCOMPACT commit "$FILE" --plan "$DIGEST" --out "$DIR" --json';
		const { out, code } = await onSmallDisk(machine, line, { FILE: session, DIGEST: digest });
		expect(code).toBe(1);
		expect(JSON.parse(out).error).toMatchObject({
			code: "invalid_output",
			message: expect.stringMatching(/read-only/i),
		});
		expect(machine.snapshot()).toEqual(before);
	});

	it("a plan on a full disk refuses the change and keeps what it has", async () => {
		const { machine, session } = await planned();
		const line = [
			'export MIDCOMPACT_STATE_DIR="$DIR/state"',
			'$MIDCOMPACT start "$FILE" --json > /dev/null',
			'$MIDCOMPACT plan "$FILE" add a0001 --summary Kept. --json > /dev/null',
			'dd if=/dev/zero of="$DIR/filler" bs=4k 2> /dev/null',
			'head -c 20000 /dev/zero | tr "\\\\0" x | $MIDCOMPACT plan "$FILE" add a0003 --summary - --json; echo "code $?"',
			'rm "$DIR/filler"',
			'$MIDCOMPACT plan "$FILE" --json',
		].join("; ");
		const { out } = await onSmallDisk(machine, line, { FILE: session });
		const [refused, code, plan] = out.trimEnd().split("\n");
		expect(JSON.parse(refused).error).toMatchObject({
			code: "state_unavailable",
			message: expect.stringContaining("the disk is full"),
		});
		expect(code).toBe("code 1");
		expect(JSON.parse(plan).data).toMatchObject({ revision: 1, ranges: [{ summary: "Kept." }] });
	});
});

it("a file system limit on file sizes ends a commit without a half-written file", async () => {
	const { machine, session, digest } = await planned();
	mkdirSync(machine.at("out"));
	const { code } = await machine.bash(
		'ulimit -f 128; $MIDCOMPACT commit "$FILE" --plan "$DIGEST" --out "$OUT" --json',
		{
			FILE: session,
			DIGEST: digest,
			OUT: machine.at("out"),
		},
	);
	expect(code).not.toBe(0);
	const { out } = await machine.bash('ls "$OUT"', { OUT: machine.at("out") });
	expect(out).toBe("");
	expect(await machine.digest(session)).toBe(digest);
	expect(existsSync(session)).toBe(true);
	expect(readFileSync(session).length).toBeGreaterThan(500_000);
});
