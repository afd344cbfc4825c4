/** Every action of the facade, in the order in which the schema lists them. */
import type { Action } from "./action.js";
import { inspect } from "./inspect.js";
import { locateRef } from "./locate-ref.js";
import { locateSearch } from "./locate-search.js";
import { measure } from "./measure.js";
import { planAdd } from "./plan-add.js";
import { planRead } from "./plan-read.js";
import { planRemove } from "./plan-remove.js";
import { planShow } from "./plan-show.js";
import { planUpdate } from "./plan-update.js";
import { recallList } from "./recall-list.js";
import { recallRead } from "./recall-read.js";

export const ACTIONS: readonly Action[] = [
	inspect,
	measure,
	locateRef,
	locateSearch,
	planShow,
	planRead,
	planAdd,
	planUpdate,
	planRemove,
	recallList,
	recallRead,
];
