/**
 * Search index on deterministic text: build speed, memory, lookups and candidates for pages of several sizes, and what the plan chooses.
 * Usage: node bench/search.mjs [M_CHARS]   (20 unless given)
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pageChars } from "../dist/src/search/pages.js";
import { INDEX_BUDGET, TrigramIndex } from "../dist/src/search/trigram-index.js";
import { HARD, random, sessionTexts } from "./corpus.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const millions = Number(process.argv[2] ?? 20);
const heapBytes = () => {
	collect();
	const { heapUsed, arrayBuffers } = process.memoryUsage();
	return heapUsed + arrayBuffers;
};
const number = (value, digits = 1) => value.toFixed(digits).padStart(9);

/** Cuts texts into pages of about so many units. */
function pagesOf(texts, units) {
	const pages = [[]];
	let size = 0;
	for (const text of texts) {
		// Makes a text that was put together from pieces one piece of memory, so that the index is not billed for it.
		text.charCodeAt(0);
		if (size >= units) {
			pages.push([]);
			size = 0;
		}
		pages[pages.length - 1].push(text);
		size += text.length;
	}
	return pages;
}

/** Pieces of the texts in mixed case, 4 to 24 units, and as many that occur nowhere. */
function patternsOf(texts, count) {
	const next = random(99);
	const present = [];
	while (present.length < count) {
		const text = texts[Math.floor(next() * texts.length)];
		const length = 4 + Math.floor(next() * 21);
		const from = Math.floor(next() * Math.max(1, text.length - length));
		const piece = text.slice(from, from + length);
		if (piece.length === length) present.push(next() < 0.5 ? piece.toUpperCase() : piece);
	}
	const absent = present.map((piece) => [...piece].reverse().join(""));
	return { present, absent };
}

function measure(name, texts, units, patterns) {
	const total = texts.reduce((sum, text) => sum + text.length, 0);
	const pages = pagesOf(texts, units);
	const before = heapBytes();
	const index = new TrigramIndex(Number.POSITIVE_INFINITY);
	const started = performance.now();
	pages.forEach((page, i) => {
		index.add(i, [page]);
	});
	const build = performance.now() - started;
	const heap = heapBytes() - before;
	const ask = (list) => {
		const from = performance.now();
		const candidates = list.reduce(
			(sum, pattern) => sum + (index.candidates(pattern, pages.length)?.length ?? pages.length),
			0,
		);
		return { ms: (performance.now() - from) / list.length, share: (100 * candidates) / list.length / pages.length };
	};
	const present = ask(patterns.present);
	const absent = ask(patterns.absent);
	const cells = [
		number(units / 1024, 0),
		number(pages.length, 0),
		number(total / build / 1000),
		number(index.postings / pages.length, 0),
		number(index.postings / pages.length / Math.sqrt(total / pages.length)),
		number(index.terms, 0),
		number(heap / 1e6),
		number(index.bytes / 1e6),
		number(present.ms, 2),
		number(present.share),
		number(absent.share),
	];
	console.log(`${name.padEnd(16)}${cells.join("")}`);
	return heap;
}

const HEADS = [
	"page Kc",
	"pages",
	"Mc/s",
	"postings",
	"per root",
	"terms",
	"heap MB",
	"est. MB",
	"ms",
	"hit %",
	"miss %",
];
const texts = sessionTexts(millions * 1e6);
const patterns = patternsOf(texts, 200);
console.log(`${millions} M characters of session text, Node ${process.version}`);
console.log(`${"".padEnd(16)}${HEADS.map((head) => head.padStart(9)).join("")}`);
for (const units of [4, 16, 64, 256, 1024]) measure("session", texts, units * 1024, patterns);
for (const kind of ["unbroken base64", "random CJK"]) {
	const hard = HARD[kind](4e6);
	measure(kind, hard, 64 * 1024, patternsOf(hard, 50));
}
console.log(`\nPlan for a budget of ${INDEX_BUDGET / 1024 / 1024} MB:`);
for (const total of [1e6, 1e7, 7e7, 2e8, 1e9, 4e9]) {
	const units = pageChars(total, INDEX_BUDGET);
	console.log(
		`${number(total / 1e6, 0)} M characters: ${number(units / 1024, 0)} Kc a page, ${number(total / units, 0)} pages`,
	);
}
