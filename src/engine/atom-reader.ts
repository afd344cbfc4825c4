/** Texts of atoms, rendered in a worker from bytes that are read back: bodies never stand on the main thread. */
import type { ViewResult, ViewTask } from "../../workers/view.js";
import type { Anchor } from "../atoms/build.js";
import type { AtomText, TextView } from "../facade/survey.js";
import type { RowSource } from "../session/rows.js";
import type { RecordTable } from "../session/table.js";
import { atomPlaces } from "./places.js";
import type { WorkerPool } from "./pool.js";
