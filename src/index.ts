/** The public API. */
export type { Lead } from "./atoms/groups.js";
export type { AtomKind, Protocol, Reason, Source } from "./atoms/table.js";
export type { Progress, Session } from "./engine/session.js";
export { createEngine, type Engine, type EngineOptions, type OpenOptions, openSession } from "./engine.js";
export { type ErrorCode, type ErrorInfo, MidcompactError } from "./errors.js";
export type { ErrorReply, OkReply, Reply } from "./facade/reply.js";
export { requestSchema } from "./facade/schema.js";
export type { Survey } from "./facade/survey.js";
export type { Encoding } from "./measure/encodings.js";
export type { Scope } from "./session/branch.js";
export type { DamageKind } from "./session/damage.js";
export type { FormatName, Role } from "./session/record.js";
