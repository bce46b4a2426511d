import type { Command } from "commander";

/** The words of a command, without `refute`. */
export const wordsOf = (command: Command): string[] =>
  command.parent === null ? [] : [...wordsOf(command.parent), command.name()];

/** A command by its words. */
export const commandAt = (program: Command, words: readonly string[]): Command | undefined =>
  words.reduce((command: Command | undefined, word) => command?.commands.find((part) => part.name() === word), program);

/** Returns a command and all commands below it. */
export const withParts = (command: Command): Command[] => [command, ...command.commands.flatMap(withParts)];

/** The command at the top of a tree. */
export const programOf = (command: Command): Command => (command.parent === null ? command : programOf(command.parent));
