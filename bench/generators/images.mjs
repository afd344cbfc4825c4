/** Images as sessions hold them: base64 of a PNG with a true header; what the pixels would be is noise. */
import { crc32 } from "node:zlib";

const POOL_BYTES = 3 * 512 * 1024;

function chunk(type, data) {
	const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
	const head = Buffer.alloc(4);
	head.writeUInt32BE(data.length);
	const tail = Buffer.alloc(4);
	tail.writeUInt32BE(crc32(body));
	return Buffer.concat([head, body, tail]);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function header(width, height, depth, colour) {
	const data = Buffer.alloc(13);
	data.writeUInt32BE(width, 0);
	data.writeUInt32BE(height, 4);
	data[8] = depth;
	data[9] = colour;
	return Buffer.concat([SIGNATURE, chunk("IHDR", data)]);
}

/** A whole PNG from already compressed image data (a zlib stream). */
export function png(width, height, depth, colour, compressed) {
	return Buffer.concat([
		header(width, height, depth, colour),
		chunk("IDAT", compressed),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

export class ImageMaker {
	#random;
	#pool;

	constructor(random) {
		this.#random = random;
		const noise = Buffer.alloc(POOL_BYTES);
		for (let i = 0; i < POOL_BYTES; i += 4) noise.writeUInt32LE(random.next(), i);
		this.#pool = noise.toString("base64");
	}

	/** `{mime, data, bytes, width, height}` with about `length` characters of base64. */
	make(length) {
		const r = this.#random;
		const [width, height] = [r.between(200, 2400), r.between(150, 1600)];
		// Cut from the pool at multiples of four, so that the parts join without padding between them.
		const middle = Math.min(Math.max(4, length - 80 - (length % 4)), this.#pool.length - 4096);
		const body = middle - (middle % 4);
		const from = 4 * r.int((this.#pool.length - body) / 4);
		const bodyBytes = (body / 4) * 3;
		const start = Buffer.concat([header(width, height, 8, 6), Buffer.alloc(9)]);
		start.writeUInt32BE(bodyBytes + 1, 33);
		start.write("IDAT", 37, "latin1");
		start[41] = 0x78;
		const end = Buffer.concat([Buffer.alloc(4, 0x5a), chunk("IEND", Buffer.alloc(0))]);
		const data = start.toString("base64") + this.#pool.slice(from, from + body) + end.toString("base64");
		return { mime: "image/png", data, bytes: start.length + bodyBytes + end.length, width, height };
	}
}
