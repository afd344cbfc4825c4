/** A Pi extension for the test: writes down what the context hook gets, and makes entries that only an extension can make. */
import { appendFileSync } from "node:fs";

export default function capture(pi) {
	pi.on("context", (event, ctx) => {
		const line = { leaf: ctx.sessionManager.getLeafId(), messages: event.messages };
		appendFileSync(process.env.CAPTURE_FILE, `${JSON.stringify(line)}\n`);
	});

	pi.on("before_agent_start", (event) =>
		event.messageType === "user" && event.prompt.includes("with a note")
			? { message: { customType: "capture.note", content: "A NOTE BESIDE THE PROMPT", display: false } }
			: undefined,
	);

	// Edits are drafts that a boundary hook returns; a command can only leave the wish.
	let wanted = [];
	pi.on("agent_before_settle", (event) => {
		if (wanted.length === 0) return undefined;
		const edits = wanted.map((edit) => ({ type: "context_edit", ...edit }));
		wanted = [];
		return { entries: [...event.entries, ...edits] };
	});

	const messageOf = (ctx, role, holds) =>
		ctx.sessionManager
			.getBranch()
			.find((e) => e.type === "message" && e.message.role === role && JSON.stringify(e.message).includes(holds));

	/** `ROLE WORD drop` or `ROLE WORD TEXT…`: edit the first message of that role that holds the word, when the agent settles next. */
	pi.registerCommand("c:edit", {
		handler: async (args, ctx) => {
			const [role, holds, ...words] = args.split(" ");
			const target = messageOf(ctx, role, holds);
			if (!target) throw new Error(`no ${role} message holds ${holds}`);
			const content = words.join(" ");
			wanted.push({ targetId: target.id, replacement: content === "drop" ? null : { content } });
		},
	});

	pi.registerCommand("c:message", {
		handler: async (args) =>
			pi.sendMessage({ customType: "capture.message", content: args, display: true, details: { n: 1 } }),
	});

	pi.registerCommand("c:entry", { handler: async (args) => pi.appendEntry("capture.state", { args }) });

	/** `ROLE WORD`: go back to that message, with a summary of the branch that is left. */
	pi.registerCommand("c:back", {
		handler: async (args, ctx) => {
			const [role, holds] = args.split(" ");
			await ctx.navigateTree(messageOf(ctx, role, holds).id, { summarize: true });
		},
	});

	pi.registerTool({
		name: "mark",
		label: "Mark",
		description: "Appends an entry while it runs",
		parameters: { type: "object", properties: {} },
		async execute() {
			pi.appendEntry("capture.state", { from: "tool" });
			return { content: [{ type: "text", text: "marked" }], details: {} };
		},
	});
}
