/** Sending order of hosts that merge consecutive user-side messages into one turn: its results come first (RULINGS 9, 13). */

import type { MessageList } from "../session/branch.js";
import { breathe, pacer } from "../session/breathe.js";
import { OpenCalls, type Protocols } from "./protocol.js";

/** The order with each assistant message's own results moved directly behind it; everything else stays as it was. */
export async function orderTurns(
	list: MessageList,
	order: readonly number[],
	protocols: Protocols,
): Promise<Int32Array> {
	const pause = pacer();
	const sorted = new Int32Array(order.length);
	let filled = 0;
	for (let at = 0; at < order.length; ) {
		if (pause()) await breathe();
		const message = order[at++];
		sorted[filled++] = message;
		if (list.roleOf(message) !== "assistant" || protocols.callsOf(message).length === 0) continue;
		const open = new OpenCalls(protocols, message);
		const later: number[] = [];
		for (; at < order.length && list.roleOf(order[at]) !== "assistant"; at++) {
			if (open.gather(order[at])) sorted[filled++] = order[at];
			else later.push(order[at]);
		}
		for (const other of later) sorted[filled++] = other;
	}
	return sorted;
}
