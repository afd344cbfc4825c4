/** Messages to atoms (CONTRACT section 5). Works on columns alone: no text is looked at. */

import { type Branch, MESSAGE, MessageList } from "../session/branch.js";
import { breathe, pacer } from "../session/breathe.js";
import { FLAG } from "../session/record.js";
import { RecordTable } from "../session/table.js";
import { type ExchangeFacts, judgeExchange, type Protocols, readProtocols } from "./protocol.js";
import { ATOM, type AtomKind, AtomTable, type Protocol, type Reason, SOURCES } from "./table.js";
import { orderTurns } from "./turns.js";

/** The atoms, the messages in the order they refer to (system messages left out), and the rows of the system messages. */
export interface Anchor {
	atoms: AtomTable;
	messages: MessageList;
	system: { messages: number; chars: number; rows: number[] };
}

/** Builds the atoms of a branch; yields to the event loop. */
export async function buildAtoms(table: RecordTable, branch: Branch): Promise<Anchor> {
	const builder = new AtomBuilder(table, branch);
	await builder.run();
	return { atoms: builder.atoms, messages: builder.messages, system: builder.system };
}

const SINGLE_KINDS: Record<string, AtomKind> = {
	user: "user",
	assistant: "assistant",
	bash: "bash",
	summary: "summary",
	custom: "custom",
	other: "other",
	tool_result: "orphan_result",
};

class AtomBuilder {
	readonly atoms = new AtomTable();
	readonly messages = new MessageList();
	readonly system = { messages: 0, chars: 0, rows: [] as number[] };
	readonly #table: RecordTable;
	readonly #branch: Branch;
	/** Messages of the branch in sending order, without system messages. */
	#order: Int32Array = new Int32Array();
	#protocols: Protocols | null = null;

	constructor(table: RecordTable, branch: Branch) {
		this.#table = table;
		this.#branch = branch;
	}

	async run(): Promise<void> {
		const pause = pacer();
		const list = this.#branch.messages;
		const order: number[] = [];
		for (let m = 0; m < list.length; m++) {
			if (pause()) await breathe();
			if (list.roleOf(m) === "system") this.#countSystem(m);
			else order.push(m);
		}
		this.#protocols = await readProtocols(this.#table, list, Int32Array.from(order));
		this.#order =
			this.#branch.adjacency === "turn" ? await orderTurns(list, order, this.#protocols) : Int32Array.from(order);
		for (let i = 0; i < this.#order.length; ) {
			if (pause()) await breathe();
			i = this.#take(i);
		}
	}

	#countSystem(message: number): void {
		this.system.messages++;
		for (const row of this.#branch.messages.rowsOf(message)) {
			this.system.rows.push(row);
			this.system.chars += this.#table.chars.at(row);
		}
	}

	/** Makes the atom that starts at position `at` of the order; returns the position behind it. */
	#take(at: number): number {
		const list = this.#branch.messages;
		const protocols = this.#protocols as Protocols;
		const message = this.#order[at];
		if (list.roleOf(message) === "assistant" && protocols.callsOf(message).length > 0) {
			const exchange = judgeExchange(protocols, this.#order, at);
			this.#push("tool_exchange", exchange.protocol, this.#order.subarray(at, exchange.end), exchange);
			return exchange.end;
		}
		const kind = this.#flagsOf(message) & FLAG.BLOCK ? "block" : SINGLE_KINDS[list.roleOf(message)];
		// A result inside an assistant message whose call is not in it belongs to nobody (claude-code#65098).
		const stray = kind === "assistant" && protocols.resultsOf(message).length > 0;
		const protocol: Protocol = kind === "orphan_result" ? "orphan" : stray ? "ambiguous" : "none";
		this.#push(kind, protocol, this.#order.subarray(at, at + 1), null);
		return at + 1;
	}

	#push(kind: AtomKind, protocol: Protocol, members: Int32Array, exchange: ExchangeFacts | null): void {
		const list = this.#branch.messages;
		let chars = 0;
		let images = 0;
		let imageBytes = 0;
		let flags = 0;
		let sent = false;
		let missing = false;
		let userText = false;
		for (const message of members) {
			const marks = list.marks.at(message);
			if ((marks & MESSAGE.UNSENT) === 0) sent = true;
			if (marks & MESSAGE.MISSING_ENTRY) missing = true;
			const own = this.#flagsOf(message);
			flags |= own;
			if (list.roleOf(message) !== "assistant" && own & FLAG.WORDS && !(own & FLAG.HOST)) userText = true;
			for (const row of list.rowsOf(message)) {
				chars += this.#table.chars.at(row);
				const [from, to] = RecordTable.rangeOf(this.#table.imageRow, row);
				images += to - from;
				for (let i = from; i < to; i++) imageBytes += this.#table.imageBytes.at(i);
			}
			this.messages.push(list.roleOf(message), [...list.rowsOf(message)], marks, [...list.entriesOf(message)]);
		}
		const host = kind === "user" && (flags & FLAG.HOST) !== 0;
		const leads = (kind === "user" && !host && (flags & FLAG.WORDS) !== 0) || kind === "summary";
		const words = kind === "tool_exchange" && userText;
		this.atoms.push({
			kind,
			protocol,
			reason: reasonOf(kind, protocol, missing),
			marks: (sent ? ATOM.SENT : 0) | (words ? ATOM.USER_TEXT : 0) | (host ? ATOM.HOST : 0) | (leads ? ATOM.LEADS : 0),
			sources: sourcesOf(kind, words, exchange, this.#assistantText(members)),
			messageEnd: this.messages.length,
			chars,
			images,
			imageBytes,
		});
	}

	#assistantText(members: Int32Array): boolean {
		const list = this.#branch.messages;
		for (const message of members) {
			if (list.roleOf(message) === "assistant" && this.#flagsOf(message) & FLAG.TEXT) return true;
		}
		return false;
	}

	/** Flags of all rows that are the message's own, attachments aside. */
	#flagsOf(message: number): number {
		let flags = 0;
		for (const row of this.#branch.messages.rowsOf(message)) {
			const own = this.#table.flags.at(row);
			if ((own & FLAG.ATTACHED) === 0) flags |= own;
		}
		return flags;
	}
}

function reasonOf(kind: AtomKind, protocol: Protocol, missing: boolean): Reason | null {
	if (protocol === "ambiguous") return "ambiguous_tool_protocol";
	if (protocol === "orphan") return "orphan_result";
	if (kind === "summary" || kind === "custom" || kind === "other") return "unsupported_kind";
	if (missing) return "missing_entry";
	return kind === "block" ? "committed_block" : null;
}

/** An assistant message without calls is always the assistant's; an exchange only when the assistant says something in it. */
function sourcesOf(kind: AtomKind, userText: boolean, exchange: ExchangeFacts | null, assistantText: boolean): number {
	const held = {
		user: kind === "user" || userText,
		assistant: kind === "assistant" || (kind === "tool_exchange" && assistantText),
		tool_call: kind === "tool_exchange",
		tool_result: kind === "orphan_result" || (exchange?.results ?? 0) > 0,
	};
	return SOURCES.reduce((bits, source, i) => (held[source] ? bits | (1 << i) : bits), 0);
}
