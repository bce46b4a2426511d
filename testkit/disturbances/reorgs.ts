import type { Included } from "./forkingChain.ts";
import type { Stage } from "./stage.ts";
import { STORIES, type Story } from "./stories.ts";
import { Telling } from "./playthrough.ts";

/** The deepest reorganisation that is tried. */
export const DEEPEST = 20;

/** What becomes of the transactions of blocks that are taken back. */
export const KEPT = {
  none: () => [],
  all: (removed) => removed,
  /** Only what the sender of the latest one did not send. */
  others: (removed) => removed.filter(({ from }) => from !== removed.at(-1)?.from),
  /** Each sender's together, the last one's first: a nonce order is kept, no other. */
  bySender: (removed) => {
    const senders = [...new Set(removed.map(({ from }) => from))].reverse();
    return senders.flatMap((sender) => removed.filter(({ from }) => from === sender));
  },
} satisfies Record<string, (removed: Included[]) => Included[]>;
export type Kept = keyof typeof KEPT;
export const KEPT_NAMES = Object.keys(KEPT) as Kept[];

/** A reorganisation after transaction number `point` of a story. */
export type Reorg = { story: Story; point: number; depth: number; kept: Kept };

/** Tells a story with a reorganisation in it. @throws Error if it does not end as without one. */
const tellWithReorg = (stage: Stage, { story, point, depth, kept }: Reorg) =>
  Telling.of(stage, story, point, ({ fork }) => fork.reorganise(depth, KEPT[kept]));

/** The calls of each story when nothing disturbs it: its points. */
export async function pointsOf(stage: Stage): Promise<{ story: Story; calls: string[] }[]> {
  const points: { story: Story; calls: string[] }[] = [];
  for (const story of STORIES)
    points.push({ story, calls: (await Telling.of(stage, story, -1, () => undefined)).calls });
  return points;
}

/** What a number of reorganisations came to. */
export class ReorgTotals {
  tellings = 0;
  /** Transactions of honest parties that reverted, by what was called and why: lost races, each the price of a move. */
  readonly refused = new Map<string, number>();
  deepest = 0;
  readonly points = new Map<string, number>();
  readonly wrong: string[] = [];

  /** Tells one, and notes what came of it. @param call What was called at the point. */
  async tell(stage: Stage, reorg: Reorg, call: string): Promise<void> {
    const { story, point, depth, kept } = reorg;
    this.tellings++;
    this.deepest = Math.max(this.deepest, depth);
    this.points.set(call, (this.points.get(call) ?? 0) + 1);
    try {
      const { refused, repeated } = await tellWithReorg(stage, reorg);
      for (const race of refused) this.refused.set(race, (this.refused.get(race) ?? 0) + 1);
      if (repeated > 0) throw new Error(`${repeated} moves were made twice`);
    } catch (error) {
      const { message } = error as Error;
      this.wrong.push(`${story.name}, ${depth} blocks after transaction ${point} (${call}), kept ${kept}: ${message}`);
    }
  }

  report(): string {
    const races = [...this.refused].sort(([, a], [, b]) => b - a);
    const points = [...this.points].map(([call, count]) => `${call} ${count}`).join(", ");
    return [
      `reorganisations     ${this.tellings}, up to ${this.deepest} blocks`,
      `after               ${points}`,
      `wrong endings       ${this.wrong.length}`,
      `lost races          ${races.reduce((sum, [, count]) => sum + count, 0)} transactions of honest parties reverted`,
      ...races.map(([race, count]) => `  ${count} ${race}`),
      ...this.wrong.map((text) => `  ${text}`),
    ].join("\n");
  }
}
