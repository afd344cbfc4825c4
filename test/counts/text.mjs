/** What the counts of all formats share: code points, and a running tally. Whole texts in memory, no engine code. */

/** Unicode code points; a lone surrogate counts as one. */
export const codePoints = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Arguments as text: the string as stored, else its JSON; none when there are none. */
export function argumentsText(value) {
	if (value === null || value === undefined) return [];
	return [typeof value === "string" ? value : JSON.stringify(value)];
}

/** Texts, calls, results and images of one message. */
export function emptyContent() {
	return { texts: [], calls: 0, results: 0, images: 0 };
}

/**
 * Adds up a list of `{role, sent, content}`. System messages stand apart; what is not sent counts as a message and with nothing else.
 * `orphaned` content (an attachment without a message to hang on) adds chars and images but no message.
 */
export function tally(messages) {
	const sum = {
		messages: 0,
		system: 0,
		systemChars: 0,
		chars: 0,
		calls: 0,
		results: 0,
		images: 0,
		unsent: 0,
		roles: {},
	};
	for (const { role, sent, content } of messages) {
		const chars = content.texts.reduce((n, text) => n + codePoints(text), 0);
		if (role === "system") {
			sum.system++;
			sum.systemChars += chars;
			continue;
		}
		if (role !== "attachment") {
			sum.messages++;
			sum.roles[role] = (sum.roles[role] ?? 0) + 1;
		}
		if (!sent) {
			sum.unsent++;
			continue;
		}
		sum.chars += chars;
		sum.calls += content.calls;
		sum.results += content.results;
		sum.images += content.images;
	}
	return sum;
}

/** Lines of a JSONL text: the objects, and the number of lines that hold none. */
export function parseLines(text) {
	const objects = [];
	let damaged = 0;
	for (const line of text.replace(/^\ufeff/, "").split("\n")) {
		if (line.trim() === "") continue;
		try {
			const value = JSON.parse(line);
			if (isObject(value)) objects.push(value);
			else damaged++;
		} catch {
			damaged++;
		}
	}
	return { objects, damaged };
}
