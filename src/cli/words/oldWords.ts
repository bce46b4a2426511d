import { FLAGS_OF_OUTPUT, HELP_FLAGS, isFlag, placeOfWord } from "./arguments.ts";
import { closest } from "./closest.ts";
import { topWord } from "./words.ts";
import { OLD_WORDS } from "./oldWordTable.ts";
import { own } from "./own.ts";

/** Replaces an old word in the arguments by new words. @param onOld Called with the old word and the new words. */
export function withNewWords(args: readonly string[], onOld: (old: string, words: string) => void): readonly string[] {
  const at = placeOfWord(args);
  const old = at < 0 ? undefined : args[at]!;
  const words = old === undefined ? undefined : own(OLD_WORDS, old);
  if (words === undefined || isNoun(args, at)) return args;
  onOld(old!, words);
  return args.toSpliced(at, 1, ...words.split(" "));
}

/**
 * Returns true if an old word stands for the noun: nothing follows, or a command of the noun follows, or a word near
 * such a command.
 */
function isNoun(args: readonly string[], at: number): boolean {
  const commands = Object.keys(topWord(args[at]!)?.commands ?? {});
  if (commands.length === 0) return false;
  const next = args.slice(at + 1).find((arg) => !FLAGS_OF_OUTPUT.includes(arg));
  return next === undefined || HELP_FLAGS.includes(next) || (!isFlag(next) && closest(next, commands).length > 0);
}
