import type { Execute } from "../../src/player/executions.ts";
import { reference } from "../players/players.ts";

/** Who acts in a story beside the requester. */
export const PARTIES = ["worker", "watcher", "second"] as const;
export type Party = (typeof PARTIES)[number];

/** One job from its post to its end, played by the real worker and real watchers, some of which lie or fall silent. */
export type Story = {
  name: string;
  /** How the claim must end, whatever happens on the way. */
  ending: "refuted" | "finalised";
  honest: readonly Party[];
  /** Whether the output's bytes come on chain. */
  delivery: boolean;
  executions: Partial<Record<Party, Execute>>;
  /** Who sends no such transactions. */
  silent?: { party: Party; functions: readonly string[] };
};

const right = reference();
const wrong = reference({ step: 4, element: 1 });

const LIAR: Story = {
  name: "a liar against two watchers",
  ending: "refuted",
  honest: ["watcher", "second"],
  delivery: true,
  executions: { worker: wrong, watcher: right, second: right },
};

const SILENT_LIAR: Story = {
  ...LIAR,
  name: "a liar that never answers against two watchers",
  silent: { party: "worker", functions: ["reveal", "expand"] },
};

const CONFUSED: Story = {
  name: "an honest worker against a watcher that computes wrongly",
  ending: "finalised",
  honest: ["worker"],
  delivery: true,
  executions: { worker: right, watcher: wrong },
};

const SILENT_CHALLENGER: Story = {
  name: "an honest worker against a challenger that never moves again",
  ending: "finalised",
  honest: ["worker"],
  delivery: false,
  executions: { worker: right, watcher: wrong },
  silent: { party: "watcher", functions: ["pick", "prove", "concede"] },
};

export const STORIES: readonly Story[] = [LIAR, SILENT_LIAR, CONFUSED, SILENT_CHALLENGER];
