#!/usr/bin/env -S npx tsx
import { runCommandLine } from "./commandLine.ts";

process.exitCode = await runCommandLine(process.argv.slice(2));
