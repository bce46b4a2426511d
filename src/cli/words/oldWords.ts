import { FLAGS_OF_OUTPUT, HELP_FLAGS, isFlag, placeOfWord } from "./arguments.ts";
import { closest } from "./closest.ts";
import { own, topWord } from "./words.ts";

/**
 * The words of release 0.1, and the words in their place. They work until the next release, without being shown: then
 * this file goes, with those that import it.
 */
export const OLD_WORDS: Record<string, string> = {
  train: "model train",
  audit: "model audit",
  compile: "model compile",
  calibrate: "model calibrate",
  conform: "model conform",
  quote: "job quote",
  pack: "job pack",
  dispatch: "job dispatch",
  cancel: "job cancel",
  expire: "job expire",
  reclaim: "job reclaim",
  canary: "job canary",
  panel: "panel post",
  "panel-result": "panel result",
  serve: "tickets serve",
  ask: "tickets ask",
  pledge: "tickets pledge",
  unpledge: "tickets unpledge",
  identify: "device identify",
  attest: "device attest",
  release: "device release",
  dongle: "device dongle",
  "stand-in-device": "device stand-in",
  "stand-in-manufacturer": "device stand-in-manufacturer",
  classes: "exam classes",
  exam: "exam rehearse",
  deposit: "account deposit",
  stake: "account stake",
  unstake: "account unstake",
  withdraw: "account withdraw",
  workers: "account workers",
  "deploy-exams": "deploy exams",
  "deploy-tickets": "deploy tickets",
  "deploy-panel": "deploy panel",
  "deploy-tdx": "deploy tdx",
  executor: "fleet executor",
  completion: "help completion",
};

/** Arguments with new words in the place of an old one. @param onOld Called with the old word and the new ones. */
export function withNewWords(args: readonly string[], onOld: (old: string, words: string) => void): readonly string[] {
  const at = placeOfWord(args);
  const old = at < 0 ? undefined : args[at]!;
  const words = old === undefined ? undefined : own(OLD_WORDS, old);
  if (words === undefined || isNoun(args, at)) return args;
  onOld(old!, words);
  return args.toSpliced(at, 1, ...words.split(" "));
}

/** The note about an old word. */
export const oldWordNote = (old: string, words: string): string =>
  `refute ${old} is refute ${words} now; the old word works until the next release`;

/** Whether an old word is the noun here: nothing, a command of the noun, or a word that is near a command follows. */
function isNoun(args: readonly string[], at: number): boolean {
  const commands = Object.keys(topWord(args[at]!)?.commands ?? {});
  if (commands.length === 0) return false;
  const next = args.slice(at + 1).find((arg) => !FLAGS_OF_OUTPUT.includes(arg));
  return next === undefined || HELP_FLAGS.includes(next) || (!isFlag(next) && closest(next, commands).length > 0);
}
