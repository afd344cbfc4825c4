import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CUT_HEAD, cutText } from "#src/session/cut-text.js";
import { imageFromUrl, imagePart } from "#src/session/image.js";

const be16 = (n: number) => [n >> 8, n & 255];
const le16 = (n: number) => [n & 255, n >> 8];
const le24 = (n: number) => [n & 255, (n >> 8) & 255, n >> 16];
const be32 = (n: number) => [n >>> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255];
const ascii = (text: string) => [...Buffer.from(text, "latin1")];

const png = (w: number, h: number) => [
	0x89,
	...ascii("PNG\r\n\x1a\n"),
	0,
	0,
	0,
	13,
	...ascii("IHDR"),
	...be32(w),
	...be32(h),
	8,
	6,
	0,
	0,
	0,
];
const gif = (w: number, h: number) => [...ascii("GIF89a"), ...le16(w), ...le16(h), 0xf7, 0, 0];
const riff = (chunk: string, body: number[]) => [
	...ascii("RIFF"),
	0,
	0,
	0,
	0,
	...ascii("WEBP"),
	...ascii(chunk),
	10,
	0,
	0,
	0,
	...body,
];
const vp8 = (w: number, h: number) => riff("VP8 ", [0x50, 0, 0, 0x9d, 0x01, 0x2a, ...le16(w | 0x4000), ...le16(h)]);
const vp8l = (w: number, h: number) => {
	const bits = w - 1 + (h - 1) * 0x4000;
	return riff("VP8L", [0x2f, bits & 255, (bits >> 8) & 255, (bits >> 16) & 255, (bits >>> 24) & 255]);
};
const vp8x = (w: number, h: number) => riff("VP8X", [0, 0, 0, 0, ...le24(w - 1), ...le24(h - 1)]);
const segment = (marker: number, body: number[]) => [0xff, marker, ...be16(body.length + 2), ...body];
const sof = (marker: number, w: number, h: number) => segment(marker, [8, ...be16(h), ...be16(w), 3, 1, 0x22, 0]);
const jpeg = (...segments: number[][]) => [0xff, 0xd8, ...segments.flat()];
/** An APP1 segment whose thumbnail is a JPEG of another size. */
const exif = (length: number) => {
	const thumbnail = jpeg(sof(0xc0, 160, 120));
	return segment(0xe1, [...ascii("Exif\0\0"), ...thumbnail, ...new Array(length).fill(0x55)]);
};

const base64 = (bytes: number[]) => Buffer.from(bytes).toString("base64");

const SIZED: [name: string, bytes: number[], mime: string, width: number, height: number][] = [
	["PNG", png(640, 480), "image/png", 640, 480],
	["PNG above 65,535 pixels", png(70_000, 3), "image/png", 70_000, 3],
	["GIF", gif(300, 7), "image/gif", 300, 7],
	["lossy WebP, scale bits left out", vp8(1024, 768), "image/webp", 1024, 768],
	["lossless WebP", vp8l(16_384, 9_999), "image/webp", 16_384, 9_999],
	["extended WebP", vp8x(100_000, 2), "image/webp", 100_000, 2],
	["baseline JPEG", jpeg(segment(0xe0, ascii("JFIF\0")), sof(0xc0, 800, 600)), "image/jpeg", 800, 600],
	["progressive JPEG", jpeg(segment(0xdb, new Array(65).fill(1)), sof(0xc2, 33, 44)), "image/jpeg", 33, 44],
	[
		"JPEG with a Huffman table in front",
		jpeg(segment(0xc4, new Array(30).fill(0xc0)), sof(0xc1, 5, 6)),
		"image/jpeg",
		5,
		6,
	],
	["JPEG with fill bytes", jpeg([0xff, 0xff, 0xff], sof(0xc0, 12, 13)), "image/jpeg", 12, 13],
	["JPEG behind EXIF with a thumbnail", jpeg(exif(2_000), sof(0xc0, 4032, 3024)), "image/jpeg", 4032, 3024],
	["JPEG behind 120 KB of metadata", jpeg(exif(60_000), exif(60_000), sof(0xc2, 4000, 3000)), "image/jpeg", 4000, 3000],
];

