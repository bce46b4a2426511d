import { reference } from "../players/players.ts";
import { RUN_STEPS } from "../programs/runProgram.ts";
import { executionOf } from "../programs/runsOf.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** The parties of a scenario besides the requester. */
export const PARTIES = ["worker", "watcher", "second"] as const;
export type Party = (typeof PARTIES)[number];

/**
 * A scenario's job. A one-item job delivers the output on chain, keeps the output off chain, or accepts claims without
 * traces. A run's items carry state; the run delivers the last outputs, and accepts claims with traces or without.
 */
export type ScenarioJob = "delivered" | "kept" | "answer" | "run" | "runAnswer";

/** The number of items in the runs. The first run has few items; the second run's list needs several reveals. */
export const RUN_ITEMS = { run: 6, runAnswer: 20 } as const;

/** A job from post to end, played by the real worker and real watchers. Some parties lie or stop answering. */
export type Scenario = {
  name: string;
  /** How the claim must end, whatever is disturbed. */
  ending: "refuted" | "finalised";
  honest: readonly Party[];
  /** Which job is played. */
  job: ScenarioJob;
  executions: Partial<Record<Party, Execute>>;
  /** A silent party, and the functions whose transactions from the party never enter a block. */
  silent?: { party: Party; functions: readonly string[] };
};

const right = reference();
const wrong = reference({ step: 4, element: 1 });

const LIAR: Scenario = {
  name: "a liar against two watchers",
  ending: "refuted",
  honest: ["watcher", "second"],
  job: "delivered",
  executions: { worker: wrong, watcher: right, second: right },
};

const LIAR_IN_A_RUN: Scenario = {
  ...LIAR,
  name: "a liar in one item of a run against two watchers, about an answer",
  job: "runAnswer",
  executions: {
    worker: executionOf({ item: 11, step: RUN_STEPS.carriedAndEach, element: 200 }),
    watcher: executionOf(),
    second: executionOf(),
  },
};

const SILENT_LIAR: Scenario = {
  ...LIAR,
  name: "a liar that never answers against two watchers, about an answer",
  job: "answer",
  silent: { party: "worker", functions: ["reveal", "expand"] },
};

const CONFUSED: Scenario = {
  name: "an honest worker of a run against a watcher that computes wrongly",
  ending: "finalised",
  honest: ["worker"],
  job: "run",
  executions: {
    worker: executionOf(),
    watcher: executionOf({ item: 3, step: RUN_STEPS.last, element: 140 }),
  },
};

const SILENT_CHALLENGER: Scenario = {
  name: "an honest worker against a challenger that never moves again",
  ending: "finalised",
  honest: ["worker"],
  job: "kept",
  executions: { worker: right, watcher: wrong },
  silent: { party: "watcher", functions: ["pick", "prove", "concede"] },
};

/** Those in which the opponent answers: the longest games of each side. */
export const ANSWERED: readonly Scenario[] = [LIAR, CONFUSED];

export const SCENARIOS: readonly Scenario[] = [LIAR, LIAR_IN_A_RUN, SILENT_LIAR, CONFUSED, SILENT_CHALLENGER];
