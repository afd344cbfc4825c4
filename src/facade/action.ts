/** The form of one action of the facade. Adding one is one file that exports an {@link Action} and one line in `actions.ts`. */
import { type Static, type TInteger, type TObject, type TProperties, Type } from "typebox";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import { REPLY_BOUND } from "./text.js";
import type { Words } from "./words.js";

export interface Action {
	readonly name: string;
	/** Schema of the object under `request`: closed, with `action` as its discriminating constant. */
	readonly schema: TObject;
	/** Units of the reply's text at most (CONTRACT section 7). */
	readonly bound: number;
	/** Fields that callers look for here in vain: hints that say where to look instead. */
	readonly elsewhere: Readonly<Record<string, string>>;
	/** Answers a request that the schema accepted. Throws `MidcompactError` to refuse. */
	run(survey: Survey, request: object, words: Words): Promise<Answer>;
}

/** Makes an action from the fields it takes beside `action`; `run` sees them typed. `bound` is that of most replies unless it is given. */
export function defineAction<P extends TProperties>(definition: {
	name: string;
	description: string;
	fields: P;
	bound?: number;
	elsewhere?: Readonly<Record<string, string>>;
	run(survey: Survey, request: Static<TObject<P>>, words: Words): Promise<Answer>;
}): Action {
	const { name, description, fields, bound = REPLY_BOUND, elsewhere = {}, run } = definition;
	return {
		name,
		schema: Type.Object({ action: Type.Literal(name), ...fields }, { description, additionalProperties: false }),
		bound,
		elsewhere,
		run: (survey, request, words) => run(survey, request as Static<TObject<P>>, words),
	};
}

/** An integer that is clamped into its range, never refused for being outside; so the schema states the range only in words. */
export interface ClampedInteger {
	min: number;
	max: number;
	initial: number;
}

export function clampedInteger({ min, max, initial }: ClampedInteger, description: string): TInteger {
	return Type.Integer({ description: `${description} ${min}-${max}, default ${initial}; other numbers are clamped.` });
}

export function clamp(value: number | undefined, { min, max, initial }: ClampedInteger): number {
	return Math.min(max, Math.max(min, value ?? initial));
}

/** One of a few words. */
export function oneOf<T extends string>(words: readonly T[], description: string) {
	return Type.Unsafe<T>({ type: "string", enum: [...words], description });
}
