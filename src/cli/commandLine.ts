import { Command, CommanderError } from "commander";
import { translateError } from "../chain/translateError.ts";
import { withoutKeys } from "../redact.ts";
import { attestCommand } from "./commands/attest.ts";
import { askCommand } from "./commands/ask.ts";
import { auditCommand } from "./commands/audit.ts";
import { calibrateCommand } from "./commands/calibrate.ts";
import { canaryCommand } from "./commands/canary.ts";
import { cancelCommand } from "./commands/cancel.ts";
import { checkCommand } from "./commands/check.ts";
import { compileCommand } from "./commands/compile.ts";
import { completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { conformCommand } from "./commands/conform.ts";
import { deployCommand } from "./commands/deploy.ts";
import { deployExamsCommand } from "./commands/deployExams.ts";
import { deployTicketsCommand } from "./commands/deployTickets.ts";
import { classesCommand } from "./commands/classes.ts";
import { examCommand } from "./commands/exam.ts";
import { depositCommand } from "./commands/deposit.ts";
import { devnetCommand } from "./commands/devnet.ts";
import { quoteCommand } from "./commands/quote.ts";
import { dispatchCommand } from "./commands/dispatch.ts";
import { dongleCommand } from "./commands/dongle.ts";
import { expireCommand } from "./commands/expire.ts";
import { identifyCommand } from "./commands/identify.ts";
import { reclaimCommand } from "./commands/reclaim.ts";
import { pledgeCommand } from "./commands/pledge.ts";
import { releaseCommand } from "./commands/release.ts";
import { resultCommand } from "./commands/result.ts";
import { runCommand } from "./commands/run.ts";
import { serveCommand } from "./commands/serve.ts";
import { stakeCommand } from "./commands/stake.ts";
import { standInDeviceCommand } from "./commands/standInDevice.ts";
import { standInManufacturerCommand } from "./commands/standInManufacturer.ts";
import { statusCommand } from "./commands/status.ts";
import { submitCommand } from "./commands/submit.ts";
import { trainCommand } from "./commands/train.ts";
import { ticketsCommand } from "./commands/tickets.ts";
import { tdxCommand } from "./commands/tdx.ts";
import { unpledgeCommand } from "./commands/unpledge.ts";
import { unstakeCommand } from "./commands/unstake.ts";
import { watcherCommand } from "./commands/watcher.ts";
import { withdrawCommand } from "./commands/withdraw.ts";
import { workerCommand } from "./commands/worker.ts";
import { workersCommand } from "./commands/workers.ts";
import { UsageError } from "./errors.ts";
import { ExitStatus, exitStatusOf } from "./exitStatus.ts";
import { addExamples, addGlobalOptions } from "./globalOptions.ts";
import { Output, outputMode } from "./output.ts";

/** The commands by what they are about, in the order of the help. */
const COMMANDS = {
  "Models, without a chain:": [
    checkCommand,
    runCommand,
    trainCommand,
    auditCommand,
    compileCommand,
    calibrateCommand,
    conformCommand,
  ],
  "Jobs:": [
    quoteCommand,
    submitCommand,
    dispatchCommand,
    resultCommand,
    statusCommand,
    workersCommand,
    cancelCommand,
    expireCommand,
    reclaimCommand,
    canaryCommand,
  ],
  "Serving and watching:": [workerCommand, watcherCommand],
  "Answers off chain:": [serveCommand, askCommand, pledgeCommand, unpledgeCommand, ticketsCommand],
  "An account:": [
    depositCommand,
    identifyCommand,
    attestCommand,
    releaseCommand,
    classesCommand,
    examCommand,
    tdxCommand,
    stakeCommand,
    unstakeCommand,
    withdrawCommand,
  ],
  "A market:": [deployCommand, deployExamsCommand, deployTicketsCommand],
  "Development networks:": [devnetCommand, standInManufacturerCommand, standInDeviceCommand, dongleCommand],
  "This command line:": [configCommand, completionCommand],
} satisfies Record<string, readonly ((output: Output) => Command)[]>;

/**
 * Runs the command line.
 * @returns the exit status (docs/cli.md). If it is not 0, stderr has one clear line.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const output = new Output(outputMode(args, process.env));
  try {
    await commandTree(output).parseAsync([...args], { from: "user" });
    return ExitStatus.done;
  } catch (thrown) {
    // Help and version were printed.
    if (thrown instanceof CommanderError) return ExitStatus.done;
    const error = translateError(thrown, "the command");
    output.error(error);
    return exitStatusOf(error);
  }
}

/** All commands. */
function commandTree(output: Output): Command {
  const program = new Command("refute").description("Refutable ML inference: serve, watch, buy").usage("COMMAND ...");
  for (const [group, commands] of Object.entries(COMMANDS))
    for (const command of commands) program.addCommand(command(output).helpGroup(group));
  program.helpCommand(false);
  addExamples(program, "check model.onnx", "run model.onnx --input x=x.npy --compare", "submit --help");
  const all = [program, ...program.commands.flatMap((command) => [command, ...command.commands])];
  for (const command of all) configure(addGlobalOptions(command), output);
  return program;
}

/** Errors of parsing become errors as any others; help and version go where answers go. */
function configure(command: Command, output: Output): void {
  const name = fullName(command);
  command
    .configureOutput({ outputError: () => {}, writeErr: () => {}, writeOut: (text) => output.page(text) })
    .exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      if (error.code === "commander.help") throw new UsageError("no command is given; refute --help lists them");
      // What is not understood is repeated, and may be a key in the wrong place.
      const what = withoutKeys(error.message)
        .replace(/^error: /, "")
        .replace(/\s*\n\s*/g, " ");
      throw new UsageError(`${what}; ${name} --help shows all ${command.parent === null ? "commands" : "options"}`);
    });
}

/** A command with the names of those that it is part of. */
const fullName = (command: Command): string =>
  command.parent === null ? "refute" : `${fullName(command.parent)} ${command.name()}`;
