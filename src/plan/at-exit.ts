/** What must be taken away when the process ends in its own way. A process that a signal ends leaves it to those who find it. */

const undos = new Set<() => void>();

/** Has `undo` called when the process exits, where nothing can be waited for. Returns what makes it forgotten. */
export function atExit(undo: () => void): () => void {
	undos.add(undo);
	return () => void undos.delete(undo);
}

process.on("exit", () => {
	for (const undo of undos) {
		try {
			undo();
		} catch {
			// It is gone, or not ours any more.
		}
	}
});
