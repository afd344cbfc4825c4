import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { requestSchema } from "#src/facade/schema.js";
import { validateEnvelope } from "#src/facade/validate.js";

interface Node {
	type?: string;
	description?: string;
	properties?: Record<string, Node>;
	additionalProperties?: boolean;
	anyOf?: Node[];
	items?: Node;
}
const plain = JSON.parse(JSON.stringify(requestSchema)) as Node;
const NAMES = [
	"inspect",
	"measure",
	"locate_ref",
	"locate_search",
	"plan_show",
	"plan_read",
	"plan_add",
	"plan_update",
	"plan_remove",
	"recall_list",
	"recall_read",
];
const actions = plain.properties?.request.anyOf ?? [];

describe("the request schema", () => {
	it("is a closed object that holds a closed union of the actions there are", () => {
		expect(plain).toMatchObject({ type: "object", required: ["request"], additionalProperties: false });
		expect(actions.map((action) => action.properties?.action)).toMatchObject(
			NAMES.map((name) => ({ type: "string", const: name })),
		);
		for (const action of actions) expect(action).toMatchObject({ type: "object", additionalProperties: false });
	});

	it("describes every action and every field", () => {
		const walk = (node: Node, path: string) => {
			for (const [name, field] of Object.entries(node.properties ?? {})) {
				if (name !== "action") expect(field.description, `${path}.${name}`).toMatch(/\w/);
				walk(field, `${path}.${name}`);
			}
			if (node.items) walk(node.items, `${path}[]`);
		};
		for (const action of actions) {
			expect(action.description).toMatch(/\w/);
			walk(action, action.properties?.action.description ?? "action");
		}
	});

	it("states no range that a host would enforce, since numbers out of range are clamped", () => {
		expect(JSON.stringify(requestSchema)).not.toMatch(/"(minimum|maximum)"/);
	});

	// The facade explains what is wrong in its own words; this keeps its verdict equal to the schema's.
	it.each([
		{ request: { action: "inspect" } },
		{ request: { action: "inspect", page_size: 3, cursor: "x" } },
		{ request: { action: "inspect", page_size: 1.5 } },
		{ request: { action: "inspect", page_size: "3" } },
		{ request: { action: "inspect", cursor: null } },
		{ request: { action: "inspect", pattern: "x" } },
		{ request: { action: "measure", candidates: [] } },
		{ request: { action: "measure", candidates: [{ start: "a0001", end: "a0002" }] } },
		{ request: { action: "measure", candidates: [{ start: "a0001", end: 2 }] } },
		{ request: { action: "measure", candidates: [{ start: "a0001", end: "a0002", x: 1 }] } },
		{ request: { action: "locate_ref", ref: "a0001", detail: "full" } },
		{ request: { action: "locate_ref", ref: "a0001", detail: "FULL" } },
		{ request: { action: "locate_search", pattern: "x", source: "tool_call", direction: "newest", limit: 9 } },
		{ request: { action: "locate_search", source: "system" } },
		{ request: { action: "plan_show" } },
		{ request: { action: "plan_show", range_id: "d1" } },
		{ request: { action: "plan_read", range_id: "d1" } },
		{ request: { action: "plan_read" } },
		{ request: { action: "plan_add", start: "a0001", end: "a0002", summary: "", topic: "x" } },
		{ request: { action: "plan_add", start: "a0001", end: "a0002", topic: null } },
		{ request: { action: "plan_add", start: "a0001" } },
		{ request: { action: "plan_update", range_id: "d1", summary: "x" } },
		{ request: { action: "plan_update", range_id: "d1", summary: "x", end: "a0001" } },
		{ request: { action: "plan_remove", range_id: 1 } },
		{ request: { action: "recall_list", pattern: "x", limit: 99 } },
		{ request: { action: "recall_list", limit: "8" } },
		{ request: { action: "recall_read", block: "c0001", detail: "full" } },
		{ request: { action: "recall_read", block: "c0001", detail: "whole" } },
		{ request: { action: "commit" } },
		{ request: {} },
		{ request: [] },
		{},
	])("agrees with the facade on %j", (envelope) => {
		const accepted = () => {
			try {
				validateEnvelope(envelope);
				return true;
			} catch {
				return false;
			}
		};
		expect(accepted()).toBe(Value.Check(requestSchema, envelope));
	});
});
