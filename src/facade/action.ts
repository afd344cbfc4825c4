/** The form of one action of the facade. Adding one is one file that exports an {@link Action} and one line in `actions.ts`. */
import { type Static, type TInteger, type TObject, type TProperties, Type } from "typebox";
import type { Answer } from "./reply.js";
import type { Survey } from "./survey.js";
import type { Words } from "./words.js";

export interface Action {
	readonly name: string;
	/** Schema of the object under `request`: closed, with `action` as its discriminating constant. */
	readonly schema: TObject;
	/** Answers a request that the schema accepted. Throws `MidcompactError` to refuse. */
	run(survey: Survey, request: object, words: Words): Promise<Answer>;
}

/** Makes an action from the fields it takes beside `action`; `run` sees them typed. */
export function defineAction<P extends TProperties>(definition: {
	name: string;
	description: string;
	fields: P;
	run(survey: Survey, request: Static<TObject<P>>, words: Words): Promise<Answer>;
}): Action {
	const { name, description, fields, run } = definition;
	return {
		name,
		schema: Type.Object({ action: Type.Literal(name), ...fields }, { description, additionalProperties: false }),
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
