/** Names of rollouts: Codex finds a session by nothing else. */

const NAME =
	/^rollout-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;

/** The name of a new rollout; Codex writes the local time into it. */
export function fileName(id: string, now: Date): string {
	const two = (n: number) => String(n).padStart(2, "0");
	const date = [String(now.getFullYear()).padStart(4, "0"), two(now.getMonth() + 1), two(now.getDate())].join("-");
	const time = [two(now.getHours()), two(now.getMinutes()), two(now.getSeconds())].join("-");
	return `rollout-${date}T${time}-${id}.jsonl`;
}

/** The session id in a file name; null when Codex does not find a file of that name. */
export function idInName(name: string): string | null {
	const [, day, hour, minute, second, id] = NAME.exec(name) ?? [];
	return id === undefined || Number.isNaN(Date.parse(`${day}T${hour}:${minute}:${second}Z`)) ? null : id;
}
