#!/usr/bin/env node
import { run } from "./program.js";
import { Shell } from "./shell.js";

const shell = new Shell();
shell.attach();
await run(shell, process.argv);
await shell.end();
