/**
 * CyberStrike#146, pi#1441, senpi PR#233: tools of this kind counted an image's base64 as text, or an image as nothing. Here an image is an image,
 * and base64 that stands in a text is text.
 */
import { expect, it } from "vitest";
import { type FormatName, openSession } from "#src/index.js";
import { ImageMaker } from "../../bench/generators/images.mjs";
import { Random } from "../../bench/generators/random.mjs";

const image = new ImageMaker(new Random(11)).make(40_000);
const RUN = image.data.slice(0, 20_000);

/** The two messages of a format: an image with the text "look" beside it, and a result that is a run of base64 for a call `read {}`. */
const SESSIONS: Partial<Record<FormatName, object[]>> = {
	pi: [
		{
			role: "user",
			content: [
				{ type: "text", text: "look" },
				{ type: "image", data: image.data, mimeType: image.mime },
			],
		},
		{ role: "assistant", content: [{ type: "toolCall", id: "c1", name: "read", arguments: {} }] },
		{ role: "toolResult", toolCallId: "c1", toolName: "read", content: [{ type: "text", text: RUN }] },
	].map((message, n) => ({ type: "message", id: `e${n}`, parentId: n === 0 ? null : `e${n - 1}`, message })),
	"openai-chat": [
		{
			role: "user",
			content: [
				{ type: "text", text: "look" },
				{ type: "image_url", image_url: { url: `data:image/png;base64,${image.data}` } },
			],
		},
		{
			role: "assistant",
			content: null,
			tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
		},
		{ role: "tool", tool_call_id: "c1", content: RUN },
	],
	anthropic: [
		{
			role: "user",
			content: [
				{ type: "text", text: "look" },
				{ type: "image", source: { type: "base64", media_type: "image/png", data: image.data } },
			],
		},
		{ role: "assistant", content: [{ type: "tool_use", id: "c1", name: "read", input: {} }] },
		{ role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: RUN }] },
	],
};

it.each(Object.entries(SESSIONS))(
	"%s: an image block has bytes and no chars, a run of base64 in a result has chars",
	async (format, messages) => {
		const session = await openSession(messages, {
			format: format as FormatName,
			background: { tokens: true, index: false },
		});
		try {
			await session.ready();
			const { atoms, table, tokens } = session.survey;
			expect(atoms.length).toBe(2);
			expect([atoms.images.at(0), atoms.imageBytes.at(0), atoms.chars.at(0)]).toEqual([1, image.bytes, "look".length]);
			expect([table.imageWidth.at(0), table.imageHeight.at(0)]).toEqual([image.width, image.height]);
			expect(tokens.ofAtom(0)).toBe(1);
			expect([atoms.images.at(1), atoms.chars.at(1)]).toEqual([0, "read{}".length + RUN.length]);
			expect(tokens.ofAtom(1)).toBeGreaterThan(RUN.length / 4);
		} finally {
			await session.close();
		}
	},
);
