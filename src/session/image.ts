/** Image facts from a payload whose body is never decoded: bytes from its length, pixels from a few decoded bytes of its head. */
import { splitCutText } from "./cut-text.js";
import type { Part } from "./record.js";

type ImagePart = Extract<Part, { type: "image" }>;

/** UTF-16 units of a payload with white space in it among which its header is looked for. */
const HEAD_UNITS = 64 * 1024;
/** Units at the end of a payload among which its padding is looked for. */
const TAIL_UNITS = 64;
/** Units of a `data:` URL in front of its comma at most. */
const URL_HEAD_UNITS = 1024;
/** JPEG segments in front of the frame header at most; a dozen decoded bytes each. */
const JPEG_SEGMENTS = 512;
const UNKNOWN = "unknown";

/** Bytes `offset … offset + length - 1` of a payload's head; fewer where the head ends. */
type Peek = (offset: number, length: number) => Uint8Array;

interface Header {
	mime: string;
	width: number | null;
	height: number | null;
}

/**
 * Facts of a base64 payload. `bytes` is what the payload decodes to, white space and padding left out; a cut text counts with what it did not
 * load (its padding is unknown, so up to two bytes more). `width` and `height` are pixels as the header states them; null without a PNG,
 * JPEG, GIF or WebP header that states them. A null `mime` is taken from the header, else `unknown`. Null data: 0 bytes. Never throws.
 */
export function imagePart(mime: string | null, base64: string | null, from: ImagePart["from"]): ImagePart {
	if (base64 === null) return part(mime, 0, null, from);
	// Some writers store the whole URL where the payload belongs.
	if (base64.startsWith("data:")) {
		const image = imageFromUrl(base64, from);
		return mime === null ? image : { ...image, mime };
	}
	const { head, missing } = splitCutText(base64);
	return base64Part(mime, head, missing?.units ?? 0, from);
}

/** Facts of an image given by URL: a `data:` URL holds its payload, any other (and null) has 0 bytes and an unknown type here. Never throws. */
export function imageFromUrl(url: string | null, from: ImagePart["from"]): ImagePart {
	if (url === null || !/^data:/i.test(url)) return part(null, 0, null, from);
	const { head, missing } = splitCutText(url);
	const comma = head.slice(0, URL_HEAD_UNITS).indexOf(",");
	if (comma < 0) return part(null, 0, null, from);
	const [type, ...parameters] = head.slice("data:".length, comma).split(";");
	const mime = type.trim() === "" ? null : type.trim().toLowerCase();
	const payload = head.slice(comma + 1);
	const units = missing?.units ?? 0;
	if (parameters.some((p) => p.trim().toLowerCase() === "base64")) return base64Part(mime, payload, units, from);
	return percentPart(mime, payload, units, from);
}

function base64Part(mime: string | null, text: string, missing: number, from: ImagePart["from"]): ImagePart {
	const spaced = /\s/.test(text.slice(0, HEAD_UNITS)) || hasSpace(text);
	const units = (spaced ? text.length - (text.match(/\s/g)?.length ?? 0) : text.length) + missing;
	const padding = missing > 0 ? 0 : paddingOf(text);
	const head = spaced ? text.slice(0, HEAD_UNITS).replace(/\s+/g, "") : text;
	const peek: Peek = (offset, length) => {
		const first = Math.floor(offset / 3) * 4;
		const last = Math.ceil((offset + length) / 3) * 4;
		return Buffer.from(head.slice(first, last), "base64").subarray(offset % 3, (offset % 3) + length);
	};
	return part(mime, Math.floor(((units - padding) * 3) / 4), peek, from);
}

/** Padding at the end, which a line may break in two; no payload has more than two. */
function paddingOf(text: string): number {
	const end = /[=\s]*$/.exec(text.slice(-TAIL_UNITS))?.[0] ?? "";
	return Math.min(end.match(/=/g)?.length ?? 0, 2);
}

/** Whether a payload holds white space at all: four native searches cost far less than one regular expression over megabytes. */
function hasSpace(text: string): boolean {
	return text.length > HEAD_UNITS && ["\n", "\r", " ", "\t"].some((space) => text.includes(space));
}

