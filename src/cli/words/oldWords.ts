/**
 * The words of release 0.1, and the words in their place. They work until the next release, without being shown: then
 * this file goes, with what imports it.
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

/** The words in the place of an old one; undefined of any other text. */
export const newWordsOf = (old: string): string | undefined =>
  Object.hasOwn(OLD_WORDS, old) ? OLD_WORDS[old] : undefined;

/** The note about an old word. */
export const oldWordNote = (old: string, words: string): string =>
  `refute ${old} is refute ${words} now; the old word works until the next release`;
