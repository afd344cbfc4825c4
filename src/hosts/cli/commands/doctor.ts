/** `midcompact doctor`: what is wrong with a session file, where, what the reader did about it, and whether its host would resume it. Damage is no failure: exit code 0. */
import type { Command } from "commander";
import type { Session } from "../../../engine/session.js";
import { type Overview, overviewOf } from "../../../facade/overview.js";
import { Sums } from "../../../facade/sums.js";
import type { Survey } from "../../../facade/survey.js";
import { bytesText, count, oneLine, plural, shortName } from "../../../facade/text.js";
import type { Damage } from "../../../session/damage.js";
import type { ResumeFinding } from "../../../session/resume.js";
import { withSession } from "../open.js";
import { limit, SESSION_ARGUMENT, type SessionOptions, sessionOptions } from "../options.js";
import type { Shell } from "../shell.js";
import { type Paint, padEnd, padStart, painter, safe } from "../terminal.js";

/** Units of a finding's sentence. */
const MESSAGE_BOUND = 200;

interface DoctorOptions extends SessionOptions {
	limit: number;
}

interface Finding extends Pick<Damage, "kind" | "offset" | "line"> {
	on_anchor: boolean;
}

export interface DoctorData extends Pick<Overview, "anchor" | "notices" | "notices_total"> {
	lines: number;
	/** `kept`: findings known one by one; the others are only counted. */
	damage: Overview["damage"] & { kept: number; listed: number; first: Finding[] };
	protected: Record<string, number>;
	/** Whether the session's host would take it up again; `refused` counts what it would refuse or lose, the others it mends by itself. */
	resume: {
		would: boolean;
		count: number;
		refused: number;
		listed: number;
		findings: readonly ResumeFinding[];
	};
}

export function addDoctor(program: Command, shell: Shell): void {
	const command = program
		.command("doctor")
		.description("Report damage of a session file, and whether its host would resume it.")
		.argument("<session>", SESSION_ARGUMENT)
		.option("--limit <n>", "findings to list", limit, 20)
		.addHelpText("after", "\nExample:\n  midcompact doctor session.jsonl --json | jq .data.damage.kinds");
	sessionOptions(command).action((session: string, options: DoctorOptions) =>
		withSession(shell, session, options, async (open) => {
			const data = await diagnose(open, options.limit);
			if (shell.interrupted) return;
			const text = (paint: Paint) => report(open.survey.path ?? session, data, paint);
			if (options.json) shell.printAnswer("doctor", text(painter(false)), data);
			else shell.print(text(shell.paint(options.color)));
		}),
	);
}

async function diagnose(session: Session, limit: number): Promise<DoctorData> {
	const { survey } = session;
	const sums = await Sums.of(survey);
	const { anchor, damage, notices, notices_total } = overviewOf(survey, sums);
	const report = await session.checkResume();
	const listed = worstFirst(report.findings).slice(0, limit);
	const first = findings(survey, survey.damage.first.slice(0, limit));
	return {
		anchor,
		lines: survey.table.lines,
		damage: { ...damage, kept: survey.damage.first.length, listed: first.length, first },
		notices,
		notices_total,
		protected: sums.reasons(0, survey.atoms.length),
		resume: {
			would: report.refused === 0,
			count: report.count,
			refused: report.refused,
			listed: listed.length,
			findings: listed,
		},
	};
}

function worstFirst(findings: readonly ResumeFinding[]): ResumeFinding[] {
	return [
		...findings.filter(({ severity }) => severity === "refused"),
		...findings.filter(({ severity }) => severity === "repaired"),
	];
}

/** Whether the host would resume the file. */
function verdictText({ anchor, resume: { would, refused } }: DoctorData, paint: Paint): string {
	const host = anchor.format;
	return would
		? `Resume: nothing found that ${host} would refuse or lose.`
		: paint("yellow", `Resume: ${plural(refused, "thing")} that ${host} would refuse or lose.`);
}

/** Why not, and what it would mend by itself. */
function resumeLines({ resume: { count: all, listed, findings: found } }: DoctorData, paint: Paint): string[] {
	const lines = found.map(({ rule, severity, entry, message }) => {
		const place = entry === null ? "" : ` at ${shortName(entry)}`;
		const said = `${padEnd(severity, 8)}  ${rule}${place}: ${oneLine(message, MESSAGE_BOUND)}`;
		return safe(`  ${said}`);
	});
	return all > listed ? [...lines, paint("dim", `  ${count(all - listed)} more`)] : lines;
}

/** Findings with whether they are about what the anchor was read from. */
function findings({ branch, table }: Survey, listed: readonly Damage[]): Finding[] {
	const ofBranch = new Map(
		branch.damage.map(({ kind, row, onAnchor }) => [`${kind} ${table.start.at(row)}`, onAnchor]),
	);
	const wanted = new Set(listed.map(({ record }) => record));
	const walked = new Set<number>();
	if (listed.length > 0) {
		for (let row = 0; row < table.rows; row++) {
			if (branch.walked[row] === 1 && wanted.has(table.record.at(row))) walked.add(table.record.at(row));
		}
	}
	return listed.map(({ kind, offset, line, record }) => ({
		kind,
		offset,
		line,
		on_anchor: ofBranch.get(`${kind} ${offset}`) ?? (record >= 0 && walked.has(record)),
	}));
}

/** What is not listed, and whether a larger limit would list it. */
function moreText({ count: all, kept, listed }: DoctorData["damage"]): string | null {
	if (listed < kept) return `${plural(all - listed, "finding")} not listed; --limit lists up to ${count(kept)}.`;
	const left = all - kept;
	if (left <= 0) return null;
	const exist = `${plural(left, "more finding")} ${left === 1 ? "exists" : "exist"}`;
	return `${exist}; only the first ${count(kept)} are kept one by one.`;
}

/** What counts stands first: a bounded text keeps its first lines. */
function report(name: string, data: DoctorData, paint: Paint): string {
	const { anchor, damage, notices } = data;
	const lines = [
		paint("bold", safe(name)),
		`${anchor.format} · scope ${anchor.scope} · ${bytesText(anchor.bytes)} · ${plural(data.lines, "line")} · ${plural(anchor.records, "record")} · ${plural(anchor.messages, "message")}`,
		"",
	];
	if (damage.count === 0) lines.push("No damage found.");
	else {
		lines.push(paint("yellow", `${plural(damage.count, "finding")}, ${count(damage.on_anchor)} on the anchor`));
		for (const [kind, n] of Object.entries(damage.kinds)) lines.push(`  ${padEnd(kind, 16)}${padStart(count(n), 8)}`);
		const more = moreText(damage);
		if (more !== null) lines.push(paint("dim", more));
	}
	lines.push(verdictText(data, paint));
	if (damage.count > 0) {
		lines.push("", paint("dim", "        byte      line  kind            on the anchor"));
		for (const { kind, offset, line, on_anchor } of damage.first) {
			lines.push(
				`${padStart(String(offset), 12)}${padStart(String(line), 10)}  ${padEnd(kind, 16)}${on_anchor ? "yes" : "no"}`,
			);
		}
	}
	if (data.resume.count > 0) lines.push("", ...resumeLines(data, paint));
	const reasons = Object.entries(data.protected);
	if (reasons.length > 0)
		lines.push("", `Protected atoms: ${reasons.map(([reason, n]) => `${reason} ${count(n)}`).join(", ")}`);
	if (notices.length > 0) lines.push("", ...notices.map((notice) => `Notice: ${safe(notice)}`));
	return lines.join("\n");
}
