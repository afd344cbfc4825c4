/** Message arrays as programs keep them: OpenAI chat and Anthropic Messages. One branch; what only files can say (branches, compactions) is left out. */

function argumentsOf(call) {
	const { tool, before, after, ...rest } = call;
	return tool === "edit" ? { ...rest, old_string: before, new_string: after } : rest;
}

/** The events of the one branch that an array can hold. */
function* mainBranch(story) {
	let dead = false;
	for (const event of story.events()) {
		if (event.type === "branch" || event.type === "back") dead = event.type === "branch";
		else if (!dead) yield event;
	}
}

const counted = (progress, images) => {
	for (const image of images) {
		progress.images++;
		progress.imageBytes += image.data.length;
	}
	return images;
};

export function* openaiRecords({ story, random, progress }) {
	const dataUrl = (image) => ({ type: "image_url", image_url: { url: `data:${image.mime};base64,${image.data}` } });
	let ids = [];
	yield { role: "system", content: `You are a coding agent. ${story.texts.prose(1200)}` };
	for (const event of mainBranch(story)) {
		if (event.type === "user") {
			progress.atoms++;
			const images = counted(progress, event.images);
			const content = images.length > 0 ? [{ type: "text", text: event.text }, ...images.map(dataUrl)] : event.text;
			yield { role: "user", content };
		} else if (event.type === "assistant") {
			progress.atoms++;
			ids = event.calls.map(() => random.callId("call_"));
			if (ids.length === 0) yield { role: "assistant", content: event.text };
			else {
				const tool_calls = event.calls.map((call, n) => ({
					id: ids[n],
					type: "function",
					function: { name: call.tool, arguments: JSON.stringify(argumentsOf(call)) },
				}));
				yield { role: "assistant", content: event.text || null, tool_calls };
			}
		} else if (event.type === "results") {
			for (const [n, { text, images }] of event.results.entries()) {
				const parts = counted(progress, images).map(dataUrl);
				const content = parts.length > 0 ? [{ type: "text", text }, ...parts] : text;
				yield { role: "tool", tool_call_id: ids[n], content };
			}
		}
	}
}

export function* anthropicRecords({ story, random, progress }) {
	const block = (image) => ({ type: "image", source: { type: "base64", media_type: image.mime, data: image.data } });
	let ids = [];
	for (const event of mainBranch(story)) {
		if (event.type === "user") {
			progress.atoms++;
			const images = counted(progress, event.images);
			yield { role: "user", content: [{ type: "text", text: event.text }, ...images.map(block)] };
		} else if (event.type === "assistant") {
			progress.atoms++;
			ids = event.calls.map(() => random.callId("toolu_01"));
			const content = [];
			if (event.thinking) content.push({ type: "thinking", thinking: event.thinking, signature: random.hex(64) });
			if (event.text) content.push({ type: "text", text: event.text });
			for (const [n, call] of event.calls.entries())
				content.push({ type: "tool_use", id: ids[n], name: call.tool, input: argumentsOf(call) });
			yield { role: "assistant", content };
		} else if (event.type === "results") {
			yield {
				role: "user",
				content: event.results.map(({ text, images, error }, n) => ({
					type: "tool_result",
					tool_use_id: ids[n],
					content: [{ type: "text", text }, ...counted(progress, images).map(block)],
					...(error ? { is_error: true } : {}),
				})),
			};
		}
	}
}
