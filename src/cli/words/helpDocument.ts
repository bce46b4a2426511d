import type { Command } from "commander";
import { HELP_WIDTH } from "./helpScreen.ts";
import { withParts, wordsOf } from "./walk.ts";

/** One command's help, like `--help` prints on 80 columns. */
type CommandHelp = { command: string; group: string; help: string };

/** Returns all commands' help, in the order of `refute --help`: the output of `refute --help --json`. */
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
