import type { Execute } from "../../src/player/executeRun.ts";
import { reference } from "../players/players.ts";

/** The parties of a scenario besides the requester. */
export const PARTIES = ["worker", "watcher", "second"] as const;
export type Party = (typeof PARTIES)[number];

/**
 * One job from its post to its end, played by the real worker and real watchers. Some of them lie or stop answering.
 */
export type Scenario = {
  name: string;
  /** How the claim must end, whatever is disturbed. */
  ending: "refuted" | "finalised";
  honest: readonly Party[];
  /** Whether the output's bytes are delivered on chain. */
  delivery: boolean;
  executions: Partial<Record<Party, Execute>>;
  /** A party whose transactions of these functions are never included. */
  silent?: { party: Party; functions: readonly string[] };
};

const right = reference();
const wrong = reference({ step: 4, element: 1 });

const LIAR: Scenario = {
  name: "a liar against two watchers",
  ending: "refuted",
  honest: ["watcher", "second"],
  delivery: true,
  executions: { worker: wrong, watcher: right, second: right },
};

const SILENT_LIAR: Scenario = {
  ...LIAR,
  name: "a liar that never answers against two watchers",
  silent: { party: "worker", functions: ["reveal", "expand"] },
};

const CONFUSED: Scenario = {
  name: "an honest worker against a watcher that computes wrongly",
  ending: "finalised",
  honest: ["worker"],
  delivery: true,
  executions: { worker: right, watcher: wrong },
};

const SILENT_CHALLENGER: Scenario = {
  name: "an honest worker against a challenger that never moves again",
  ending: "finalised",
  honest: ["worker"],
  delivery: false,
  executions: { worker: right, watcher: wrong },
  silent: { party: "watcher", functions: ["pick", "prove", "concede"] },
};

export const SCENARIOS: readonly Scenario[] = [LIAR, SILENT_LIAR, CONFUSED, SILENT_CHALLENGER];