function percentPart(mime: string | null, text: string, missing: number, from: ImagePart["from"]): ImagePart {
	let escapes = 0;
	for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", at + 1)) if (isEscape(text, at)) escapes++;
	const head: number[] = [];
	for (let at = 0; at < Math.min(text.length, URL_HEAD_UNITS); at++) {
		if (isEscape(text, at)) {
			head.push(Number.parseInt(text.slice(at + 1, at + 3), 16));
			at += 2;
		} else head.push(text.charCodeAt(at) & 0xff);
	}
	const bytes = Uint8Array.from(head);
	const peek: Peek = (offset, length) => bytes.subarray(offset, offset + length);
	return part(mime, Buffer.byteLength(text) - escapes * 2 + missing, peek, from);
}

function isEscape(text: string, at: number): boolean {
	return text.charCodeAt(at) === 0x25 && /^[\da-fA-F]{2}$/.test(text.slice(at + 1, at + 3));
}

function part(mime: string | null, bytes: number, peek: Peek | null, from: ImagePart["from"]): ImagePart {
	const header = peek === null ? null : readHeader(peek);
	return {
		type: "image",
		mime: mime ?? header?.mime ?? UNKNOWN,
		bytes: Math.max(bytes, 0),
		width: header?.width ?? null,
		height: header?.height ?? null,
		from,
	};
}

function readHeader(peek: Peek): Header | null {
	const start = peek(0, 32);
	if (ascii(start, 1, 4) === "PNG" && start[0] === 0x89) return png(start);
	if (start[0] === 0xff && start[1] === 0xd8) return jpeg(peek);
	if (/^GIF8[79]a$/.test(ascii(start, 0, 6))) return sized("image/gif", start, 10, little(start, 6), little(start, 8));
	if (ascii(start, 0, 4) === "RIFF" && ascii(start, 8, 12) === "WEBP") return webp(start);
	return null;
}

function png(b: Uint8Array): Header {
	const mime = "image/png";
	if (ascii(b, 12, 16) !== "IHDR") return { mime, width: null, height: null };
	return sized(mime, b, 24, big(b, 16) * 0x10000 + big(b, 18), big(b, 20) * 0x10000 + big(b, 22));
}

function webp(b: Uint8Array): Header {
	const mime = "image/webp";
	const chunk = ascii(b, 12, 16);
	if (chunk === "VP8 " && b[23] === 0x9d && b[24] === 0x01 && b[25] === 0x2a)
		return sized(mime, b, 30, little(b, 26) & 0x3fff, little(b, 28) & 0x3fff);
	if (chunk === "VP8L" && b[20] === 0x2f) {
		const bits = little(b, 21) + little(b, 23) * 0x10000;
		return sized(mime, b, 25, (bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
	}
	if (chunk === "VP8X")
		return sized(mime, b, 30, little(b, 24) + b[26] * 0x10000 + 1, little(b, 27) + b[29] * 0x10000 + 1);
	return { mime, width: null, height: null };
}

/** Walks the segments in front of the frame header by their lengths, so that a thumbnail inside EXIF is never taken for the image. */
function jpeg(peek: Peek): Header {
	const mime = "image/jpeg";
	let at = 2;
	for (let segment = 0; segment < JPEG_SEGMENTS; segment++) {
		const b = peek(at, 9);
		if (b.length < 4 || b[0] !== 0xff) break;
		const marker = b[1];
		if (marker === 0xff) at += 1;
		else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
		else if (marker === 0xd9 || marker === 0xda) break;
		else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
			return sized(mime, b, 9, big(b, 7), big(b, 5));
		else at += 2 + big(b, 2);
	}
	return { mime, width: null, height: null };
}

/** A header whose size fields end at byte `need`: null sizes where they are not there, or say 0. */
function sized(mime: string, b: Uint8Array, need: number, width: number, height: number): Header {
	const sound = b.length >= need && width > 0 && height > 0;
	return { mime, width: sound ? width : null, height: sound ? height : null };
}

function ascii(b: Uint8Array, from: number, to: number): string {
	return String.fromCharCode(...b.subarray(from, to));
}

function big(b: Uint8Array, at: number): number {
	return b[at] * 256 + b[at + 1];
}

function little(b: Uint8Array, at: number): number {
	return b[at] + b[at + 1] * 256;
}
