import type { Command } from "commander";
import { HELP_WIDTH } from "./helpScreen.ts";
import { commandAt, withParts, wordsOf } from "./walk.ts";

/** One command's help, like `--help --all` prints on 80 columns. */
type CommandHelp = { command: string; group: string; help: string };

/**
 * Returns the help of a command and of all below it, with all flags, in the order of `refute --help`: the output of
 * `refute COMMAND --help --json`.
 * @param words The command; without words, all commands.
 */
export function helpDocument(program: Command, words: readonly string[] = []): { commands: CommandHelp[] } {
  const asked = words.length === 0 ? program.commands : [commandAt(program, words)!];
  const commands = asked.flatMap((one) =>
    withParts(one).map((command) => ({
      command: wordsOf(command).join(" "),
      group: topOf(command).helpGroup(),
      help: helpOf(command),
    })),
  );
  return { commands };
}

const topOf = (command: Command): Command => (command.parent?.parent == null ? command : topOf(command.parent));

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => HELP_WIDTH });
  command.outputHelp();
  return text.trimEnd();
}
