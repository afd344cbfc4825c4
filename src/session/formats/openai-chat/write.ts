import { arrayWriter } from "../array-write.js";

export const openaiChatWriter = arrayWriter;
