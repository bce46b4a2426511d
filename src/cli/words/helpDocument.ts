import type { Command } from "commander";
import { HELP_WIDTH } from "./helpScreen.ts";
import { withParts, wordsOf } from "./walk.ts";

/** The help of one command, as `--help` prints it on 80 columns. */
type CommandHelp = { command: string; group: string; help: string };

/** The help of all commands, in the order of `refute --help`: what `refute --help --json` prints. */
export function helpDocument(program: Command): { commands: CommandHelp[] } {
  const commands = program.commands.flatMap((top) =>
    withParts(top).map((command) => ({
      command: wordsOf(command).join(" "),
      group: top.helpGroup(),
      help: helpOf(command),
    })),
  );
  return { commands };
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => HELP_WIDTH });
  command.outputHelp();
  return text.trimEnd();
}
