import { isFlag, placeOfWord } from "./arguments.ts";
import { unknownCommand } from "./unknownCommand.ts";
import { topWord } from "./words.ts";
import { own } from "./own.ts";

/**
 * The words of the command that arguments name: none, a word, or a noun and a word.
 * @throws UsageError if there is no such command
 */
export function findCommand(args: readonly string[]): string[] {
  const at = placeOfWord(args);
  if (at < 0) return [];
  const first = args[at]!;
  const word = topWord(first);
  if (word === undefined) throw unknownCommand([first]);
  if (word.commands === undefined) return [first];
  // A noun's flags take no values. The flags of a command with subcommands (`deploy`) may: a subcommand follows at
  // once.
  const second = args[word.load === undefined ? placeOfWord(args, at + 1) : at + 1];
  if (second === undefined || isFlag(second)) return [first];
  if (own(word.commands, second) === undefined) throw unknownCommand([first, second]);
  return [first, second];
}
