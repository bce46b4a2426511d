import { minSelfChallengeLoss, type Deployment } from "./model.ts";
import {
  chanceOfAllSeats,
  chanceOfOthers,
  feesUntilAllSeats,
  panelBreakEven,
  seatsOfWorkers,
  type Asking,
} from "./panels.ts";
import { markdown, number, percent, whole, type Tables } from "./tables.ts";

const SPREADS = [0, 4, 16, 64, 255];
/** Sizes for the queue table. The draws take half a second. */
const [PANELS, WORKERS, SEATS] = [400, 8, 3];
/** Ten workers without the holder of the first seat. */
const AUDITORS = 9;
const KNOWN = 20;

/** Returns each worker's share of panels with a seat. */
const shares = (asking: Pick<Asking, "spread" | "isFirstFast">): number[] =>
  seatsOfWorkers({ workers: WORKERS, seats: SEATS, ...asking }, PANELS).map((count) => count / PANELS);

/** The tables of docs/economics.md about attacks on panels. */
export function panelTables(d: Deployment): Tables {
  return {
    panelQueue: markdown(
      ["spread, blocks", "a worker has a seat in", "one that wins all races", "an added seat is honest"],
      SPREADS.map((spread) => {
        const alike = shares({ spread, isFirstFast: false });
        const [fast] = shares({ spread, isFirstFast: true });
        return [
          String(spread),
          `${percent(Math.min(...alike))} to ${percent(Math.max(...alike))}`,
          percent(fast!),
          percent(chanceOfOthers(AUDITORS, spread)),
        ];
      }),
    ),
    panelSeats: markdown(
      ["own workers of 20", "seats", "chance of all", "a builder's tries", "a poster's fees to others"],
      [6, 10, 14].flatMap((own) =>
        [1, 3, 5].map((seats) => {
          const chance = chanceOfAllSeats(KNOWN, own, seats);
          const fees = number(feesUntilAllSeats(KNOWN, own, seats));
          return [String(own), String(seats), percent(chance), whole(1 / chance), fees];
        }),
      ),
    ),
    panelSelfDealing: markdown(
      ["own seats", "locked", "lost at least", "one in ten is watched", "every other", "nine of ten"],
      [1, 3, 5, 16].map((seats) => {
        const loss = minSelfChallengeLoss(d);
        const below = (watched: number): string => number(panelBreakEven(watched, seats, loss));
        return [String(seats), number(seats * d.collateral), number(seats * loss), below(0.1), below(0.5), below(0.9)];
      }),
    ),
  };
}
