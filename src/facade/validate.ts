/** Checks an envelope against the schema and says what is wrong in words that name the field. */
import type { TSchema } from "typebox";
import { MidcompactError } from "../errors.js";
import { isObject } from "../session/record.js";
import type { Action } from "./action.js";
import { ACTIONS } from "./actions.js";
import { oneLine, quoted } from "./text.js";

/** An action and the fields that its schema accepted. A field that is `undefined` is a field left out. */
export interface ValidRequest {
	action: Action;
	request: object;
}

/** Errors: `invalid_request`, `unknown_action`, `unknown_field`, `missing_field`, `invalid_field`. */
export function validateEnvelope(envelope: unknown, actions: readonly Action[] = ACTIONS): ValidRequest {
	const known = `Actions: ${actions.map((action) => action.name).join(", ")}.`;
	if (typeof envelope === "string") {
		throw new MidcompactError(
			"invalid_request",
			"The request is a string, not an object.",
			"Send the object itself, not its JSON text.",
		);
	}
	if (!isObject(envelope))
		throw new MidcompactError("invalid_request", `The request is ${article(envelope)}, not an object.`);
	const strange = presentKeys(envelope).find((key) => key !== "request");
	if (!Object.hasOwn(envelope, "request") || envelope.request === undefined) {
		throw new MidcompactError(
			"invalid_request",
			strange === undefined
				? 'The envelope has no field "request".'
				: `The envelope has ${quoted(strange)} where "request" belongs.`,
		);
	}
	if (strange !== undefined) {
		throw new MidcompactError(
			"unknown_field",
			`The envelope has the unknown field ${quoted(strange)}.`,
			'It takes only "request".',
		);
	}
	const { request } = envelope;
	if (typeof request === "string") {
		throw new MidcompactError(
			"invalid_request",
			'"request" is a string, not an object.',
			"Send the object itself, not its JSON text.",
		);
	}
	if (!isObject(request))
		throw new MidcompactError("invalid_request", `"request" is ${article(request)}, not an object.`);
	const name = Object.hasOwn(request, "action") ? request.action : undefined;
	if (name === undefined) throw new MidcompactError("missing_field", 'The request has no field "action".', known);
	if (typeof name !== "string") {
		throw new MidcompactError("invalid_field", `Field "action" must be a string, got ${article(name)}.`, known);
	}
	const action = actions.find((candidate) => candidate.name === name);
	if (!action) throw new MidcompactError("unknown_action", `There is no action ${quoted(name)}.`, known);
	checkObject(action.schema, request, null, action);
	return { action, request };
}

/** The keywords of JSON Schema that the actions use. */
interface Keywords {
	type?: string;
	const?: unknown;
	enum?: readonly unknown[];
	properties?: Record<string, TSchema>;
	required?: readonly string[];
	items?: TSchema;
	minItems?: number;
}

/** Where a value stands: its name, and the place of the object or array around it. Written out only when there is something to say about it. */
interface Place {
	within: Place | null;
	/** A number is an index of an array. */
	name: string | number;
}

function checkObject(schema: TSchema, value: object, place: Place | null, action: Action): void {
	const { properties = {}, required = [] }: Keywords = schema;
	const fields = value as Record<string, unknown>;
	for (const name in fields) {
		if (!Object.hasOwn(fields, name) || fields[name] === undefined || Object.hasOwn(properties, name)) continue;
		const own = Object.keys(properties).filter((known) => known !== "action");
		const path = pathOf({ within: place, name: oneLine(name, 80) });
		const of = place === null ? "" : ` of ${pathOf(place)}`;
		const known = own.length === 0 ? `${action.name} takes no fields.` : `Fields${of}: ${own.join(", ")}.`;
		const hint = place === null && Object.hasOwn(action.elsewhere, name) ? action.elsewhere[name] : known;
		throw new MidcompactError("unknown_field", `${action.name} has no field "${path}".`, hint);
	}
	for (const name of required) {
		if (Object.hasOwn(fields, name) && fields[name] !== undefined) continue;
		const path = pathOf({ within: place, name });
		const hint = `Add "${path}": ${describe(properties[name])}.`;
		throw new MidcompactError("missing_field", `${action.name} needs the field "${path}".`, hint);
	}
	for (const name in properties) {
		const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
		if (field !== undefined) check(properties[name], field, { within: place, name }, action);
	}
}

function check(schema: TSchema, value: unknown, place: Place, action: Action): void {
	const { type, const: constant, enum: words, items, minItems = 0 }: Keywords = schema;
	const refuse = () =>
		new MidcompactError(
			"invalid_field",
			`Field "${pathOf(place)}" must be ${describe(schema)}, got ${gotText(value)}.`,
		);
	if (type === "object") {
		if (!isObject(value)) throw refuse();
		checkObject(schema, value, place, action);
	} else if (type === "array") {
		if (!Array.isArray(value) || value.length < minItems) throw refuse();
		// A plain loop, because a hole of an array is a value too: undefined.
		for (let i = 0; items && i < value.length; i++) check(items, value[i], { within: place, name: i }, action);
	} else if (constant !== undefined) {
		if (value !== constant) throw refuse();
	} else if (words) {
		if (!words.includes(value)) throw refuse();
	} else if (type === "integer") {
		if (!Number.isInteger(value)) throw refuse();
	} else if (typeof value !== type) throw refuse();
}

function pathOf({ within, name }: Place): string {
	const before = within === null ? "" : pathOf(within);
	if (typeof name === "number") return `${before}[${name}]`;
	return before === "" ? name : `${before}.${name}`;
}

/** What a field takes, in words. */
function describe(schema: TSchema): string {
	const { type, enum: words, minItems = 0, properties }: Keywords = schema;
	if (words) return `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;
	if (type === "array")
		return minItems > 0 ? `an array with at least ${minItems === 1 ? "one item" : `${minItems} items`}` : "an array";
	if (type === "object") return `an object with ${Object.keys(properties ?? {}).join(" and ")}`;
	return type === "integer" ? "an integer" : `a ${type}`;
}

function gotText(value: unknown): string {
	if (Array.isArray(value) && value.length === 0) return "an empty array";
	return typeof value === "string" ? `the string ${quoted(value)}` : quoted(value);
}

function article(value: unknown): string {
	if (value === null || value === undefined) return String(value);
	return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** In-memory callers write `undefined` for a field that they leave out. */
function presentKeys(value: object): string[] {
	return Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [key]));
}
