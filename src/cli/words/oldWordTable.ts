/**
 * The words of release 0.1, with their new words. The old words work until the next release, without being shown; then
 * delete this file and all imports.
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

/** The note about an old word. */
export const oldWordNote = (old: string, words: string): string =>
  `refute ${old} is refute ${words} now; the old word works until the next release`;
