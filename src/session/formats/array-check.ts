/** What the checks of the two message array formats share: findings, and the rules that hold for both APIs. */
import type { DamageKind } from "../damage.js";
import type { JsonObject, JsonValue } from "../record.js";
import type { RecordFinding, ResumeFinding, ResumeView } from "../resume.js";
import type { RecordTable } from "../table.js";
import { brokenStringIn, loneSurrogateAt } from "../well-formed.js";

/** Findings about a whole array that are kept. */
const KEPT = 1_000;
/** UTF-16 units of an excerpt on either side of what it shows. */
const AROUND = 12;
/** Characters of an id, a role or a name that are shown. */
const SHOWN = 60;

/** Damage after which a program that parses the file as a whole gets nothing; the others cost single characters or nothing. */
const UNREADABLE: ReadonlySet<DamageKind> = new Set<DamageKind>([
	"torn_tail",
	"invalid_json",
	"not_an_object",
	"glued",
	"spliced",
	"nul_run",
]);

export function refused(rule: string, message: string): RecordFinding {
	return { rule, severity: "refused", message };
}

/** Findings about rows of a table, in bounded number. */
export class ArrayFindings {
	readonly list: ResumeFinding[] = [];
	readonly #table: RecordTable;

	constructor(table: RecordTable) {
		this.#table = table;
	}

	add(row: number, rule: string, message: string): void {
		if (this.list.length >= KEPT) return;
		const place = row < 0 ? { offset: null, entry: null } : this.#placeOf(row);
		this.list.push({ ...refused(rule, message), ...place });
	}

	#placeOf(row: number): { offset: number; entry: string } {
		return { offset: this.#table.start.at(row), entry: this.#table.entryOf(row) };
	}
}

/** What neither API is sent at all: a file that does not read as JSON, or that holds no message. */
export function addFileFindings(findings: ArrayFindings, { table, branch }: ResumeView): void {
	const damage = table.damage.first.find(({ kind }) => UNREADABLE.has(kind));
	if (damage)
		findings.add(-1, "damaged", `The file does not read as a whole: ${damage.kind} at byte ${damage.offset}.`);
	if (branch.messages.length === 0)
		findings.add(-1, "no_messages", "The array holds no message beside system messages.");
}

/** Rows of the elements up to the end of the branch. */
export function* elementRows({ table, branch }: ResumeView): Generator<number> {
	for (let row = 0; row <= branch.leaf; row++) if (table.record.at(row) >= 0) yield row;
}

/** A string with half a character is no text that an API takes. */
export function surrogateFindings(record: JsonObject): RecordFinding[] {
	const broken = brokenStringIn(record);
	if (broken === null) return [];
	const at = loneSurrogateAt(broken);
	const excerpt = JSON.stringify(broken.slice(Math.max(at - AROUND, 0), at + AROUND));
	return [refused("lone_surrogate", `Half a character stands in ${excerpt}.`)];
}

/** An id, role or name as a message shows it. */
export function shown(value: JsonValue | undefined): string {
	if (value === undefined) return "none";
	const text = typeof value === "object" && value !== null ? "an object" : JSON.stringify(value);
	return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
