/** Which of a session's slots is the one of a file: found again when the file was renamed, rewritten or moved, and not confused with that of a copy. */
import { stat } from "node:fs/promises";
import { isMissing } from "./state-root.js";

/** Where a file stands and what the system knows it by. The numbers are decimal: inodes may be beyond what a number holds. */
export interface Place {
	/** Real path. */
	path: string;
	device: string;
	inode: string;
	/** Nanoseconds since 1970 at which the file was made, 0 where the system does not tell; by it a file differs from another one that was given its inode later. */
	born: string;
}

export interface SlotPlace {
	/** Null: unknown, and never the file that is looked for. */
	place: Place | null;
	/** When that was written, in milliseconds since 1970. */
	seen: number;
}

/** The file that stands at a real path; null for none. Other errors of the system are thrown. */
export async function standsAt(path: string): Promise<Place | null> {
	try {
		const { dev, ino, birthtimeNs } = await stat(path, { bigint: true });
		return { path, device: String(dev), inode: String(ino), born: String(birthtimeNs) };
	} catch (cause) {
		if (isMissing(cause)) return null;
		throw cause;
	}
}

/** The slot of the file at `here`, null for none. `moved`: its place must be written anew. */
export async function pickSlot<S extends SlotPlace>(
	slots: readonly S[],
	here: Place,
): Promise<{ known: S; moved: boolean } | null> {
	const placed = slots.filter((slot): slot is S & { place: Place } => slot.place !== null);
	const atPath = placed.filter(({ place }) => place.path === here.path).sort((a, b) => b.seen - a.seen);
	const same = atPath.find(({ place }) => isSameFile(place, here));
	if (same) return { known: same, moved: false };

	const gone = new Map<string, S & { place: Place }>();
	for (const known of placed) {
		const { path } = known.place;
		if (path === here.path) continue;
		const there = await standsAt(path).catch(() => "unknown" as const);
		// Where one file was renamed over another, both slots say the same path, and the later one is right.
		if (there === null && (gone.get(path)?.seen ?? 0) <= known.seen) gone.set(path, known);
		if (!isSameFile(known.place, here)) continue;
		// Another name of one file.
		if (there !== null && there !== "unknown" && isSameFile(there, here)) return { known, moved: false };
		// Renamed. Where its old path is taken, that is certain only if the system tells when files were made: else a copy may have the inode of what was rewritten.
		if (there === null || here.born !== "0") return { known, moved: true };
	}
	// The host rewrote the file under its name.
	if (atPath.length > 0) return { known: atPath[0], moved: !isAsRecorded(atPath[0].place, here) };
	// Moved to another file system, or copied and deleted. Of several it cannot be told which one.
	const [only, ...others] = gone.values();
	return only && others.length === 0 ? { known: only, moved: true } : null;
}

/** File systems that do not number their files say 0. */
function isSameFile(a: Place, b: Place): boolean {
	return a.inode !== "0" && a.inode === b.inode && a.device === b.device && a.born === b.born;
}

function isAsRecorded(a: Place, b: Place): boolean {
	return a.path === b.path && a.inode === b.inode && a.device === b.device && a.born === b.born;
}
