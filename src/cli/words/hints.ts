import { programWords } from "./programWords.ts";
import { allCommands } from "./words.ts";

/** The program's name before the words of a command, or before --help. */
const COMMAND = new RegExp(
  `(?<![\\w./-])refute(?= (?:${allCommands()
    .map((words) => words.join(" "))
    .join("|")}|(?:[a-z]+ )?--help)(?![\\w-]))`,
  "g",
);

/** Writes the commands in a hint so that the reader's shell finds them. @param program As of `programWords`. */
export const pasteable = (text: string, program: string = programWords()): string =>
  program === "refute" ? text : text.replaceAll(COMMAND, program);
