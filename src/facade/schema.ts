/** The schema of the one request envelope. */
import { Type } from "typebox";
import { ACTIONS } from "./actions.js";

/**
 * JSON Schema of `{"request":{"action":…}}`: a root object, and under `request` a union on `action` that is closed in every branch. Hosts hand it
 * to their models as the parameters of the tool. It is a TypeBox object, which is JSON Schema itself.
 */
export const requestSchema = Type.Object(
	{
		request: Type.Union(
			ACTIONS.map((action) => action.schema),
			{ description: "One action with its own fields; a field of another action is refused." },
		),
	},
	{ additionalProperties: false },
);
