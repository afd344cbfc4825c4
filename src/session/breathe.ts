/** Cooperative pauses: long loops on the main thread give the event loop a turn often enough that it never waits 50 ms. */
import { setImmediate } from "node:timers/promises";

/** Longest stretch of work between two turns of the event loop, in ms. */
const STRETCH_MS = 8;
/** Steps between two looks at the clock. */
const STEPS = 512;

/** When the event loop last had its turn, in ms: one for all loops, or loops that follow each other would add up. */
let lastTurn = 0;

/**
 * Returns a function to call once per step of a loop: `if (pause()) await breathe();`. It answers true when it is time to yield.
 * Asking is a counter and, every 512th time, a look at the clock: a step must be small.
 */
export function pacer(): () => boolean {
	let steps = 0;
	return () => ++steps % STEPS === 0 && performance.now() - lastTurn >= STRETCH_MS;
}

/** One turn of the event loop. */
export async function breathe(): Promise<void> {
	await setImmediate();
	lastTurn = performance.now();
}
