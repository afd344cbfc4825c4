/** A JSON value as text, however deep it is: `JSON.parse` reads nesting on which `JSON.stringify` overflows the stack. */
import { isObject, type JsonObject, type JsonValue } from "./record.js";

/** The same text as `JSON.stringify(value)`. */
export function jsonText(value: JsonValue): string {
	try {
		return JSON.stringify(value);
	} catch (thrown) {
		if (!(thrown instanceof RangeError)) throw thrown;
		return withoutRecursion(value);
	}
}

/** An array or object whose members are being written. */
interface Open {
	members: (readonly [key: string | null, value: JsonValue])[];
	next: number;
	close: "]" | "}";
}

function withoutRecursion(value: JsonValue): string {
	const out: string[] = [];
	const stack: Open[] = [];
	const write = (one: JsonValue) => {
		if (Array.isArray(one)) {
			out.push("[");
			stack.push({ members: one.map((member) => [null, member] as const), next: 0, close: "]" });
		} else if (isObject(one)) {
			out.push("{");
			stack.push({ members: membersOf(one), next: 0, close: "}" });
		} else {
			out.push(JSON.stringify(one));
		}
	};
	write(value);
	for (let top = stack.at(-1); top; top = stack.at(-1)) {
		if (top.next === top.members.length) {
			out.push(top.close);
			stack.pop();
			continue;
		}
		if (top.next > 0) out.push(",");
		const [key, member] = top.members[top.next++];
		if (key !== null) out.push(JSON.stringify(key), ":");
		write(member);
	}
	return out.join("");
}

function membersOf(object: JsonObject): Open["members"] {
	return Object.entries(object).flatMap(([key, member]) => (member === undefined ? [] : [[key, member] as const]));
}

/** Arguments of a call as content: a string as it is stored, anything else as JSON; null, or none at all, is no text (RULINGS 21). */
export function argumentsText(value: JsonValue | undefined): string | null {
	if (value === undefined || value === null) return null;
	return typeof value === "string" ? value : jsonText(value);
}
