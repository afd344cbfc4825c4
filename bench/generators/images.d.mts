import type { Random } from "./random.mjs";

/** An image as base64 with its true header; `bytes` are those of the decoded payload. */
export interface MadeImage {
	mime: string;
	data: string;
	bytes: number;
	width: number;
	height: number;
}

export class ImageMaker {
	constructor(random: Random);
	/** `length`: characters of base64, about. */
	make(length: number): MadeImage;
}