describe("image facts from a payload", () => {
	it.each(SIZED)("%s", (_name, bytes, mime, width, height) => {
		const expected = { type: "image", mime, bytes: bytes.length, width, height, from: "own" };
		expect(imagePart(null, base64(bytes), "own")).toEqual(expected);
		expect(imageFromUrl(`data:${mime};base64,${base64(bytes)}`, "own")).toEqual(expected);
	});

	it("keeps the type that the host gave and measures what is there", () => {
		expect(imagePart("image/heic", base64(png(3, 4)), "result")).toMatchObject({
			mime: "image/heic",
			width: 3,
			height: 4,
			from: "result",
		});
	});

	it("finds the size in a payload that is wrapped into lines", () => {
		const wrapped = base64(jpeg(exif(3_000), sof(0xc0, 21, 22))).replace(/.{76}/g, "$&\r\n");
		expect(imagePart(null, wrapped, "own")).toMatchObject({
			bytes: jpeg(exif(3_000), sof(0xc0, 21, 22)).length,
			width: 21,
			height: 22,
		});
	});

	it("takes padding that is broken over two lines for padding", () => {
		expect(imagePart(null, "AAAAAA=\n=\n", "own").bytes).toBe(4);
	});

	const NONE: [string, string | null][] = [
		["no data", null],
		["empty data", ""],
	];
	it.each(NONE)("%s is an image of 0 bytes", (_name, data) => {
		expect(imagePart(null, data, "own")).toEqual({
			type: "image",
			mime: "unknown",
			bytes: 0,
			width: null,
			height: null,
			from: "own",
		});
	});

	const NO_SIZE: [string, number[]][] = [
		["a PNG without IHDR", [0x89, ...ascii("PNG\r\n\x1a\n"), 0, 0, 0, 4, ...ascii("CgBI"), 0, 0, 0, 0, 0, 0, 0, 0]],
		["a PNG of width 0", png(0, 7)],
		["a JPEG whose scan starts without a frame", jpeg(segment(0xda, [1, 2, 3]), sof(0xc0, 9, 9))],
		["a JPEG that says height 0", jpeg(sof(0xc0, 9, 0))],
		["a WebP of an unknown chunk", riff("ABCD", new Array(20).fill(7))],
		["text", ascii("no image at all, just some text in base64")],
	];
	it.each(NO_SIZE)("%s has no size", (_name, bytes) => {
		expect(imagePart(null, base64(bytes), "own")).toMatchObject({ bytes: bytes.length, width: null, height: null });
	});

	it("counts what a cut payload did not load", () => {
		const head = base64([...png(2, 2), ...new Array(900_000).fill(0)]).slice(0, CUT_HEAD);
		const part = imagePart(null, cutText(head, 4_000_000, 4_000_000), "own");
		expect(part).toMatchObject({ bytes: ((CUT_HEAD + 4_000_000) * 3) / 4, width: 2, height: 2 });
	});

	it("truncated headers never give a size that is not there", () => {
		for (const [, bytes, mime, width, height] of SIZED)
			for (let length = 0; length < Math.min(bytes.length, 80); length++) {
				const part = imagePart(mime, base64(bytes.slice(0, length)), "own");
				expect(part.bytes).toBe(length);
				expect([null, width]).toContain(part.width);
				expect([null, height]).toContain(part.height);
			}
	});
});

describe("image facts from a URL", () => {
	it.each([null, "", "https://example.org/a.png", "file:///tmp/a.png", "data:image/png;base64"])(
		"%s has 0 bytes here",
		(url) => {
			expect(imageFromUrl(url, "own")).toMatchObject({ bytes: 0, mime: "unknown", width: null });
		},
	);

	it("decodes percent escapes of a URL without base64", () => {
		expect(imageFromUrl("data:image/svg+xml,%3Csvg%3E%C3%A9</svg>", "own")).toMatchObject({
			mime: "image/svg+xml",
			bytes: 13,
		});
		const escaped = gif(6, 7)
			.map((b) => `%${b.toString(16).padStart(2, "0")}`)
			.join("");
		expect(imageFromUrl(`data:,${escaped}`, "own")).toMatchObject({
			mime: "image/gif",
			bytes: gif(6, 7).length,
			width: 6,
			height: 7,
		});
	});

	it("reads a whole data URL that stands where a payload belongs", () => {
		expect(imagePart("image/png", `data:image/png;base64,${base64(png(8, 9))}`, "own")).toMatchObject({
			bytes: png(8, 9).length,
			width: 8,
			height: 9,
		});
	});
});

describe("any payload", () => {
	it("has exactly the bytes that it decodes to, white space or not", () => {
		fc.assert(
			fc.property(
				fc.uint8Array({ maxLength: 300 }),
				fc.boolean(),
				fc.nat(90),
				fc.constantFrom("\n", "\r\n", " ", "\t"),
				(data, padded, width, space) => {
					const text = Buffer.from(data).toString("base64");
					const bare = padded ? text : text.replace(/=+$/, "");
					const wrapped = width < 4 ? bare : bare.replace(new RegExp(`.{${width}}`, "g"), `$&${space}`);
					expect(imagePart(null, wrapped, "own").bytes).toBe(data.length);
				},
			),
		);
	});

	it("never throws and never takes long", () => {
		const head = fc.constantFrom(...SIZED.map(([, bytes]) => bytes.slice(0, 60)), [0xff, 0xd8, 0xff, 0xe0, 0, 0], []);
		const started = performance.now();
		fc.assert(
			fc.property(head, fc.uint8Array({ maxLength: 200 }), fc.string({ maxLength: 100 }), (start, rest, garbage) => {
				for (const text of [
					base64([...start, ...rest]),
					garbage,
					`data:${garbage}`,
					`data:image/png;base64,${garbage}`,
				]) {
					for (const part of [imagePart(null, text, "own"), imageFromUrl(text, "result")]) {
						expect(Number.isInteger(part.bytes) && part.bytes >= 0).toBe(true);
						expect(part.width === null).toBe(part.height === null);
					}
				}
			}),
			{ numRuns: 500 },
		);
		const fill = Buffer.alloc(6_000_000, 0xff);
		fill[1] = 0xd8;
		for (const text of [
			fill.toString("base64"),
			" ".repeat(4_000_000),
			"=".repeat(4_000_000),
			`data:,${"%41".repeat(1_000_000)}`,
		])
			expect(imagePart(null, text, "own").width).toBeNull();
		expect(performance.now() - started).toBeLessThan(20_000);
	});
});
