/** Prints `PASSED FAILED` of a vitest JSON report; a report that is missing, empty or fails outside its tests is one failure. */
import { readFileSync } from "node:fs";

function counts(path) {
	let report;
	try {
		report = JSON.parse(readFileSync(path, "utf8"));
	} catch {
		return [0, 1];
	}
	const { numPassedTests: passed, numFailedTests: failed, success } = report;
	return [passed, failed === 0 && (!success || passed === 0) ? 1 : failed];
}

console.log(counts(process.argv[2]).join(" "));
