#!/usr/bin/env node
import { requirePlatform, thisPlatform } from "../base/platform.ts";
import { AnswerLostError } from "./errors.ts";
import { exitStatusOf } from "./exitStatus.ts";
import { Output, outputMode } from "./output.ts";

noticeLostAnswer(process.argv.slice(2));
process.exitCode = await start(process.argv.slice(2));

/** Loads the command line only where it can run: its addons do not load everywhere. */
async function start(args: readonly string[]): Promise<number> {
  // Stacks name the sources, not the built files.
  process.setSourceMapsEnabled(true);
  try {
    requirePlatform(thisPlatform());
    const { runCommandLine } = await import("./commandLine.ts");
    return await runCommandLine(args);
  } catch (error) {
    new Output(outputMode(args, process.env)).error(error);
    return exitStatusOf(error);
  }
}

/** Has a command fail whose answer cannot be written. That its reader went away is no failure: it has what it wants. */
function noticeLostAnswer(args: readonly string[]): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return;
    process.once("exit", (status) => {
      const error = new AnswerLostError(`the command was carried out, but its answer cannot be written (${message})`);
      new Output(outputMode(args, process.env)).error(error);
      if (status === 0) process.exitCode = exitStatusOf(error);
    });
  });
}
