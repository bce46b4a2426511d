import { FLAGS_OF_OUTPUT, HELP_FLAGS, isFlag, placeOfWord } from "./arguments.ts";
import { closest } from "./closest.ts";
import { newWordsOf } from "./oldWords.ts";
import { topWord } from "./words.ts";

/** Arguments with new words in the place of an old one. @param onOld Called with the old word and the new ones. */
export function withNewWords(args: readonly string[], onOld: (old: string, words: string) => void): readonly string[] {
  const at = placeOfWord(args);
  const old = at < 0 ? undefined : args[at]!;
  const words = old === undefined ? undefined : newWordsOf(old);
  if (words === undefined || isNoun(args, at)) return args;
  onOld(old!, words);
  return args.toSpliced(at, 1, ...words.split(" "));
}

/** Whether an old word is the noun here: nothing, a command of the noun, or a word that is near a command follows. */
function isNoun(args: readonly string[], at: number): boolean {
  const commands = Object.keys(topWord(args[at]!)?.commands ?? {});
  if (commands.length === 0) return false;
  const next = args.slice(at + 1).find((arg) => !FLAGS_OF_OUTPUT.includes(arg));
  return next === undefined || HELP_FLAGS.includes(next) || (!isFlag(next) && closest(next, commands).length > 0);
}
