/** File names under which the host finds a session by its id. */

const FILE_NAME = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;

/** The session id that a file name says; null for a name under which the host finds nothing by an id. */
export function idInName(name: string): string | null {
	return FILE_NAME.exec(name)?.[1] ?? null;
}
