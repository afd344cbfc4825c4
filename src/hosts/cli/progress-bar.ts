/** The progress bar on stderr: only on a terminal, and only for work that takes a while. */
import cliProgress from "cli-progress";
import type { Progress } from "../../engine/session.js";
import { bytesText } from "../../facade/text.js";

/** Work that ends within this time shows no bar, in ms. */
const DELAY = 400;

export interface ProgressBar {
	update(progress: Progress): void;
	/** Takes the bar off the terminal. Further updates are ignored. */
	stop(): void;
}

/** A bar for reading and, when `tokens` is true, for counting. */
export function progressBar(tokens: boolean): ProgressBar {
	if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
	const since = performance.now();
	const single = new cliProgress.SingleBar(
		{
			stream: process.stderr,
			format: (options, params, payload) =>
				`${payload.what} ${cliProgress.Format.BarFormat(params.progress, options)} ${Math.round(params.progress * 100)} % of ${payload.size}`,
			clearOnComplete: true,
			barsize: 30,
			linewrap: null,
		},
		cliProgress.Presets.shades_classic,
	);
	let stopped = false;
	return {
		update({ scan, tokens: counted, bytes }) {
			if (stopped || performance.now() - since < DELAY) return;
			const reading = scan < 1;
			if (!reading && !tokens) return;
			const payload = { what: reading ? "reading" : "counting tokens", size: bytesText(bytes) };
			if (!single.isActive) single.start(1, 0, payload);
			single.update(reading ? scan : counted, payload);
		},
		stop() {
			stopped = true;
			if (single.isActive) single.stop();
		},
	};
}
