/** Numbers that mean something: with a unit behind them (`250 ms`, `12.5 MB`, `3 failed`) or a word before them (`port 8080`, `exit code 1`). */

/** One form for all spellings of a unit. */
const UNITS: ReadonlyMap<string, string> = new Map(
	Object.entries({
		"%": "% percent",
		ns: "ns nanoseconds",
		µs: "µs us microseconds",
		ms: "ms msec millisecond milliseconds",
		s: "s sec secs second seconds",
		min: "min mins minute minutes",
		h: "h hr hrs hour hours",
		days: "d day days",
		weeks: "week weeks",
		bytes: "b byte bytes",
		KB: "kb",
		MB: "mb",
		GB: "gb",
		TB: "tb",
		KiB: "kib",
		MiB: "mib",
		GiB: "gib",
		Hz: "hz",
		kHz: "khz",
		MHz: "mhz",
		GHz: "ghz",
		px: "px pixels",
		fps: "fps",
		x: "x ×",
		tokens: "token tokens",
		lines: "line lines",
		rows: "row rows",
		files: "file files",
		tests: "test tests",
		passed: "passed passing",
		failed: "failed failing",
		skipped: "skipped",
		errors: "error errors",
		warnings: "warning warnings",
		insertions: "insertion insertions",
		deletions: "deletion deletions",
		commits: "commit commits",
		requests: "request requests",
		users: "user users",
	}).flatMap(([unit, spellings]) => spellings.split(" ").map((spelling) => [spelling, unit] as const)),
);

const NUMBER = /[$€~]?(\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,15})(\.\d{1,9})?/y;
const UNIT = /[ \u00a0-]?(%|×|[a-zµ]{1,12})(?![\w])/iy;
const WORD_BEFORE =
	/(?:^|[^\w])(port|exit code|exit status|status code|status|http|errno|signal)["' \u00a0]?[:= ]?[ \u00a0]?$/i;
const HOST_PORT = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):(\d{2,5})(?!\d)/;
/** Units looked at before a number. */
const BEFORE = 16;

/** The number that starts at unit `at`, where a word of the text starts, in one form (`1,200 msec` is `1200 ms`); null for a number without meaning. `end`: unit behind it. */
export function numberAt(text: string, at: number): { item: string; end: number } | null {
	const port = HOST_PORT.exec(text.slice(at, at + 24));
	if (port) return { item: `port ${port[1]}`, end: at + port[0].length };
	NUMBER.lastIndex = at;
	const found = NUMBER.exec(text);
	if (!found) return null;
	const number = found[1].replaceAll(",", "") + (found[2] ?? "");
	const end = NUMBER.lastIndex;
	UNIT.lastIndex = end;
	const spelled = UNIT.exec(text);
	const unit = spelled && UNITS.get(spelled[1].toLowerCase());
	if (spelled && unit) return { item: withUnit(number, unit), end: UNIT.lastIndex };
	const next = text.charCodeAt(end);
	if (isWord(next)) return null;
	// `$1` is a parameter of a script.
	if (/^[$€]\d[\d,.]/.test(found[0])) return { item: found[0][0] + number, end };
	const before = found[2] === undefined && WORD_BEFORE.exec(text.slice(Math.max(0, at - BEFORE), at));
	return before ? { item: `${before[1].toLowerCase()} ${number}`, end } : null;
}

function withUnit(number: string, unit: string): string {
	if (unit === "%" || unit === "x") return number + unit;
	return `${number} ${number === "1" ? unit.replace(/^([a-z]{3,})s$/, "$1") : unit}`;
}

function isWord(unit: number): boolean {
	return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) || unit === 95;
}
