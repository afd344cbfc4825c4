/** The demo session as JSONL text. */
export function demoSession(): string;
