import { Command, CommanderError } from "commander";
import { translateError } from "../chain/translateError.ts";
import { withoutKeys } from "../redact.ts";
import { printable } from "../text.ts";
import { attestCommand } from "./commands/attest.ts";
import { auditCommand } from "./commands/audit.ts";
import { checkCommand } from "./commands/check.ts";
import { compileCommand } from "./commands/compile.ts";
import { conformCommand } from "./commands/conform.ts";
import { depositCommand } from "./commands/deposit.ts";
import { resultCommand } from "./commands/result.ts";
import { runCommand } from "./commands/run.ts";
import { stakeCommand } from "./commands/stake.ts";
import { standInDeviceCommand } from "./commands/standInDevice.ts";
import { standInManufacturerCommand } from "./commands/standInManufacturer.ts";
import { statusCommand } from "./commands/status.ts";
import { submitCommand } from "./commands/submit.ts";
import { unstakeCommand } from "./commands/unstake.ts";
import { watcherCommand } from "./commands/watcher.ts";
import { withdrawCommand } from "./commands/withdraw.ts";
import { workerCommand } from "./commands/worker.ts";
import { reportError } from "./reportError.ts";

/**
 * Runs the command line.
 * @returns The exit status: 0, or 1 with one clear line on stderr, or with the stack of an error that nobody expected.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = new Command("refute")
    .description("Refutable ML inference: serve, watch, buy")
    .addCommand(workerCommand())
    .addCommand(watcherCommand())
    .addCommand(submitCommand())
    .addCommand(resultCommand())
    .addCommand(statusCommand())
    .addCommand(depositCommand())
    .addCommand(attestCommand())
    .addCommand(stakeCommand())
    .addCommand(unstakeCommand())
    .addCommand(withdrawCommand())
    .addCommand(standInManufacturerCommand())
    .addCommand(standInDeviceCommand())
    .addCommand(compileCommand())
    .addCommand(checkCommand())
    .addCommand(runCommand())
    .addCommand(conformCommand())
    .addCommand(auditCommand())
    .showHelpAfterError("(--help shows all options)");
  // What is not understood is repeated, and may be a key in the wrong place.
  const outputError = (text: string, write: (text: string) => void): void =>
    write(
      withoutKeys(text)
        .split("\n")
        .map((line) => printable(line))
        .join("\n"),
    );
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput({ outputError });
  try {
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode;
    return reportError(translateError(thrown, "the command"));
  }
}
