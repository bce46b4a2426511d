import { setTimeout as sleep } from "node:timers/promises";
import { parseGwei, numberToHex } from "viem";
import type { NodeFaults } from "../nodes/nodeFaults.ts";
import type { Prng } from "../random/prng.ts";
import type { Story, StoryTerms } from "./story.ts";

/** Events that accompany a story's games. */
export type Scenario = {
  name: string;
  /** Changes of the story's terms. */
  terms?: Partial<StoryTerms>;
  /** The faults of the worker's and watcher's nodes from the start. */
  faults?: NodeFaults;
  happen?: (story: Story, signal: AbortSignal) => Promise<void>;
};

const HONEST = ["worker", "watcher"] as const;

/** A pause of a random length, seconds. @throws AbortError */
const pause = (prng: Prng, from: number, to: number, signal: AbortSignal): Promise<void> =>
  sleep(1_000 * from + prng.below(1_000 * (to - from)), undefined, { signal });

/** Waits for the first wrong claim. */
const firstLie = (story: Story, signal: AbortSignal): Promise<void> =>
  story.until(({ claims }) => [...claims.values()].some(({ claim }) => claim.worker === story.liar), signal);

/** A bad node's faults: 22 % of requests fail, logs are missing, heads are old. */
const BAD_NODE: NodeFaults = { errorRate: 0.22, truncatedLogRate: 0.1, staleRate: 0.05, staleBlocks: 3 };

/** A rotten node's faults: every kind of failure, lost logs, old heads, crossed answers, forgotten transactions. */
const ROTTEN_NODE: NodeFaults = {
  ...{ errorRate: 0.22, pauseSeconds: 3, hangMs: 25_000 },
  ...{ truncatedLogRate: 0.1, staleRate: 0.08, staleBlocks: 4, crossedRate: 0.02, swallowRate: 0.05 },
};

/** Both nodes give no answer for some time. */
async function blackout(story: Story, seconds: number, signal: AbortSignal): Promise<void> {
  const before = HONEST.map((name) => story.proxies[name].faults);
  for (const name of HONEST) story.proxies[name].faults = { isDown: true };
  await sleep(seconds * 1_000, undefined, { signal });
  HONEST.forEach((name, k) => (story.proxies[name].faults = before[k]!));
}

/** Kills both processes again and again, and starts them at once. */
async function killBoth(story: Story, times: number, signal: AbortSignal): Promise<void> {
  for (let k = 0; k < times; k++) {
    await pause(story.prng, 8, 16, signal);
    await Promise.all(HONEST.map((name) => story.restart(name)));
  }
}

/** Keeps the base fee at least this high for some blocks. */
async function spike({ anvil, terms }: Story, gwei: string, blocks: number, signal: AbortSignal): Promise<void> {
  for (let k = 0; k < blocks; k++) {
    await anvil.request("anvil_setNextBlockBaseFeePerGas", [numberToHex(parseGwei(gwei))]);
    await sleep(terms.blockSeconds * 1_000, undefined, { signal });
  }
}

/** The scenarios, by name. */
export const SCENARIOS: readonly Scenario[] = [
  { name: "plain" },
  {
    name: "faults",
    faults: BAD_NODE,
    happen: async (story, signal) => {
      await firstLie(story, signal);
      await pause(story.prng, 3, 20, signal);
      await blackout(story, 60, signal);
    },
  },
  {
    name: "rotten node",
    faults: ROTTEN_NODE,
    happen: async (story, signal) => {
      await firstLie(story, signal);
      await sleep(5_000, undefined, { signal });
      await blackout(story, 60, signal);
    },
  },
  {
    name: "kills",
    happen: async (story, signal) => {
      await firstLie(story, signal);
      await killBoth(story, 6, signal);
    },
  },
  {
    name: "node restart",
    happen: async (story, signal) => {
      await firstLie(story, signal);
      for (let k = 0; k < 2; k++) {
        await pause(story.prng, 1, 8, signal);
        await story.anvil.restart(5_000 + story.prng.below(10_000));
      }
    },
  },
  {
    name: "logs of 1,000 blocks",
    terms: { emptyBlocks: 5_000 },
    faults: { logSpan: { blocks: 1_000, provider: "geth" } },
  },
  {
    name: "logs of 10 blocks",
    terms: { emptyBlocks: 2_000 },
    faults: { logSpan: { blocks: 10, provider: "alchemy" } },
  },
  { name: "rate limit", faults: { callsPerSecond: 20 } },
  { name: "a node that lags", terms: { laggingNodes: [5] } },
  { name: "clocks that are off", terms: { clocksAhead: { worker: 3_600, watcher: -3_600 } } },
  {
    name: "gas price",
    happen: async (story, signal) => {
      await firstLie(story, signal);
      for (let k = 0; k < 2; k++) {
        await pause(story.prng, 1, 8, signal);
        await spike(story, "40", 10, signal);
      }
    },
  },
  {
    name: "reorganisations",
    happen: async (story, signal) => {
      await firstLie(story, signal);
      for (let k = 0; k < 5; k++) {
        await pause(story.prng, 4, 10, signal);
        await story.anvil.request("anvil_reorg", [1 + story.prng.below(4), []]);
      }
    },
  },
  {
    name: "hot spare",
    happen: async (story) => {
      for (const name of HONEST) {
        const spare = story.processOf(name);
        await spare.start();
        story.atEnd(() => spare.end());
      }
    },
  },
];

/** Sets a scenario's faults. Returns the action for the story's `play`. */
export function staged({ faults, happen }: Scenario, story: Story): Scenario["happen"] {
  if (faults !== undefined) for (const name of HONEST) story.proxies[name].faults = faults;
  return happen;
}
