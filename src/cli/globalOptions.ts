import { Option, type Command } from "commander";
import { programWords } from "./words/programWords.ts";
import { version } from "./version.ts";

const GROUP = "Options of every command:";

/** Adds the options that every command has. Their values are read before commands are (`outputMode`). */
export function addGlobalOptions(command: Command): Command {
  const option = (flags: string, text: string) => command.addOption(new Option(flags, text).helpGroup(GROUP));
  option("--json", "print JSON: one document on stdout, one object a line on stderr");
  option("--quiet", "print nothing on stderr but errors");
  option("--no-color", "print without colours (or NO_COLOR); they are for terminals only");
  command.version(version(), "--version", "print the version");
  command.helpOption("-h, --help", "print this help");
  return command;
}

/** Adds examples to a command's help. @param lines Commands, without `refute`. */
export const addExamples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${programWords()} ${line}`).join("\n")}`);
