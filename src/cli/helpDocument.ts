import type { Command } from "commander";

/** The help of one command, as `--help` prints it on 80 columns. */
type CommandHelp = { command: string; group: string; help: string };

const WIDTH = 80;

/** The help of all commands, in the order of `refute --help`: what `refute --help --json` prints. */
export function helpDocument(program: Command): { commands: CommandHelp[] } {
  const commands = program.commands.flatMap((command) => {
    const group = command.helpGroup().replace(/:$/, "");
    const parts = command.commands.map((part) => ({ name: `${command.name()} ${part.name()}`, command: part }));
    return [{ name: command.name(), command }, ...parts].map(({ name, command: each }) => ({
      command: name,
      group,
      help: helpOf(each),
    }));
  });
  return { commands };
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => WIDTH });
  command.outputHelp();
  return text.trimEnd();
}
