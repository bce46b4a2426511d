import { Command, CommanderError } from "commander";
import { RefuteError } from "../base/errors.ts";
import { addonFailure } from "../base/platform.ts";
import { withoutKeys } from "../base/redact.ts";
import { UsageError } from "./errors.ts";
import { ExitStatus, exitStatusOf } from "./exitStatus.ts";
import { addExamples, addGlobalOptions } from "./globalOptions.ts";
import { helpDocument } from "./helpDocument.ts";
import { Output, outputMode } from "./output.ts";

/** The group of the commands that tell of all others. */
const ABOUT_ALL = "This command line:";

type Load = () => Promise<(output: Output) => Command>;

/**
 * The commands by what they are about, in the order of the help. Each is loaded when it is needed: all that they import
 * together takes more than half a second to load.
 */
const COMMANDS = {
  "Models, without a chain:": {
    check: async () => (await import("./commands/check.ts")).checkCommand,
    run: async () => (await import("./commands/run.ts")).runCommand,
    train: async () => (await import("./commands/train.ts")).trainCommand,
    audit: async () => (await import("./commands/audit.ts")).auditCommand,
    compile: async () => (await import("./commands/compile.ts")).compileCommand,
    calibrate: async () => (await import("./commands/calibrate.ts")).calibrateCommand,
    conform: async () => (await import("./commands/conform.ts")).conformCommand,
  },
  "Jobs:": {
    quote: async () => (await import("./commands/quote.ts")).quoteCommand,
    pack: async () => (await import("./commands/pack.ts")).packCommand,
    submit: async () => (await import("./commands/submit.ts")).submitCommand,
    dispatch: async () => (await import("./commands/dispatch.ts")).dispatchCommand,
    panel: async () => (await import("./commands/panel.ts")).panelCommand,
    result: async () => (await import("./commands/result.ts")).resultCommand,
    "panel-result": async () => (await import("./commands/panelResult.ts")).panelResultCommand,
    status: async () => (await import("./commands/status.ts")).statusCommand,
    workers: async () => (await import("./commands/workers.ts")).workersCommand,
    cancel: async () => (await import("./commands/cancel.ts")).cancelCommand,
    expire: async () => (await import("./commands/expire.ts")).expireCommand,
    reclaim: async () => (await import("./commands/reclaim.ts")).reclaimCommand,
    canary: async () => (await import("./commands/canary.ts")).canaryCommand,
  },
  "Serving and watching:": {
    worker: async () => (await import("./commands/worker.ts")).workerCommand,
    watcher: async () => (await import("./commands/watcher.ts")).watcherCommand,
    executor: async () => (await import("./commands/executor.ts")).executorCommand,
  },
  "Answers off chain:": {
    serve: async () => (await import("./commands/serve.ts")).serveCommand,
    ask: async () => (await import("./commands/ask.ts")).askCommand,
    pledge: async () => (await import("./commands/pledge.ts")).pledgeCommand,
    unpledge: async () => (await import("./commands/unpledge.ts")).unpledgeCommand,
    tickets: async () => (await import("./commands/tickets.ts")).ticketsCommand,
  },
  "An account:": {
    deposit: async () => (await import("./commands/deposit.ts")).depositCommand,
    identify: async () => (await import("./commands/identify.ts")).identifyCommand,
    attest: async () => (await import("./commands/attest.ts")).attestCommand,
    release: async () => (await import("./commands/release.ts")).releaseCommand,
    classes: async () => (await import("./commands/classes.ts")).classesCommand,
    exam: async () => (await import("./commands/exam.ts")).examCommand,
    tdx: async () => (await import("./commands/tdx.ts")).tdxCommand,
    stake: async () => (await import("./commands/stake.ts")).stakeCommand,
    unstake: async () => (await import("./commands/unstake.ts")).unstakeCommand,
    withdraw: async () => (await import("./commands/withdraw.ts")).withdrawCommand,
  },
  "A market:": {
    deploy: async () => (await import("./commands/deploy.ts")).deployCommand,
    "deploy-exams": async () => (await import("./commands/deployExams.ts")).deployExamsCommand,
    "deploy-tickets": async () => (await import("./commands/deployTickets.ts")).deployTicketsCommand,
    "deploy-panel": async () => (await import("./commands/deployPanel.ts")).deployPanelCommand,
    "deploy-tdx": async () => (await import("./commands/deployTdx.ts")).deployTdxCommand,
  },
  "Development networks:": {
    devnet: async () => (await import("./commands/devnet.ts")).devnetCommand,
    "stand-in-manufacturer": async () => (await import("./commands/standInManufacturer.ts")).standInManufacturerCommand,
    "stand-in-device": async () => (await import("./commands/standInDevice.ts")).standInDeviceCommand,
    dongle: async () => (await import("./commands/dongle.ts")).dongleCommand,
  },
  [ABOUT_ALL]: {
    config: async () => (await import("./commands/config.ts")).configCommand,
    completion: async () => (await import("./commands/completion.ts")).completionCommand,
  },
} satisfies Record<string, Record<string, Load>>;

/**
 * Runs the command line.
 * @returns the exit status (docs/cli.md). If it is not 0, stderr has one clear line.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const output = new Output(outputMode(args, process.env));
  try {
    const program = await commandTree(output, args[0]);
    if (output.mode.json && asksForHelp(args)) {
      output.answer(helpDocument(program), []);
      return ExitStatus.done;
    }
    await program.parseAsync([...args], { from: "user" });
    return ExitStatus.done;
  } catch (thrown) {
    // Help and version were printed.
    if (thrown instanceof CommanderError) return ExitStatus.done;
    const error = await asKnownError(thrown);
    output.error(error);
    return exitStatusOf(error);
  }
}

/** Whether the help of no command in particular is asked for. */
const asksForHelp = (args: readonly string[]): boolean =>
  args.some((arg) => arg === "--help" || arg === "-h") && args.every((arg) => arg.startsWith("-"));

/** What went wrong, as an error of Refute's wherever it is known. */
async function asKnownError(thrown: unknown): Promise<unknown> {
  if (thrown instanceof RefuteError) return thrown;
  const { translateError } = await import("../chain/translateError.ts");
  return translateError(thrown, "the command");
}

/**
 * The command line with one command, if `first` is its name, and with none for `--version`. With all of them otherwise:
 * for help, for a word that is no command, and for the commands that tell of the others.
 * @throws {CannotRunHereError} if an addon that a command needs cannot be loaded
 */
async function commandTree(output: Output, first: string | undefined): Promise<Command> {
  const program = new Command("refute").description("Refutable ML inference: serve, watch, buy").usage("COMMAND ...");
  const all = Object.entries<Record<string, Load>>(COMMANDS).flatMap(([group, commands]) =>
    Object.entries(commands).map(([name, load]) => ({ group, name, load })),
  );
  const named = all.filter(({ group, name }) => name === first && group !== ABOUT_ALL);
  const isAlone = named.length > 0 || first === "--version";
  for (const { group, load } of isAlone ? named : all) {
    const command = await load().catch((cause: unknown) => {
      throw addonFailure(cause) ?? cause;
    });
    program.addCommand(command(output).helpGroup(group));
  }
  program.helpCommand(false);
  addExamples(program, "check model.onnx", "run model.onnx --input x=x.npy --compare", "submit --help");
  const tree = [program, ...program.commands.flatMap((command) => [command, ...command.commands])];
  for (const command of tree) configure(addGlobalOptions(command), output);
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
