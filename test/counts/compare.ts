/** An open session beside the independent count of its file. */
import { expect } from "vitest";
import { ATOM } from "#src/atoms/table.js";
import type { Session, Survey } from "#src/index.js";
import type { SessionCount } from "./count.mjs";

/** What the engine says of a session, in the words of the count. */
export function engineCount({ survey }: Session) {
	const { branch, table } = survey;
	let system = 0;
	let images = 0;
	for (let message = 0; message < branch.messages.length; message++)
		if (branch.messages.roleOf(message) === "system") system++;
	let chars = 0;
	let unsent = 0;
	for (let atom = 0; atom < survey.atoms.length; atom++) {
		if (survey.atoms.has(atom, ATOM.SENT)) {
			chars += survey.atoms.chars.at(atom);
			images += survey.atoms.images.at(atom);
		} else unsent++;
	}
	return {
		format: survey.format,
		records: table.records,
		messages: branch.messages.length - system,
		chars,
		images,
		unsent,
	};
}

/** The fields of a count that the engine must equal. */
export function comparable({ format, records, messages, chars, images, unsent }: SessionCount) {
	return { format, records, messages, chars, images, unsent };
}

/** Every message that is no system message stands in exactly one atom, and every atom in exactly one group. */
export function expectSumsToAddUp({ atoms, branch, groups }: Survey): void {
	const system = Array.from({ length: branch.messages.length }, (_, m) => branch.messages.roleOf(m) === "system");
	const end = atoms.messageStart.at(atoms.length);
	const start = atoms.messageStart.at(0);
	expect(start).toBe(0);
	for (let atom = 0; atom < atoms.length; atom++)
		expect(atoms.messageStart.at(atom + 1)).toBeGreaterThan(atoms.messageStart.at(atom));
	expect(end).toBe(system.filter((is) => !is).length);
	expect(groups.parts.at(-1)?.to ?? 0).toBe(atoms.length);
	groups.parts.forEach((part, n) => {
		expect(part.from).toBe(groups.parts[n - 1]?.to ?? 0);
	});
}
