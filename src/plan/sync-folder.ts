import { open } from "node:fs/promises";

/** Makes a new name in a folder outlive a crash; where folders cannot be opened, as on Windows, the system sees to it. */
export async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, "r").catch(() => null);
	await handle?.sync().catch(() => {});
	await handle?.close().catch(() => {});
}
