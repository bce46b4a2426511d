import { AT_LENGTH } from "../atLength.ts";
import type { Included } from "./forkingChain.ts";
import type { Setup } from "./setup.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import { Playthrough } from "./playthrough.ts";

/** The deepest reorganisation that is tried. */
export const DEEPEST = 20;

/** The treatment of transactions in blocks taken back by a reorganisation. */
const KEPT = {
  none: () => [],
  all: (removed) => removed,
  /** Keeps only the transactions whose sender differs from the latest transaction's sender. */
  others: (removed) => removed.filter(({ from }) => from !== removed.at(-1)?.from),
  /** Grouped by sender, the last sender first: only the order of nonces is kept. */
  bySender: (removed) => {
    const senders = [...new Set(removed.map(({ from }) => from))].reverse();
    return senders.flatMap((sender) => removed.filter(({ from }) => from === sender));
  },
} satisfies Record<string, (removed: Included[]) => Included[]>;
type Kept = keyof typeof KEPT;
export const KEPT_NAMES = Object.keys(KEPT) as Kept[];

/** A reorganisation after transaction number `point` of a scenario. */
type Reorg = { scenario: Scenario; point: number; depth: number; kept: Kept };

/** Plays a scenario with a single reorganisation. @throws Error if the scenario does not end correctly. */
const playWithReorg = (setup: Setup, { scenario, point, depth, kept }: Reorg) =>
  Playthrough.play(setup, scenario, point, ({ fork }) => fork.reorganise(depth, KEPT[kept]));

/**
 * Returns each scenario's calls when nothing disturbs the scenario. Each call marks a possible point of disturbance.
 */
export async function pointsOf(setup: Setup): Promise<{ scenario: Scenario; calls: string[] }[]> {
  const points: { scenario: Scenario; calls: string[] }[] = [];
  for (const scenario of SCENARIOS)
    points.push({ scenario, calls: (await Playthrough.play(setup, scenario, -1, () => undefined)).calls });
  return points;
}

/** The points of a scenario that are disturbed: each, or the last of each function. */
export const disturbedPoints = (calls: readonly string[]): number[] =>
  AT_LENGTH ? [...calls.keys()] : [...new Map(calls.map((call, point) => [call, point])).values()];

/** The results of a number of reorganisations. */
export class ReorgTotals {
  playthroughs = 0;
  /**
   * Reverted transactions of honest parties, counted by called function and revert reason. Each revert means a lost
   * race and costs gas.
   */
  readonly refused = new Map<string, number>();
  deepest = 0;
  readonly points = new Map<string, number>();
  readonly wrong: string[] = [];

  /** Plays one, and adds its result. @param call What was called at the point. */
  async play(setup: Setup, reorg: Reorg, call: string): Promise<void> {
    const { scenario, point, depth, kept } = reorg;
    this.playthroughs++;
    this.deepest = Math.max(this.deepest, depth);
    this.points.set(call, (this.points.get(call) ?? 0) + 1);
    try {
      const { refused, repeated } = await playWithReorg(setup, reorg);
      for (const race of refused) this.refused.set(race, (this.refused.get(race) ?? 0) + 1);
      if (repeated > 0) throw new Error(`${repeated} moves were made twice`);
    } catch (error) {
      const { message } = error as Error;
      this.wrong.push(
        `${scenario.name}, ${depth} blocks after transaction ${point} (${call}), kept ${kept}: ${message}`,
      );
    }
  }

  report(): string {
    const races = [...this.refused].sort(([, a], [, b]) => b - a);
    const points = [...this.points].map(([call, count]) => `${call} ${count}`).join(", ");
    return [
      `reorganisations     ${this.playthroughs}, up to ${this.deepest} blocks`,
      `after               ${points}`,
      `wrong endings       ${this.wrong.length}`,
      `lost races          ${races.reduce((sum, [, count]) => sum + count, 0)} transactions of honest parties reverted`,
      ...races.map(([race, count]) => `  ${count} ${race}`),
      ...this.wrong.map((text) => `  ${text}`),
    ].join("\n");
  }
}
