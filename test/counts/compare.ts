/** An open session beside the independent count of its file. */
import { expect } from "vitest";
import { ATOM } from "#src/atoms/table.js";
import type { Session, Survey } from "#src/index.js";
import type { SessionCount } from "./count.mjs";

/** What the engine says of a session, in the words of the count. */
export function engineCount({ survey }: Session) {
	const { atoms, format, system, table } = survey;
	let images = 0;
	let chars = 0;
	let unsent = 0;
	for (let atom = 0; atom < atoms.length; atom++) {
		if (atoms.has(atom, ATOM.SENT)) {
			chars += atoms.chars.at(atom);
			images += atoms.images.at(atom);
		} else unsent++;
	}
	const messages = messagesOf(survey);
	return { format, records: table.records, messages, chars, images, unsent, system: system.messages };
}

function messagesOf({ branch }: Survey): number {
	let messages = 0;
	for (let m = 0; m < branch.messages.length; m++) if (branch.messages.roleOf(m) !== "system") messages++;
	return messages;
}

/** The fields of a count that the engine must equal. */
export function comparable({ format, records, messages, chars, images, unsent, system }: SessionCount) {
	return { format, records, messages, chars, images, unsent, system };
}

/** Every message that is no system message stands in exactly one atom, and every atom in exactly one group. */
export function expectSumsToAddUp(survey: Survey): void {
	const { atoms, groups } = survey;
	expect(atoms.messageStart.at(0)).toBe(0);
	for (let atom = 0; atom < atoms.length; atom++)
		expect(atoms.messageStart.at(atom + 1)).toBeGreaterThan(atoms.messageStart.at(atom));
	expect(atoms.messageStart.at(atoms.length)).toBe(messagesOf(survey));
	expect(groups.parts.at(-1)?.to ?? 0).toBe(atoms.length);
	groups.parts.forEach((part, n) => {
		expect(part.from).toBe(groups.parts[n - 1]?.to ?? 0);
	});
}
