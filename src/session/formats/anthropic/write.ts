import { arrayWriter } from "../array-write.js";

export const anthropicWriter = arrayWriter;
