/** Every action of the facade, in the order in which the schema lists them. */
import type { Action } from "./action.js";
import { inspect } from "./inspect.js";
import { locateRef } from "./locate-ref.js";
import { locateSearch } from "./locate-search.js";
import { measure } from "./measure.js";

export const ACTIONS: readonly Action[] = [inspect, measure, locateRef, locateSearch];
