/** Characters: Unicode code points (CONTRACT section 6). */
import { splitCutText } from "./cut-text.js";

const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** Code points of a text; a lone surrogate counts as one. Includes what a cut text did not load. */
export function codePoints(text: string): number {
	const { head, missing } = splitCutText(text);
	return countCodePoints(head) + (missing?.chars ?? 0);
}

function countCodePoints(text: string): number {
	// V8 knows that a one-byte string holds no surrogate: the test costs nothing for most texts.
	if (!HIGH_SURROGATE.test(text)) return text.length;
	let pairs = 0;
	for (let i = 0; i < text.length - 1; i++) {
		const a = text.charCodeAt(i);
		if (a < 0xd800 || a > 0xdbff) continue;
		const b = text.charCodeAt(i + 1);
		if (b >= 0xdc00 && b <= 0xdfff) {
			pairs++;
			i++;
		}
	}
	return text.length - pairs;
}
