#!/usr/bin/env node
import { addonFailure, requirePlatform, thisPlatform } from "../platform.ts";
import { exitStatusOf } from "./exitStatus.ts";
import { Output, outputMode } from "./output.ts";

process.exitCode = await start(process.argv.slice(2));

/** Loads the command line only where it can run: its addons do not load everywhere. */
async function start(args: readonly string[]): Promise<number> {
  // Stacks name the sources, not what was built from them.
  process.setSourceMapsEnabled(true);
  try {
    requirePlatform(thisPlatform());
    const { runCommandLine } = await import("./commandLine.ts").catch((cause: unknown) => {
      throw addonFailure(cause) ?? cause;
    });
    return await runCommandLine(args);
  } catch (error) {
    new Output(outputMode(args, process.env)).error(error);
    return exitStatusOf(error);
  }
}
